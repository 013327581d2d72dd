"""Questions, filters, hits, answers and citations: frozen records.

Times are seconds on the file's own clock; intervals are half-open [start, end).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from corpora.escaping import visible
from corpora.records import AudioClass, Clip, Evidence, Passage, Style, Tone, page_range
from corpora.text_decoding import without_blanks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VideoInterval = tuple[str, float, float]
"""A video id, and [start, end) seconds of that video."""


def rounded_down(value: float) -> float:
    """Round down to two digits, so that what is below a threshold reads so."""
    return math.floor(round(value * 100, 6)) / 100


def passage_name(path: str, passage_id: str, pages: Sequence[int] = ()) -> str:
    """`PATH (page 12, passage ID)`, on one line."""
    return f"{visible(path)} ({', '.join(filter(None, (page_range(pages, path), f'passage {passage_id}')))})"


def span_name(start: float, end: float) -> str:
    """`START-END` in seconds, as in the name of a window: with at most three decimals."""
    return "-".join(f"{at:.3f}".rstrip("0").rstrip(".") for at in (start, end))


STILL_SECONDS = 0.1
"""No video that is searched for a moment is so short."""


def window_name(name: str, start: float, end: float) -> str:
    """`NAME@START-END`, as a window of a video is cited; a photograph, a video of one frame, has no times."""
    return name if is_still(start, end) else f"{name}@{span_name(start, end)}"


def is_still(start: float, end: float) -> bool:
    """Whether [start, end) seconds are a photograph, whose times say nothing."""
    return start == 0 and end <= STILL_SECONDS


@dataclass(frozen=True, slots=True)
class Question:
    """A question, open or multiple-choice; made by `rag.questions.parse_question`."""

    question_id: str
    text: str
    options: tuple[str, ...] = ()
    """In order A, B, C, ...; empty for an open question."""


@dataclass(frozen=True, slots=True)
class ShotFilter:
    """Which shots a search may find; what is None does not filter, and several conditions all hold."""

    tone: Tone | None = None
    style: Style | None = None
    audio: AudioClass | None = None
    """Only the intervals of a shot with sound of this class."""
    min_height: int | None = None
    """Lines of the video, as `corpora.records.vertical_resolution` counts them."""
    after: str | None = None
    """What is seen in the same video before the moment, at most 60 s earlier."""
    before: str | None = None
    """What is seen in the same video after the moment, at most 60 s later."""


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What a search may find; what is None or empty does not filter, and several conditions all hold.

    Passages know only `paths`, and are part of no video: `videos` leaves them out. A question is answered
    from them whatever `start` and `end` are, a search for moments (`of_videos`) leaves them out.
    """

    videos: frozenset[str] | None = None
    """Video ids."""
    paths: tuple[str, ...] = ()
    """Globs on a file or a folder above it, by the whole path or, where relative, by its last parts."""
    kinds: frozenset[str] | None = None
    """Kinds of evidence."""
    start: float | None = None
    """Seconds; only what overlaps [start, end)."""
    end: float | None = None
    shots: ShotFilter | None = None
    """Turned into `spans` by `rag.retrieval` before anything is searched."""
    spans: Mapping[str, tuple[tuple[float, float], ...]] | None = None
    """By video id: only what shares at least a second (or all of itself) with one of these."""

    @property
    def of_videos(self) -> bool:
        """Whether it asks for videos, times or shots, which no passage has: a search finds videos alone."""
        return any(wanted is not None for wanted in (self.videos, self.start, self.end, self.shots))


@dataclass(frozen=True, slots=True)
class UnmeasuredVideos:
    """Videos that a filter could not decide about completely, and that it may leave out."""

    videos: int
    of: int
    """Videos that were considered."""
    why: tuple[str, ...]
    """One line for each reason: the number of videos, and the remedy."""


@dataclass(frozen=True, slots=True)
class VideoHit:
    """A window of a video, [start, end) seconds, that a search found."""

    path: str
    video_id: str
    start: float
    end: float
    clip: Clip
    """The indexed clip that overlaps the window most."""
    score: float
    """In [0, 1], orders the hits of one query: the chance that it is the one looked for, the mean of that by
    its images and that by its text. Between queries `relevance` compares."""
    evidence: tuple[Evidence, ...] = ()
    title: str = ""
    relevance: float = 0.0
    """In [0, 1], comparable between queries: below the threshold it is no match, whatever its rank."""
    kind: Literal["video"] = "video"

    def __str__(self) -> str:
        """`PATH@START-END` on one line, which `Library.resolve` takes."""
        return window_name(visible(self.path), self.start, self.end)


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that a search found; scores as of `VideoHit`, with no images."""

    path: str
    passage: Passage
    score: float
    relevance: float = 0.0
    kind: Literal["passage"] = "passage"

    def __str__(self) -> str:
        """`PATH (page 12, passage ID)`."""
        return passage_name(self.path, self.passage.passage_id, self.passage.pages)


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """The score of a query at the moments of one video: what its windows are found by."""

    of: Literal["frames", "text"]
    """What the moments are: the stored frames, or, where there are none, the middles of half seconds."""
    times: NDArray[np.float64]
    """float64 (n,) seconds, rising; empty where the query finds nothing."""
    scores: NDArray[np.float64]
    """float64 (n,): compare within one curve alone."""


@dataclass(frozen=True, slots=True)
class VideoCitation:
    """A window of a video, [start, end) seconds, that an answer rests on."""

    path: str
    video_id: str
    start: float
    end: float
    score: float
    evidence: tuple[Evidence, ...] = ()
    kind: Literal["video"] = "video"

    def __str__(self) -> str:
        """`PATH@START-END` on one line, which `Library.resolve` takes."""
        return window_name(visible(self.path), self.start, self.end)


@dataclass(frozen=True, slots=True)
class PassageCitation:
    """A passage that an answer rests on."""

    path: str
    passage_id: str
    title: str
    text: str
    score: float
    pages: tuple[int, ...] = ()
    """Pages of what is quoted, else those of the passage."""
    kind: Literal["passage"] = "passage"

    def __str__(self) -> str:
        """`PATH (page 12, passage ID)`."""
        return passage_name(self.path, self.passage_id, self.pages)


Citation = VideoCitation | PassageCitation


def passage_citation(
    path: str, passage: Passage, score: float, quotations: Iterable[str] = ()
) -> PassageCitation:
    """The citation of a passage of the file `path`, for what is quoted of it, if anything."""
    pages = pages_with(passage, quotations)
    return PassageCitation(path, passage.passage_id, passage.title, passage.text, score, pages)


def pages_with(passage: Passage, quotations: Iterable[str]) -> tuple[int, ...]:
    """The pages that quotations of a passage are on; all of its pages where it has none of them."""
    whole, starts, found = without_blanks(passage.text), passage.page_starts, set[int]()
    for said in filter(None, map(without_blanks, quotations)):
        if len(starts) == len(passage.pages) and (at := whole.find(said)) >= 0:
            found |= {
                *passage.pages[max(0, bisect_right(starts, at) - 1) : bisect_left(starts, at + len(said))]
            }
    return tuple(sorted(found)) or passage.pages


@dataclass(frozen=True, slots=True)
class ScoredOption:
    """An option of a question, and how probable it is."""

    label: str
    """A, B, C, ..."""
    text: str
    score: float
    """Probability in [0, 1]; the scores of one question sum to 1."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of the calls to language models; all zero for the embedded reasoner."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    image_tokens: int = 0
    seconds: float = 0.0
    by_role: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Counts and seconds of the calls by role."""

    @property
    def spent_by_role(self) -> dict[str, dict[str, int]]:
        """The counts of `by_role` that are not zero, without the seconds: equal in equal runs."""
        return {
            role: {key: int(value) for key, value in row.items() if value and key != "seconds"}
            for role, row in self.by_role.items()
        }


Verdict = Literal["sure", "possibly", "nothing"]
"""How far an answer or a hit can be relied on, in a word."""
SURE = 0.5
"""Confidence or relevance from which it is `sure`; from the threshold of matches on it is `possibly`."""
UNSURE = SURE - 0.01
"""The greatest confidence of an answer that must not be `sure`."""


def verdict_of(value: float, least: float) -> Verdict:
    """The verdict on a confidence or relevance, of which `least` is the threshold of matches."""
    return "nothing" if value < least else "sure" if value >= SURE else "possibly"


def lead(verdict: Verdict) -> str:
    """What is said before an answer."""
    return "Possibly: " if verdict == "possibly" else ""


def doubt(verdict: Verdict, hits: str = "hit") -> list[str]:
    """The line that is said of hits of which none is sure; none otherwise. `hits`: what one is called."""
    said = f"no {hits} has a relevance of {SURE:.2f}, from which it is sure to be what was looked for."
    return [f"{lead(verdict)}{said}"] if lead(verdict) else []


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question, with the windows and passages that prove it."""

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
    """Seconds by stage, in order: rewrite, retrieve, localize, read, answer."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Results of the stages: queries, anchor event, clips, passages, windows, relevance."""
    best_confidence: float | None = None
    """For an open question without a match, the confidence of the best answer, below the threshold; None
    where none was found."""

    @property
    def verdict(self) -> Verdict:
        """`nothing` without a match, `sure` from a confidence of `SURE` on, else `possibly`."""
        return verdict_of(self.confidence, 0.0) if self.matched else "nothing"
