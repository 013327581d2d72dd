"""The lines of the benchmark's files, as they come from outside: strict, no key more or less."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from eval.runs.records import LETTERS
from eval.tasks.egofact.records import ClipRow, Family, PassageRow, Position, Query, Span, Truth

Name = Annotated[str, Field(min_length=1)]
Time = Annotated[float, Field(ge=0)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


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


class VideoLine(_Line):
    """A line of `videos.jsonl`."""

    id: Name = Field(alias="_id")
    path: Name
    start: Time
    end: Time
    description: Name

    @model_validator(mode="after")
    def _checked(self) -> VideoLine:
        if self.start >= self.end:
            raise ValueError(f"start {self.start} is not before end {self.end}")
        if self.path.startswith(("/", "~")) or "\\" in self.path:
            raise ValueError(f"path {self.path!r} is not relative to this folder, with forward slashes")
        return self

    def record(self) -> ClipRow:
        """The validated line as a record."""
        return ClipRow(self.id, self.path, self.start, self.end, self.description)


class PassageLine(_Line):
    """A line of `passages.jsonl`."""

    id: Name = Field(alias="_id")
    title: str
    text: Name
    object: str
    activity: str

    def record(self) -> PassageRow:
        """The validated line as a record."""
        return PassageRow(self.id, self.title, self.text, self.object, self.activity)


class QueryLine(_Line):
    """A line of `queries.jsonl`, checked against the construction."""

    id: Name = Field(alias="_id")
    text: Name
    options: Annotated[tuple[Name, ...], Field(min_length=6, max_length=6)]
    answer: Annotated[str, Field(pattern="^[A-F]$")]
    family: Family
    video: Name
    window: tuple[Time, Time]
    seen: tuple[Time, Time] | None
    anchor: tuple[Time, Time] | None
    position: Position
    passage: Name | None
    option_passages: Annotated[tuple[Name | None, ...], Field(min_length=6, max_length=6)]
    truth: Annotated[tuple[Truth, ...], Field(min_length=6, max_length=6)]
    order: Annotated[tuple[int, ...], Field(min_length=6, max_length=6)]
    seed: int

    @model_validator(mode="after")
    def _checked(self) -> QueryLine:
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
        self._check_family(at)
        return self

    def _check_family(self, at: int) -> None:
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

    def record(self) -> Query:
        """The validated line as a record."""
        return Query(
            query_id=self.id,
            text=self.text,
            options=self.options,
            answer=self.answer,
            family=self.family,
            clip_id=self.video,
            window=_span(self.window),
            seen=_span(self.seen) if self.seen else None,
            anchor=_span(self.anchor) if self.anchor else None,
            position=self.position,
            passage=self.passage,
            option_passages=self.option_passages,
            truth=self.truth,
            order=self.order,
            seed=self.seed,
        )


class Manifest(BaseModel):
    """What the loader needs of `manifest.json`; other entries are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: Name
    split: str
    seed: int
    hashes: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]


def _span(pair: tuple[float, float]) -> Span:
    return (float(pair[0]), float(pair[1]))
