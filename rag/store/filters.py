"""What a `SearchFilter` lets through, as masks over rows or as SQL; file names like a given one."""

from __future__ import annotations

import difflib
import fnmatch
import os
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.escaping import visible
from corpora.globs import composed
from rag.records import SearchFilter
from rag.store.schema import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

RowSpans = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""Start and end of each of n rows, float64 (n,) seconds each."""

LEAST_SHARED = 1.0
"""Seconds that a row must share with one of the spans of a `SearchFilter`, where both are that long."""
MAX_SUGGESTIONS = 3
MIN_SIMILARITY = 0.6
"""The ratio from which difflib calls a match close, in [0, 1]."""


def shares_enough(start: float, end: float, spans: tuple[tuple[float, float], ...]) -> bool:
    """Whether [start, end) shares enough with one of `spans`; a moment must be inside."""
    return any(
        min(end, until) - max(start, since) >= min(LEAST_SHARED, end - start, until - since) - 1e-9
        for since, until in spans
    )


def path_matches(paths: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    """Whether one of `paths` fits, or is below, one of `globs`; a relative one may begin at any folder.

    All are compared in NFC.
    """
    paths = tuple(map(composed, paths))
    for glob in map(composed, globs):
        whole = glob.rstrip("/")
        forms = [whole] if whole.startswith("/") else [whole, f"*/{whole.removeprefix('./')}"]
        for path in paths:
            if path == glob or path.startswith(f"{whole}/"):
                return True
            if any(fnmatch.fnmatchcase(path, f) or fnmatch.fnmatchcase(path, f"{f}/*") for f in forms):
                return True
    return False


def at_or_below(known: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """The paths of `known` that are one of `wanted` or below it; all are compared in NFC.

    One of `wanted` that no path is at or below is taken as it is shown, with escapes (`visible`).
    """
    known, wanted = list(known), list(wanted)
    going = _at_or_below(known, wanted, composed)
    escaped = [path for path in wanted if "\\" in path and not _at_or_below(going, [path], composed)]
    if not escaped:
        return going
    also = {*going, *_at_or_below(known, escaped, lambda path: composed(visible(path)))}
    return [path for path in known if path in also]


def _at_or_below(known: Iterable[str], wanted: Iterable[str], form: Callable[[str], str]) -> list[str]:
    whole = frozenset(map(form, wanted))
    prefixes = tuple(os.path.join(path, "") for path in whole)
    return [path for path in known if form(path) in whole or form(path).startswith(prefixes)]


class Codes:
    """A column of strings with few different values, as numbers."""

    def __init__(self, column: Any) -> None:
        encoded = column.combine_chunks().dictionary_encode()
        self.names: list[str] = encoded.dictionary.to_pylist()
        self.codes: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)

    def among(self, wanted: Collection[str]) -> NDArray[np.bool_]:
        """bool (n,): whether each row's value is in `wanted`."""
        chosen = np.fromiter(map(wanted.__contains__, self.names), np.bool_, len(self.names))
        return chosen[self.codes] if len(chosen) else np.zeros(len(self.codes), np.bool_)

    def rows_of(self, name: str) -> NDArray[np.int64]:
        """Positions of the rows with that value, int64 (m,), ascending; none for one that no row has."""
        code = self._code_of.get(name)
        if code is None:
            return np.empty(0, np.int64)
        first, last = self._bounds[code], self._bounds[code + 1]
        return np.arange(first, last) if self._order is None else self._order[first:last]

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """int64 (names + 1,): where the rows of each code begin in the order of codes."""
        # Of another type, the codes would be converted, all of them.
        each = np.arange(len(self.names) + 1, dtype=self.codes.dtype)
        return np.searchsorted(self.codes, each, sorter=self._order)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        """Positions in the order of codes; None where the rows are in it, as those written video by video."""
        return None if (self.codes[:-1] <= self.codes[1:]).all() else np.argsort(self.codes, kind="stable")


def is_timed(where: SearchFilter) -> bool:
    """Whether a filter asks for times."""
    return (where.start, where.end, where.spans) != (None, None, None)


def within(where: SearchFilter, owners: Codes, spans: RowSpans) -> NDArray[np.bool_]:
    """bool (n,): the rows of some owners whose half-open spans share a moment with [start, end) of a filter,
    and enough with its `spans`."""
    keep = np.ones(len(owners.codes), np.bool_)
    if where.end is not None:
        keep &= spans[0] < where.end
    if where.start is not None:
        keep &= spans[1] > where.start
    if where.spans is not None:
        keep &= owners.among(where.spans)
        for row in keep.nonzero()[0].tolist():
            own = where.spans[owners.names[int(owners.codes[row])]]
            keep[row] = shares_enough(float(spans[0][row]), float(spans[1][row]), own)
    return keep


def owner_sql(column: str, present: Collection[str], wanted: Collection[str]) -> list[str]:
    """SQL conditions for the rows of `wanted` owners among those `present`, as short as they can be."""
    kept = set(present) & set(wanted)
    hidden = set(present) - kept
    if not hidden:
        return []
    if len(hidden) <= len(kept):
        return [f"{column} NOT IN {quoted(sorted(hidden))}"]
    return [f"{column} IN {quoted(sorted(kept))}"] if kept else ["false"]


def kinds_sql(where: SearchFilter) -> list[str]:
    """The SQL condition for kinds of evidence."""
    if where.kinds is None:
        return []
    return [f"kind IN {quoted(sorted(where.kinds))}"] if where.kinds else ["false"]


def nearest_names(name: str, paths: Iterable[str]) -> list[str]:
    """Up to 3 of `paths` with a file name like that of `name`, most alike first.

    Names are compared without their endings, and capitals are all one. Each is given by its file name,
    or whole where several files have that name.
    """
    by_name: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        by_name.setdefault(os.path.basename(path), []).append(path)
    by_stem: dict[str, list[str]] = {}
    for held in by_name:
        by_stem.setdefault(_stem(held), []).append(held)
    close = difflib.get_close_matches(_stem(name), list(by_stem), n=MAX_SUGGESTIONS, cutoff=MIN_SIMILARITY)
    found = [held for stem in close for held in by_stem[stem]]
    names = [one for held in found for one in ([held] if len(by_name[held]) == 1 else by_name[held])]
    return names[:MAX_SUGGESTIONS]


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(composed(path).rstrip("/")))[0].casefold()
