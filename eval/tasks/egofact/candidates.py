"""Which event a query asks for, and which one anchors it (EgoFact, section 2.2 and C.2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from eval.tasks.egofact.records import EventStructure, Family, Position, Segment
from eval.tasks.egofact.templates import asked_clause, names_object, question_text


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question before it has options."""

    segment: Segment
    target: EventStructure
    anchor: EventStructure | None
    position: Position
    hops: Literal[1, 2]
    text: str

    @property
    def family(self) -> Family:
        """Family of the question."""
        if self.anchor is None:
            return "local-1hop" if self.hops == 1 else "local-2hop"
        return "temporal-1hop" if self.hops == 1 else "temporal-2hop"

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from every other candidate."""
        return (self.family, self.segment.clip_id, f"{self.target.start:.2f}", self.position)


def event_pairs(segment: Segment, seconds: float) -> Iterator[tuple[EventStructure, EventStructure]]:
    """Consecutive events, the second starting at most `seconds` after the first has ended (C.2.2)."""
    for first, second in pairwise(segment.events):
        if second.start - first.end <= seconds:
            yield first, second


def candidates_of(segment: Segment, pair_seconds: float) -> list[Candidate]:
    """All questions that the events of one clip allow, each once.

    Left out are questions that say their answer: in the description, in the
    clause or in the anchor. Blind readers would need no video for those.
    """
    found: list[Candidate] = []
    for target in segment.events:
        found += _asked(segment, target, None, "within")
    for first, second in event_pairs(segment, pair_seconds):
        found += _asked(segment, first, second, "before")
        found += _asked(segment, second, first, "after")
    return _each_once(found)


def _asked(
    segment: Segment, target: EventStructure, anchor: EventStructure | None, position: Position
) -> Iterator[Candidate]:
    if asked_clause(target) is None or (anchor is not None and _same_object(anchor, target)):
        return
    hops: Literal[1, 2]
    for hops in (1, 2):
        text = question_text(segment.description, target, anchor, position, hops)
        if text is None or any(
            names_object(text, name) for name in (target.patient, target.patient_canonical)
        ):
            continue
        yield Candidate(segment, target, anchor, position, hops, text)


def _same_object(one: EventStructure, other: EventStructure) -> bool:
    return one.patient_canonical == other.patient_canonical


def _each_once(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Dedup (C.2.3) within a clip: no question text twice; both fall, as neither has one gold event."""
    texts: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        texts.setdefault(candidate.text, []).append(candidate)
    return [group[0] for group in texts.values() if len(group) == 1]
