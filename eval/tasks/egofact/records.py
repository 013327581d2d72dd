"""The records of the EgoFact benchmark, in the paper's terms, and the rules that lines of its files obey.

Times are seconds on the clock of the clip's video file, intervals half-open [start, end).
A record is a line of a file under the same names, but for the aliases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from eval.runs.records import LETTERS, TaskInput

Family = Literal["local-1hop", "local-2hop", "temporal-1hop", "temporal-2hop"]
FAMILIES: tuple[Family, ...] = ("local-1hop", "local-2hop", "temporal-1hop", "temporal-2hop")
Position = Literal["within", "before", "after"]
"""Where the gold event is relative to the anchor event; `within` where there is no anchor."""
Truth = Literal["true", "fact-distractor", "counterfact-distractor", "counterfact", "object-distractor"]
"""What an option is: right; a fact or a counter-fact about a distractor object; a counter-fact about the
right object; or, in one-hop queries, another object."""
Name = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(alias="_id", min_length=1)]
Time = Annotated[float, Field(ge=0)]
Span = tuple[Time, Time]
SIX = Field(min_length=6, max_length=6)
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class EgoFactInput(TaskInput):
    """A question of EgoFact as a solver sees it; what is given is set for oracles alone."""

    given_window: Span | None = None


@dataclass(frozen=True, slots=True)
class ClipRow:
    """A line of `videos.jsonl`."""

    __pydantic_config__ = STRICT

    clip_id: Id
    path: Name
    """The path of the video file, from the benchmark's folder."""
    start: Time
    end: Time
    description: Name

    @model_validator(mode="after")
    def _check(self) -> ClipRow:
        if self.start >= self.end:
            raise ValueError(f"start {self.start} is not before end {self.end}")
        if self.path.startswith(("/", "~")) or "\\" in self.path:
            raise ValueError(f"path {self.path!r} is not relative to this folder, with forward slashes")
        return self


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A line of `passages.jsonl`."""

    __pydantic_config__ = STRICT

    passage_id: Id
    title: str
    text: Name
    object: str
    activity: str


@dataclass(frozen=True, slots=True)
class Query:
    """A line of `queries.jsonl`. Everything that is one per option follows the shuffled options."""

    __pydantic_config__ = STRICT

    query_id: Id
    text: Name
    options: Annotated[tuple[Name, ...], SIX]
    answer: Annotated[str, Field(pattern="^[A-F]$")]
    family: Family
    clip_id: Annotated[Name, Field(alias="video")]
    window: Span
    """The gold event."""
    seen: Span | None
    anchor: Span | None
    """The anchor event of a temporal query."""
    position: Position
    passage: Name | None
    """Id of the gold passage of a two-hop query."""
    option_passages: Annotated[tuple[Name | None, ...], SIX]
    truth: Annotated[tuple[Truth, ...], SIX]
    order: Annotated[tuple[int, ...], SIX]
    """Option i was at `order[i]` before shuffling."""
    seed: int

    @model_validator(mode="after")
    def _check(self) -> Query:
        """Against the construction."""
        if len(set(self.options)) < 6:
            raise ValueError("two options are the same")
        if sorted(self.order) != list(range(6)):
            raise ValueError(f"order {list(self.order)} is no permutation of 0 to 5")
        at = LETTERS.index(self.answer)
        if [place for place, truth in enumerate(self.truth) if truth == "true"] != [at]:
            raise ValueError(f"truth says another option than the answer {self.answer}")
        if self.order[at] != 5:
            raise ValueError(f"order does not bring F, the right option, to {self.answer}")
        for name, span in (("window", self.window), ("seen", self.seen), ("anchor", self.anchor)):
            if span is not None and span[0] >= span[1]:
                raise ValueError(f"{name} {list(span)} is empty")
        temporal = self.family.startswith("temporal")
        if temporal != (self.anchor is not None) or temporal != (self.position != "within"):
            raise ValueError(f"family {self.family} with position {self.position} and anchor {self.anchor}")
        if self.family.endswith("2hop"):
            if self.passage is None or self.option_passages[at] != self.passage:
                raise ValueError("the gold passage is not that of the right option")
            if None in self.option_passages:
                raise ValueError("an option of a two-hop query has no passage")
        elif self.passage is not None or set(self.option_passages) != {None}:
            raise ValueError("a one-hop query names a passage")
        return self


@dataclass(frozen=True, slots=True)
class Manifest:
    """What reading a benchmark needs of `manifest.json`, which has more."""

    __pydantic_config__ = ConfigDict(extra="ignore")

    name: Name
    hashes: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]


@dataclass(frozen=True, slots=True)
class EgoFact:
    """A benchmark as it is evaluated."""

    name: str
    folder: Path
    clips: tuple[ClipRow, ...]
    passages: tuple[PassageRow, ...]
    queries: tuple[Query, ...]
    hashes: Mapping[str, str]
    """The SHA-256 of each of its files, by name."""
