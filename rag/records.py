"""The records that travel between the rooms: frozen, plain, without behaviour.

Times are seconds as float on the file's own clock (pts x time base, minus the
container's start time), intervals are half-open [start, end). Paths are text
with undecodable bytes as surrogate escapes (PEP 383), as `os.fsdecode` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Answer",
    "Citation",
    "Clip",
    "Evidence",
    "EvidenceKind",
    "Frames",
    "Passage",
    "PassageCitation",
    "PassageHit",
    "Problem",
    "Question",
    "ScoredOption",
    "Usage",
    "Video",
    "VideoCitation",
    "VideoHit",
    "Window",
]

EvidenceKind = Literal["subtitle", "asr", "ocr", "caption", "chapter", "tag"]


@dataclass(frozen=True, slots=True)
class Video:
    """One video by content: two paths of the same bytes are one `Video`."""

    video_id: str
    path: str
    title: str
    description: str
    tags: tuple[str, ...]
    duration: float
    fps: float
    """Mean frames a second of the chosen stream; 0.0 where there is no picture."""
    width: int
    """Upright pixels, after rotation; 0 where there is no picture."""
    height: int
    audio: bool
    language: str
    """BCP 47 tag of the audio stream, or empty."""
    stream: int = -1
    """Index of the chosen video stream in the container; -1 where there is none."""
    decoder: str = ""
    damage: str = ""
    """What was lost while reading, in one line; empty for a clean file."""


@dataclass(frozen=True, slots=True)
class Clip:
    clip_id: str
    """`{video_id}:{index:05d}`, so that ids sort in time within a video."""
    video_id: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Passage:
    passage_id: str
    doc_id: str
    """The document's own id where its format has one, else the content hash of the document."""
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a video that says something in words."""

    video_id: str
    start: float
    end: float
    kind: EvidenceKind
    text: str


@dataclass(frozen=True, slots=True)
class Window:
    video_id: str
    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class Frames:
    """Sampled frames, upright, in time order.

    `times`: float64 (n,) seconds. `images`: uint8 (n, height, width, 3) RGB.
    """

    times: NDArray[np.float64]
    images: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Problem:
    """One odd file, in one line: what is wrong with it and what was done."""

    path: str
    reason: str
    action: str = "skipped"
    """`skipped`, or what was saved of it: `indexed 58 of 60 s`."""


@dataclass(frozen=True, slots=True)
class Question:
    question_id: str
    text: str
    options: tuple[str, ...] = ()
    """In order A, B, C, ...; empty for an open question."""


@dataclass(frozen=True, slots=True)
class VideoHit:
    """A window of a video that answers a search."""

    path: str
    video_id: str
    start: float
    end: float
    clip: Clip
    score: float
    """In [0, 1], falls with the rank: how near it is to first place in every ranking it takes part in."""
    evidence: tuple[Evidence, ...] = ()
    title: str = ""
    relevance: float = 0.0
    """In [0, 1], comparable between queries: below the threshold it is no match, whatever its rank."""
    kind: Literal["video"] = "video"


@dataclass(frozen=True, slots=True)
class PassageHit:
    path: str
    passage: Passage
    score: float
    relevance: float = 0.0
    kind: Literal["passage"] = "passage"


@dataclass(frozen=True, slots=True)
class VideoCitation:
    path: str
    video_id: str
    start: float
    end: float
    score: float
    evidence: tuple[Evidence, ...] = ()
    kind: Literal["video"] = "video"


@dataclass(frozen=True, slots=True)
class PassageCitation:
    path: str
    passage_id: str
    title: str
    text: str
    score: float
    kind: Literal["passage"] = "passage"


Citation = VideoCitation | PassageCitation


@dataclass(frozen=True, slots=True)
class ScoredOption:
    label: str
    """A, B, C, ..."""
    text: str
    score: float
    """Probability in [0, 1]; the scores of one question sum to 1."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What language-model calls cost; all zero for the embedded reasoner."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    image_tokens: int = 0
    seconds: float = 0.0
    by_role: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    choice: str | None
    """The label of the chosen option; None for an open question or where nothing matched."""
    text: str
    confidence: float
    """In [0, 1]."""
    explanation: str
    matched: bool
    """False: nothing in the library matches, and `text` says so."""
    citations: tuple[Citation, ...] = ()
    options: tuple[ScoredOption, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage, in the order of the road: rewrite, retrieve, localize, read, answer."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the road decided on its way: visual query, anchor, passage queries."""
