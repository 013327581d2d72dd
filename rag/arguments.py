"""Checks of what callers of `Library` give: each value that no search has is a `UsageError` of one line."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, get_args

from corpora.records import AudioClass, EvidenceKind, Style, Tone
from rag.errors import UsageError
from rag.records import SearchFilter, ShotFilter


def checked_filter(where: SearchFilter | ShotFilter | None) -> SearchFilter:
    """The filter. Raises `UsageError` for a value that none has, which would filter all or nothing."""
    if where is not None and not isinstance(where, SearchFilter | ShotFilter):
        raise UsageError(f"where is of type {type(where).__name__}; give a SearchFilter or a ShotFilter")
    chosen = SearchFilter(shots=where) if isinstance(where, ShotFilter) else where or SearchFilter()
    shots = chosen.shots or ShotFilter()
    if not isinstance(shots, ShotFilter):
        raise UsageError(f"shots is of type {type(shots).__name__}; give a ShotFilter")
    require_number("min_height", shots.min_height)
    for name in ("after", "before"):
        require_text(name, getattr(shots, name) or "")
    for name in ("videos", "paths", "kinds"):
        if isinstance(getattr(chosen, name), str):
            raise UsageError(f"{name}: give several in a tuple, or one as in ({getattr(chosen, name)!r},)")
    for path in chosen.paths:
        require_text("a glob of paths", path)
        if not path:
            raise UsageError("paths: one is empty, and would choose all files")
    for kind in chosen.kinds or ():
        require_one_of("kinds", kind, EvidenceKind)
    for name, allowed in (("tone", Tone), ("style", Style), ("audio", AudioClass)):
        require_one_of(name, getattr(shots, name), allowed)
    for name in ("start", "end"):
        require_number(name, getattr(chosen, name))
        if not math.isfinite(getattr(chosen, name) or 0):
            raise UsageError(f"{name}: {getattr(chosen, name)} is no time in seconds")
    if chosen.end is not None and not chosen.end > (chosen.start or 0):
        raise UsageError("end is not after start")
    return chosen


def require_one_of(name: str, value: object, allowed: Any) -> None:
    """`allowed`: a `Literal` type; None is taken too. Raises `UsageError`."""
    if value is not None and value not in get_args(allowed):
        raise UsageError(f"{name}: {value!r} is none of {', '.join(get_args(allowed))}")


def require_text(named: str, value: object) -> None:
    """Raises `UsageError` for what is no text."""
    if not isinstance(value, str):
        raise UsageError(f"{named} is of type {type(value).__name__}; give a text")


def require_image(value: object) -> None:
    """Raises `UsageError` for what is not uint8 (height, width, 3)."""
    shape: tuple[int, ...] = getattr(value, "shape", ())
    dtype = getattr(value, "dtype", type(value).__name__)
    if len(shape) != 3 or shape[2] != 3 or not all(shape) or dtype != "uint8":
        raise UsageError(f"the image is of type {dtype}, shape {shape}; give uint8 (height, width, 3)")


def require_positive(**given: float | None) -> None:
    """Numbers above 0, whole ones but for seconds; None is the default of each. Raises `UsageError`."""
    for name, value in given.items():
        require_number(name, value, whole=not name.endswith("_seconds"))
        if value is not None and not value > 0:
            raise UsageError(f"{name}: {value} is not above 0")


def require_number(name: str, value: object, *, whole: bool = False) -> None:
    """Raise `UsageError` for what is no number, or no `whole` one; None is allowed."""
    if value is None or isinstance(value, Integral if whole else Real):
        return
    raise UsageError(f"{name}: {value!r} is no {'whole number' if whole else 'number'}")
