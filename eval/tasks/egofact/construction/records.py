"""What a benchmark is built from, and every number of the construction (EgoFact, appendix C).

Times are seconds on the clock of the clip's video file, intervals half-open [start, end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from corpora.records import EventParts
from eval.tasks.egofact.records import FAMILIES, STRICT, Family, Span
from eval.workbench.recording import LATER


class EventFields(BaseModel):
    """The parts of an event structure as they come from outside; a part without a value may be left out."""

    rewritten: str
    agent: str
    action: str
    patient: str
    patient_canonical: str
    patient_location: str | None = None
    patient_destination: str | None = None
    instrument: str | None = None
    event_location: str | None = None


@dataclass(frozen=True, slots=True)
class EventStructure(EventParts):
    """One event as C.2.1 writes it, with its time."""

    start: float
    end: float
    seen: Span | None = None
    """When the object is in view in use, where that is known."""
    paraphrase: str = ""
    """The event in other words than `rewritten`, for descriptions; empty where there are none."""

    @property
    def window(self) -> Span:
        """The interval [start, end) in seconds."""
        return (self.start, self.end)

    @property
    def act(self) -> tuple[str | None, ...]:
        """Who does what where and with what, without the object."""
        where = (self.patient_location, self.patient_destination, self.instrument, self.event_location)
        return (self.agent, self.action, *where)


@dataclass(frozen=True, slots=True)
class Segment:
    """A 30-second clip with its events (C.1): what queries are made from, and no part of the benchmark."""

    clip_id: str
    path: str
    """Of the video file, below the corpus folder."""
    start: float
    end: float
    description: str
    """What the clip shows, as it follows "a video that shows"; of used objects only those of `described`."""
    events: tuple[EventStructure, ...]
    """By start."""
    clutter: tuple[str, ...] = ()
    """Canonical names of things that are in view and not used."""
    scenarios: tuple[str, ...] = ()
    narration: str = ""
    """The detailed narration of a model (C.1); empty where no model wrote one."""
    keywords: Mapping[str, float] = field(default_factory=dict)
    """Keyword to relevance, 1 to 10, as a model names them (C.1); empty: they are read off the events."""
    described: tuple[EventStructure, ...] = ()
    """Events that the description names, and that are not asked about."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact of a passage, and what contradicts it (C.2.5: three counter-facts for each fact)."""

    __pydantic_config__ = STRICT

    fact: str
    counterfacts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactPassage:
    """A passage with the statements that two-hop options are made of; a distractor passage has none."""

    passage_id: str
    title: str
    text: str
    object: str
    """Canonical name of what it is about; empty for a distractor passage."""
    activity: str
    """As it follows "When": "storing tools for the winter"."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """How many clips, and how many queries of each family."""

    clips: int
    local_1hop: int
    local_2hop: int
    temporal_1hop: int
    temporal_2hop: int

    def of(self, family: Family) -> int:
        """Number of queries of a family."""
        count: int = getattr(self, family.replace("-", "_"))
        return count

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(self.of(family) for family in FAMILIES)


SCREENSHOT_SECONDS = 3.0
"""C.1: one screenshot each 3 s, ten of a clip."""
PAPER = Shape(127, 113, 73, 119, 91)
"""EgoFact, table 1 and C.1: 396 queries over 127 clips."""
MINI = Shape(14, 12, 7, 12, 9)
"""A tenth of it, in the same proportions."""


def shape_of(clips: int) -> Shape:
    """The paper's proportions over another number of clips; at least one query of each family."""
    counts = (max(1, round(PAPER.of(family) * clips / PAPER.clips)) for family in FAMILIES)
    return Shape(clips, *counts)


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Thresholds of the construction."""

    segment_seconds: float = 30.0
    """C.1."""
    cluster_share: float = 0.2
    """C.1: number of clusters k = 0.2 n."""
    spare_clips: float = 1.6
    """Never fewer clusters than this many times the clips wanted (or all clips there are), so that a corpus
    smaller than the paper's 2,124 segments can still fill the shape."""
    min_events: int = 2
    """C.1."""
    pair_seconds: float = 4.0
    """C.2.2: end of the first event to the start of the second, at most."""
    visual_similarity: float = 0.7
    """C.2.3: clips more alike than this may be taken for each other."""
    action_similarity: float = 0.8
    """C.2.3: events more alike than this may be taken for each other."""
    object_similarity: float = 0.9
    """C.2.3: objects less alike than this are different answers; options are at least so different."""
    distractors: int = 5
    """C.2.4."""
    every_clip: bool = field(default=False, metadata=LATER)
    """Whether all clips are representatives, and those without a question stay, to be found by mistake."""
    described_by: int = field(default=0, metadata=LATER)
    """Events that a clip's description names, in place of its decor."""
    templates: int = field(default=1, metadata=LATER)
    """In how many forms questions are put (`questions.TEMPLATES`)."""
    twin_passages: bool = field(default=False, metadata=LATER)
    """Whether each passage has a twin about another object, in which its counter-facts are true."""
    quality: float = 7.0
    """C.2.4: least score, of 10."""
    passage_similarity: float = 0.5
    """C.2.5: least similarity of an object and its passage."""
