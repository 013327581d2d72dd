"""Extensions by Python entry points: decoders, document readers, image encoders and what else is named so.

A package adds one by a line of its own metadata, as `[project.entry-points."rag.decoders"]` with
`NAME = "MODULE:OBJECT"`; ours are registered in the same way. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DISTRIBUTION = "offline-video-rag"
_CHECKOUT = Path(__file__).resolve().parents[1] / "pyproject.toml"


@cache
def own_entry_points(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of this package by name; cheap, for no other package's metadata is read.

    In a source checkout `pyproject.toml` decides, because the metadata of an editable install is as old
    as the install.
    """
    from importlib.metadata import EntryPoint, PackageNotFoundError, distribution

    if _CHECKOUT.is_file():
        import tomllib

        project = tomllib.loads(_CHECKOUT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == DISTRIBUTION:
            rows = project.get("entry-points", {}).get(group, {})
            return {name: EntryPoint(name, value, group) for name, value in rows.items()}
    try:
        found = distribution(DISTRIBUTION).entry_points.select(group=group)
    except PackageNotFoundError:
        return {}
    return {point.name: point for point in found}


@cache
def all_entry_points(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of every installed package by name, sorted; of two with one name, ours, else the
    first by value."""
    from importlib.metadata import entry_points

    # Names that an older editable install registered may point at modules that are gone.
    foreign = [each for each in entry_points(group=group) if not each.dist or each.dist.name != DISTRIBUTION]
    others = sorted(foreign, key=lambda point: point.value, reverse=True)
    found = {**{point.name: point for point in others}, **own_entry_points(group)}
    return dict(sorted(found.items()))


def find_entry_point(group: str, name: str) -> EntryPoint | None:
    """The entry point of that name, or None; other packages are read only where it is none of ours."""
    return own_entry_points(group).get(name) or all_entry_points(group).get(name)


def load_entry_point(group: str, name: str, kind: str) -> Any:
    """Import the object of that name. `kind` is its name in messages, as in `decoder`.

    Raises `UsageError` for an unknown name, `SettingsError` where the object cannot be imported.
    """
    point = find_entry_point(group, name)
    if point is None:
        raise UsageError(f"no {kind} {name!r}; installed are: {', '.join(all_entry_points(group))}")
    try:
        return point.load()
    except Exception as error:  # whatever an extension raises while it loads
        if name in own_entry_points(group) and not isinstance(error, ImportError):
            raise
        raise SettingsError(f"{kind} {name!r} cannot be loaded from {point.value}: {error}") from error
