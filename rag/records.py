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
    "AudioClass",
    "Citation",
    "Clip",
    "Evidence",
    "EvidenceKind",
    "Frames",
    "Likeness",
    "Passage",
    "PassageCitation",
    "PassageHit",
    "Problem",
    "Question",
    "ScoredOption",
    "Shot",
    "ShotFilter",
    "SoundTrack",
    "Style",
    "Tone",
    "Unjudged",
    "Usage",
    "Video",
    "VideoCitation",
    "VideoHit",
    "Window",
    "lines_of",
]

EvidenceKind = Literal["subtitle", "asr", "ocr", "caption", "chapter", "tag"]
Tone = Literal["warm", "cold", "neutral"]
Style = Literal["live", "2d", "3d", "graphics"]
AudioClass = Literal["speech", "music", "ambient", "silence"]


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
class Shot:
    """An unbroken run of pictures, and what was measured on it at indexing time (docs/measurements.md)."""

    shot_id: str
    """`{video_id}:s{index:05d}`, so that ids sort in time within a video."""
    video_id: str
    start: float
    end: float
    key_time: float
    """When the keyframe is on screen: the sampled frame most like the shot as a whole."""
    tone: Tone
    warmth: float
    """What `tone` is cut from: above 0 the light is yellow to red, below 0 it is blue."""
    saturation: float
    """Mean chroma, CIELAB units."""
    brightness: float
    """Mean lightness L* in [0, 100]."""
    contrast: float
    """Standard deviation of L*."""
    sharpness: float
    """Mean strength of edges of L* in the sampled picture; compares within one height of sampling."""
    style: Style | None
    """None in a library without an image encoder."""


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """What the sound of a video is, second by second: place k is [k, k + 1), the last up to its end."""

    video_id: str
    classes: tuple[AudioClass | None, ...]
    """None for a second that could not be heard, since most of it is missing from the file."""
    loudness: NDArray[np.float32]
    """float32 (seconds,), LUFS: K-weighted by ITU-R BS.1770, without gating; at least -70, NaN unheard."""


def lines_of(width: int, height: int) -> int:
    """Lines of a picture as "1080p" counts them: a film in scope and one held upright are no smaller."""
    short, long = sorted((width, height))
    return max(short, round(long * 9 / 16))


@dataclass(frozen=True, slots=True)
class ShotFilter:
    """Which shots a search may find; what is None does not filter. Several conditions all hold."""

    tone: Tone | None = None
    style: Style | None = None
    audio: AudioClass | None = None
    """Only the stretches of a shot that sound so."""
    min_height: int | None = None
    """Lines of the video, as `lines_of` counts them."""
    after: str | None = None
    """What is seen in the same video before the moment, at most `CONTEXT_SECONDS` earlier."""
    before: str | None = None
    """What is seen in the same video after the moment."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Videos that a filter could not be held against wholly, and that it may leave out."""

    videos: int
    of: int
    """How many it was held against in all."""
    why: tuple[str, ...]
    """One line for each reason: how many videos, and what helps."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Another video of the library that shows the same thing: uploaded again, cropped, graded, re-timed."""

    video_id: str
    path: str
    score: float
    """In [0, 1]: how well pictures and sound agree along the line below."""
    speed: float
    """Seconds of the video asked about for each second of this one: t_asked = speed * t + offset."""
    offset: float


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

    @property
    def spent_by_role(self) -> dict[str, dict[str, int]]:
        """The counts of `by_role` that are not zero, without the seconds: the same in equal runs."""
        return {
            role: {key: int(value) for key, value in row.items() if value and key != "seconds"}
            for role, row in self.by_role.items()
        }


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
