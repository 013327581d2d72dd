"""What Video-Browser depends on (sections 4 and 5, appendix B.1), what it keeps, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass as validated

from rag.agents.runtime.trace import WebRun
from rag.errors import UsageError
from rag.reasoners.roles.reading import ReadPassage, ReadWindow
from rag.reasoners.roles.searching import KnownVideo, SubQuestion, TriedQuery
from rag.records import Answer, Question
from rag.web import SearchResult

Paradigm = Literal["pyramidal", "direct", "summarization", "text-search", "tool-free"]


@validated(frozen=True, slots=True)
class BrowserSettings:
    """Defaults are the paper's main ones, with text on the screen. Values out of range are refused."""

    paradigm: Paradigm = "pyramidal"
    """`direct` and `summarization` look at whole videos; `text-search` reads pages and the metadata of
    results; `tool-free` asks at once."""
    max_steps: PositiveInt = 5
    """T_max: search loops at most."""
    videos: PositiveInt = 3
    """K: videos watched in each loop."""
    results: PositiveInt = 10
    """Results taken of one query."""
    queries: PositiveInt = 3
    """Queries of one loop at most."""
    pages: PositiveInt = 5
    """Pages of text that `text-search` reads (section 3.4: 5 results)."""

    # Stage I
    select: bool = True
    """False (w/o stage 1): the first K results as the search engine ranks them."""

    # Stage II
    localize: bool = True
    """False (w/o stage 2): the analyst gets the whole video at `zoom_rate`, up to `whole_frames`."""
    sparse_frames: PositiveInt = 16
    """Frames, spread evenly, that are looked at."""
    windows: PositiveInt = 3
    """Windows taken of one video at most."""
    verified: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Confidence of a localization from which its video counts as verified, not merely watched."""

    # Stage III
    zoom: bool = True
    """False (w/o stage 3): the analyst gets the sparse frames of the windows; nothing is decoded."""
    zoom_rate: PositiveFloat = 1.0
    """Frames a second inside a window."""
    window_frames: PositiveInt = 32
    """Frames of one window at most; a longer one is sampled evenly."""

    whole_frames: PositiveInt = 128
    """Frames of a video for `direct`, `summarization`, and without stage 2, spread evenly."""
    transcript: bool = True
    """False (w/ Visual): nothing that is said is read."""
    screen: bool = True
    """Whether text on the screen, which the library read, goes with what is said. The paper's watcher sees
    frames and transcripts alone."""
    images: bool = True
    """False (w/ Transcript): no frame is looked at."""

    def __post_init__(self) -> None:
        if not (self.transcript or self.images):
            raise UsageError("transcript and images are both off: nothing is left to read")


MAIN = BrowserSettings()
"""The settings of `rag agent browse`."""
PAPER = BrowserSettings(screen=False)
EFFICIENCY = replace(PAPER, max_steps=1, videos=3)
ABLATION = replace(PAPER, max_steps=1, videos=2)

SCALING: Mapping[str, tuple[int, ...]] = {
    "videos": (1, 2, 3, 4, 5),
    "loops": (1, 2, 3, 4, 5),
    "frames": (4, 8, 16, 32, 64),
}
"""Axes of figure 3 and the values tried on each."""


def scaling(axis: str, value: int) -> BrowserSettings:
    """`videos`: T = 1, 16 frames. `loops`: K = 2, 16 frames. `frames`: K = 2, T = 1. Raises `UsageError`."""
    if axis == "videos":
        return replace(PAPER, max_steps=1, videos=value)
    if axis == "loops":
        return replace(PAPER, max_steps=value, videos=2)
    if axis == "frames":
        return replace(ABLATION, sparse_frames=value)
    raise UsageError(f"no axis {axis!r}; there are {', '.join(SCALING)}")


@dataclass
class BrowserMemory:
    """M: the history H_t and the evidence E_total, shared by planner, watcher and analyst (section 4.1)."""

    question: Question
    sub_questions: tuple[SubQuestion, ...] = ()
    focus: str = ""
    """The sub-task s_t that is being searched for, with the first query of q_t where that says more."""
    tried: list[TriedQuery] = field(default_factory=list)
    known: list[KnownVideo] = field(default_factory=list)
    seen: dict[str, SearchResult] = field(default_factory=dict)
    """Every result met so far, by address."""
    spent: set[str] = field(default_factory=set)
    """Addresses that were watched, or failed for good."""
    evidence: list[ReadWindow] = field(default_factory=list)
    passages: list[ReadPassage] = field(default_factory=list)
    """Videos put into words (the summarization paradigm), and pages of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseRun(WebRun):
    """What came of one question. `failure`: the error that kept the answer from being made."""

    answer: Answer
    """Citations name the address of the video as their path. Without an answer, `matched` is False."""
    sub_questions: tuple[SubQuestion, ...]
    watched: tuple[KnownVideo, ...]
    evidence: tuple[ReadWindow, ...]
    """E_total as the analyst saw it."""
    loops: int
    """Search loops begun."""
    sparse_image_tokens: int
    """Tokens of frames in the sparse stage."""
    context: int
    """Tokens of the last prompt that the analyst was given; of a repair, where there was one."""

    @property
    def found(self) -> bool:
        """Whether the answer has evidence."""
        return self.answer.matched
