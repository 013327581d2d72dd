"""The systems that are tried on shots, by name: settings of one agent, and what it is compared with.

`queries@MxN`, `urls@MxN` and `frames@N` are the points of figure 4; others may be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rag.agents.shotfinder.settings import (
    MAIN,
    SWEEPS,
    ShotSettings,
    sweep,
)
from rag.errors import UsageError

OURS = "shotfinder"
ASKED = "shotfinder-asked"
OFF = "shotfinder-off"
METADATA = "metadata-only"


@dataclass(frozen=True, slots=True)
class _Named:
    about: str
    settings: ShotSettings


_NAMED: Mapping[str, _Named] = {
    OURS: _Named("2 searches, 2 videos of each; constraints held against what was measured", MAIN),
    ASKED: _Named(
        "the same as the paper: a constraint is words for the mind", replace(MAIN, constraint_mode="asked")
    ),
    OFF: _Named("control: the description alone, no constraint", replace(MAIN, constraint_mode="off")),
    "wo-imagination": _Named(
        "the description itself as the one search, 4 videos of it", replace(MAIN, imagine=False, urls=4)
    ),
    METADATA: _Named("control: the likeliest result by its metadata, its middle; no video is opened", MAIN),
}

SYSTEMS: Mapping[str, str] = {
    **{name: named.about for name, named in _NAMED.items()},
    **{f"{axis}@{value}": f"figure 4: {axis} {value}" for axis, values in SWEEPS.items() for value in values},
}


def settings_of(name: str) -> ShotSettings:
    """Raises `UsageError` for a name that is not here."""
    if name in _NAMED:
        return _NAMED[name].settings
    axis, at, value = name.partition("@")
    if at and axis in SWEEPS:
        return sweep(axis, value)
    raise UsageError(f"no system {name!r}; there are {', '.join(SYSTEMS)}")
