"""The seam of the evaluation: a benchmark asks, a system answers, and this is what passes between them.

A benchmark hands out `Query` records, gold and all; a `System` gives a
`Sample` for each. Everything that is measured is a function of the two, so a
run folder that holds both can be scored again anywhere. Times are seconds on
the clip's own clock, intervals half-open [start, end).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from corpora.records import Frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LETTERS = "ABCDEF"
"""Of up to six options; in the paper's order, before shuffling, F is the right one (EgoFact, section 2.2)."""


class ClipScore(NamedTuple):
    clip_id: str
    score: float


class PassageScore(NamedTuple):
    passage_id: str
    score: float
    option: int | None = None
    """Index of the option it was sought for; None where it was sought for the whole question."""


class ClipWindow(NamedTuple):
    clip_id: str
    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class Query:
    """One question with its gold. What a system may look at of it is said by the system, in the open."""

    query_id: str
    text: str
    options: tuple[str, ...]
    """Shuffled, as they are shown; empty for an open query, whose answers its system judges."""
    answer: str
    """Letter of the right one among the shuffled options; of an open query, its right answer."""
    family: str
    video: str
    """Gold clip."""
    cluster: str
    """The video that the gold clip was cut from: intervals are clustered by it."""
    window: tuple[float, float]
    """The gold event; (0, 0) where nobody knows it."""
    order: tuple[int, ...]
    """Shuffled option i stands at `order[i]` in the paper's order, where the last is right."""
    passage: str | None = None
    """Gold passage; None for one hop."""
    option_passages: tuple[str | None, ...] = ()
    truth: tuple[str, ...] = ()
    """What each shuffled option is: `true`, `counterfact`, `fact-distractor`, ..."""
    seen: tuple[float, float] | None = None
    """When the deciding object shows in use; None where that is not known."""
    anchor: tuple[float, float] | None = None
    """The event that a temporal query names; None for a local one."""
    position: str = "within"
    """Where the gold event lies from the anchor: `before`, `after`, or `within`."""

    @property
    def has_window(self) -> bool:
        """Whether it is known when the gold event is."""
        return self.window[1] > self.window[0]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a system made of one query. Floats are rounded to 6 decimals when written."""

    query_id: str
    family: str
    video: str
    """Gold clip."""
    cluster: str
    choice: str | None
    """Letter among the shuffled options; None where the system gave none."""
    correct: bool
    unshuffled_choice: str | None
    """The same option's letter in the paper's order."""
    scores: tuple[float, ...] = ()
    """Probability of each shuffled option; empty where the system has none."""
    confidence: float = 0.0
    """Probability in [0, 1] that the choice is right."""
    clips: tuple[ClipScore, ...] = ()
    """Retrieved, best first; empty for a system that retrieves none."""
    passages: tuple[PassageScore, ...] = ()
    """Retrieved, in any order; ranked by score when measured."""
    windows: tuple[ClipWindow, ...] = ()
    """The window of every retrieved clip, in the order of `clips`; empty for a system that localizes none."""
    gold_window_found: tuple[float, float] | None = None
    """The window localized inside the gold clip, whether or not that clip was retrieved."""
    gold_frames: tuple[float, ...] = ()
    """Times of the frames that were read of the gold clip; empty where it was not retrieved."""
    understood: bool | None = None
    """Judged: what was read of the gold clip names the event asked for (paper, D.1); None: not judged."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Small and JSON: captions, quoted sentences, rewritten queries."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    parse_failure: bool = False
    """A language model's reply could not be read, after repair; the choice then is None or a fallback."""
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Seconds by stage. Written to timings.jsonl alone, never beside the figures."""


def sample_of(query: Query, choice: str | None, **fields: Any) -> Sample:
    """A sample with all that follows from the query and the choice filled in.

    `fields`: the other fields of `Sample`. Raises `ValueError` for a letter
    that no option has.
    """
    place = None if choice is None else option_index(query, choice)
    return Sample(
        query_id=query.query_id,
        family=query.family,
        video=query.video,
        cluster=query.cluster,
        choice=choice,
        correct=choice == query.answer,
        unshuffled_choice=None if place is None else LETTERS[query.order[place]],
        **fields,
    )


def option_index(query: Query, letter: str) -> int:
    place = LETTERS.find(letter) if len(letter) == 1 else -1
    if not 0 <= place < len(query.options):
        raise ValueError(f"query {query.query_id} has no option {letter!r}")
    return place


@dataclass(frozen=True, slots=True)
class Explanation:
    """What can be looked at of one query: the score curve over the gold clip, and pictures of windows."""

    times: NDArray[np.float64]
    """(m,) seconds: the moments of the gold clip that have a similarity."""
    similarity: NDArray[np.float64]
    """(m,) similarity of the localizing words with the picture at each moment."""
    windows: tuple[ClipWindow, ...]
    frames: tuple[Frames, ...]
    """Pictures of each window, in the order of `windows`; decoded for the occasion."""
    paths: tuple[str, ...] = ()
    """The file of each window, to be shown; may be empty."""
    words: str = ""
    """What was sought in the pictures."""


class System(Protocol):
    """One way to answer, opened with a seed. The same seed and data give the same sample, to the bit.

    `settings` say all that its answers depend on. Two of them are read by the
    reports: `series` ("localization" or "video-split") and `window_seconds`
    place a run in the comparison over window sizes.
    """

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    def answer(self, query: Query) -> Sample: ...


class Benchmark(Protocol):
    """Queries over data, and the systems that can be tried on them.

    Made by a factory that reads nothing: data are read, and their hashes
    checked, at the first look at `queries`, `dataset` or a system.
    """

    @property
    def name(self) -> str: ...
    @property
    def queries(self) -> Sequence[Query]:
        """In the order in which they are asked; ids are unique."""
        ...

    @property
    def dataset(self) -> Mapping[str, str]:
        """Hash of each file that the queries or answers depend on, by name relative to the data."""
        ...

    @property
    def encoders(self) -> Mapping[str, str]:
        """Fingerprint of each encoder and reasoner, by role."""
        ...

    def systems(self) -> Mapping[str, str]:
        """Name of every system, and what it is in one line. Needs no data."""
        ...

    def open_system(self, name: str, seed: int) -> System:
        """Raises `UsageError` for a name that `systems` lacks."""
        ...

    def explain(self, query_id: str, windows: Sequence[ClipWindow], frames: int) -> Explanation:
        """The curve over the gold clip, and `frames` pictures of each of `windows`."""
        ...
