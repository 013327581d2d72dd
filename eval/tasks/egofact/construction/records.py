"""What a benchmark is built from, and every number of the construction (EgoFact, appendix C).

Times are seconds on the clock of the clip's video file, intervals half-open [start, end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from corpora.records import EventParts
from eval.tasks.egofact.records import FAMILIES, Family, Span


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

    @property
    def window(self) -> Span:
        """The interval [start, end) in seconds."""
        return (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Segment:
    """A 30-second clip with its events (C.1): what queries are made from, and no part of the benchmark."""

    clip_id: str
    path: str
    """Path of the video file, below the corpus folder."""
    start: float
    end: float
    events: tuple[EventStructure, ...]
    """Events in order of their starts."""
    scenarios: tuple[str, ...] = ()
    description: str = ""
    """What the clip shows, as it follows "a video that shows"; empty until it is narrated."""
    narration: str = ""
    """The detailed narration (C.1)."""
    keywords: Mapping[str, float] = field(default_factory=dict)
    """Keyword to relevance, 1 to 10 (C.1)."""


@dataclass(frozen=True, slots=True)
class FactPassage:
    """A passage with what two-hop options are made of (C.2.5: three counter-facts beside a fact)."""

    passage_id: str
    title: str
    text: str
    object: str
    """Canonical name of what it is about."""
    activity: str
    """As it follows "When": "storing tools for the winter"."""
    fact: str = ""
    """Empty until it is written."""
    counterfacts: tuple[str, ...] = ()


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
    quality: float = 7.0
    """C.2.4: least score, of 10."""
    passage_similarity: float = 0.5
    """C.2.5: least similarity of an object and its passage."""
