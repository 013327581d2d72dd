"""What the EgoFact benchmark consists of: events, clips, passages, queries; frozen, in the paper's terms.

Times are seconds on the clock of the clip's video file, intervals half-open [start, end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from corpora.records import EventParts
from eval.runs.records import LETTERS, TaskInput

Family = Literal["local-1hop", "local-2hop", "temporal-1hop", "temporal-2hop"]
FAMILIES: tuple[Family, ...] = ("local-1hop", "local-2hop", "temporal-1hop", "temporal-2hop")
Position = Literal["within", "before", "after"]
"""Where the gold event is relative to the anchor event; `within` where there is no anchor."""
Truth = Literal["true", "fact-distractor", "counterfact-distractor", "counterfact", "object-distractor"]
"""Of one option: right; a fact or a counter-fact about a distractor object; a counter-fact about the
right object; or, in one-hop queries, another object."""
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class EgoFactInput(TaskInput):
    """A question of EgoFact as a solver sees it; what is given is set for oracles alone."""

    given_clip: str | None = None
    given_window: Span | None = None


@dataclass(frozen=True, slots=True)
class EventStructure(EventParts):
    """One event as C.2.1 writes it, with its time."""

    start: float
    end: float
    seen: Span | None = None
    """When the object is in view in use, where that is known."""

    @property
    def window(self) -> Span:
        """The interval [start, end) in seconds."""
        return (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Segment:
    """A 30-second clip with its events (C.1): what queries are made from, and no part of the benchmark."""

    clip_id: str
    path: str
    """Of the video file, below the corpus folder."""
    start: float
    end: float
    description: str
    """Of what the clip shows, to stand after "a video that shows"; names no used object."""
    events: tuple[EventStructure, ...]
    """By start."""
    clutter: tuple[str, ...] = ()
    """Canonical names of things that are in view and not used."""
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact of a passage, and what contradicts it (C.2.5: three counter-facts for each fact)."""

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
    """To stand after "When": "storing tools for the winter"."""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class ClipRow:
    """A line of `videos.jsonl`."""

    clip_id: str
    path: str
    """Of the video file, from the benchmark's folder."""
    start: float
    end: float
    description: str


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A line of `passages.jsonl`."""

    passage_id: str
    title: str
    text: str
    object: str
    activity: str


@dataclass(frozen=True, slots=True)
class Query:
    """A line of `queries.jsonl`. Everything that is one per option follows the shuffled options."""

    query_id: str
    text: str
    options: tuple[str, ...]
    answer: str
    """"A" to "F"."""
    family: Family
    clip_id: str
    window: Span
    """The gold event."""
    seen: Span | None
    anchor: Span | None
    """The anchor event of a temporal query."""
    position: Position
    passage: str | None
    """Id of the gold passage of a two-hop query."""
    option_passages: tuple[str | None, ...]
    truth: tuple[Truth, ...]
    order: tuple[int, ...]
    """Option i stood at `order[i]` before shuffling."""
    seed: int

    @property
    def unshuffled(self) -> str:
        """The letters of the options before shuffling, in their present order."""
        return "".join(LETTERS[index] for index in self.order)

    @property
    def hops(self) -> int:
        """Number of hops, 1 or 2."""
        return 2 if self.family.endswith("2hop") else 1

    @property
    def temporal(self) -> bool:
        """Whether the query asks about time."""
        return self.family.startswith("temporal")


@dataclass(frozen=True, slots=True)
class EgoFact:
    """A benchmark as it is evaluated."""

    name: str
    split: str
    seed: int
    folder: Path
    clips: tuple[ClipRow, ...]
    passages: tuple[PassageRow, ...]
    queries: tuple[Query, ...]
    candidates: tuple[Query, ...] = ()
    """Queries before the non-triviality filter, for the figures that it would bend; empty where not kept."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
