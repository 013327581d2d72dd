"""The systems that are tried on queries by memory: RACLO, what is taken away of it, and controls.

`search@QxU` and `frames@N` are the points of figure 4; any numbers may be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rag.agents.raclo.settings import (
    PAPER,
    SWEEPS,
    RacloSettings,
    sweep,
)
from rag.agents.runtime.frame_budget import fixed_budget
from rag.errors import UsageError

Way = Literal["agent", "contents", "metadata", "oracle", "chance"]
"""The agent; the agent over a search of what a library holds of the videos; search results alone; the right
video given; the right video and a moment by chance."""
BASELINE = "wo-abduction"
"""What the others are compared with."""


@dataclass(frozen=True, slots=True)
class _Named:
    about: str
    settings: RacloSettings
    way: Way = "agent"


_NAMED: Mapping[str, _Named] = {
    "raclo": _Named("2 searches x 2 videos, 64 frames to verify, 32 to 192 to localize", PAPER),
    "raclo-64": _Named(
        "open-source setting: 64 frames of every video", replace(PAPER, budget=fixed_budget(64))
    ),
    "raclo-stored": _Named("ours: every stored frame vector to localize", replace(PAPER, frames="stored")),
    "raclo-contents": _Named(
        "ours: videos are searched by what the library holds of them as well; every stored frame vector",
        replace(PAPER, frames="stored"),
        "contents",
    ),
    "wo-abduction": _Named("the cues as they were told are searched for", replace(PAPER, abduction=False)),
    "wo-verification": _Named("the first candidate is the answer", replace(PAPER, verify=False)),
    "wo-consensus": _Named("the first judge alone decides", replace(PAPER, consensus=False)),
    "wo-context": _Named("localized by the key moment alone", replace(PAPER, context=False)),
    "wo-sound": _Named("nothing that is said or heard is used", replace(PAPER, sound=False)),
    "metadata-only": _Named(
        "control: no video is opened; the likeliest result, and its middle", PAPER, "metadata"
    ),
    "oracle-video": _Named("control: the right video is given", PAPER, "oracle"),
    "oracle-stored": _Named(
        "control: the right video is given, every stored frame vector",
        replace(PAPER, frames="stored"),
        "oracle",
    ),
    "chance-moment": _Named("control: the right video is given, a moment by chance", PAPER, "chance"),
}

SYSTEMS: Mapping[str, str] = {
    **{name: one.about for name, one in _NAMED.items()},
    **{f"{axis}@{value}": f"figure 4: {axis} {value}" for axis, values in SWEEPS.items() for value in values},
}


def named(name: str) -> tuple[RacloSettings, Way]:
    """Raises `UsageError` for a name that is not here."""
    if name in _NAMED:
        return _NAMED[name].settings, _NAMED[name].way
    axis, at, value = name.partition("@")
    if at and axis in SWEEPS:
        return sweep(axis, value), "agent"
    raise UsageError(f"no system {name!r}; there are {', '.join(SYSTEMS)}")
