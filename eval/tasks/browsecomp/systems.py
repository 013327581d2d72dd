"""The systems that are tried on a web of videos, by name: settings of one agent (appendix B.1).

`videos@N`, `loops@N` and `frames@N` are the points of figure 3; any N may be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rag.agents.video_browser.settings import (
    ABLATION,
    EFFICIENCY,
    MAIN,
    SCALING,
    BrowserSettings,
    scaling,
)
from rag.errors import UsageError

BASELINE = "direct"
"""What the others are compared with."""
CONTROLS = ("tool-free", "text-search")


@dataclass(frozen=True, slots=True)
class _Named:
    about: str
    settings: BrowserSettings


_NAMED: Mapping[str, _Named] = {
    "video-browser": _Named("table 1: T = 5, K = 3, 16 sparse frames, windows at 1 fps", MAIN),
    "video-browser-stored": _Named(
        "the same, with stored frame vectors in the sparse stage", replace(MAIN, sparse="stored")
    ),
    "pyramidal": _Named("table 2: T = 1, K = 3, 16 sparse frames, windows at 1 fps", EFFICIENCY),
    "pyramidal-stored": _Named(
        "the same, with stored frame vectors in the sparse stage", replace(EFFICIENCY, sparse="stored")
    ),
    "direct": _Named(
        "table 2: direct visual inference, T = 1, the first 3 results, 128 frames of each",
        replace(EFFICIENCY, paradigm="direct"),
    ),
    "direct-selected": _Named(
        "ours: direct visual inference of the 3 videos that stage 1 would choose",
        replace(EFFICIENCY, localize=False, zoom_rate=1000.0),
    ),
    "summarization": _Named(
        "table 2: the same videos and frames as direct, each put into words first",
        replace(EFFICIENCY, paradigm="summarization"),
    ),
    "text-search": _Named(
        "pages of text and the metadata of results, no video", replace(EFFICIENCY, paradigm="text-search")
    ),
    "tool-free": _Named("the question alone", replace(EFFICIENCY, paradigm="tool-free")),
    "full": _Named("table 3: T = 1, K = 2", ABLATION),
    "wo-stage1": _Named("table 3: the first results unfiltered", replace(ABLATION, select=False)),
    "wo-stage2": _Named("table 3: whole videos to the analyst", replace(ABLATION, localize=False)),
    "wo-stage3": _Named("table 3: sparse frames to the analyst", replace(ABLATION, zoom=False)),
    "transcript-only": _Named("table 3: no frame is looked at", replace(ABLATION, pictures=False)),
    "visual-only": _Named("table 3: no transcript is read", replace(ABLATION, transcript=False)),
}

SYSTEMS: Mapping[str, str] = {
    **{name: named.about for name, named in _NAMED.items()},
    **{
        f"{axis}@{value}": f"figure 3: {axis} {value}" for axis, values in SCALING.items() for value in values
    },
}


def settings_of(name: str) -> BrowserSettings:
    """Raises `UsageError` for a name that is not here."""
    if name in _NAMED:
        return _NAMED[name].settings
    axis, at, value = name.partition("@")
    if at and axis in SCALING and value.isdigit() and int(value) > 0:
        return scaling(axis, int(value))
    raise UsageError(f"no system {name!r}; there are {', '.join(SYSTEMS)}")
