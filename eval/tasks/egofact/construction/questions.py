"""Questions about the events of a clip: their texts, which there are, and which are ambiguous.

EgoFact, section 2.2, C.2.2 and C.2.3. A query is ambiguous if a clip with similar visual indicators
(similarity > 0.7), or its own clip, holds an event with a similar action (> 0.8) on a different
object (< 0.9). A temporal query asks for the event beside its anchor: another
clip rivals it only where it holds such an anchor too, and its own clip only
with events on the same side of the anchor. In its own clip the object does
not matter: a second event that fits the words would be a second gold window.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from eval.tasks.egofact.construction.records import BuildSettings, EventStructure, Segment
from eval.tasks.egofact.records import Family, Position

if TYPE_CHECKING:
    from eval.tasks.egofact.construction.segments import CachedEncoder


_ARTICLE = r"(?:(?:the|a|an|some|one|his|her|their|its|another) )?"


def event_with(event: EventStructure, filler: str) -> str | None:
    """The event's sentence with `filler` for its object and the object's article.

    An empty filler leaves the gap that a question asks for. None where the
    sentence does not name the object as `patient` has it, exactly once.
    """
    if not event.patient:
        return None
    pattern = re.compile(rf"(?<![\w'-]){_ARTICLE}{re.escape(event.patient)}(?![\w'-])", re.IGNORECASE)
    found = pattern.findall(event.rewritten)
    if len(found) != 1:
        return None
    return " ".join(pattern.sub(lambda _: filler, event.rewritten).split())


def question_text(
    description: str, target: EventStructure, anchor: EventStructure | None, position: Position, hops: int
) -> str | None:
    """C.2.2: "In a video that shows D. Before E, what is the object that the agent acts on?".

    None where no question about the target's object can be put.
    """
    clause = event_with(target, "")  # "the camera wearer plugs into the wall socket"
    if clause is None:
        return None
    asked = "what is" if hops == 1 else "which statement is true about"
    asked = f"{asked} the object that"
    shown = f"In a video that shows {description}"
    if anchor is None:
        return f"{shown}, {asked} {clause}?"
    return f"{shown}. {position.capitalize()} {anchor.rewritten.rstrip('. ')}, {asked} {clause}?"


def option_text(activity: str, statement: str) -> str:
    """C.2.5, step 4: "When doing this. The object does that."."""
    said = statement.strip().rstrip(".")
    return f"When {activity.strip().rstrip('.')}. {said[:1].upper()}{said[1:]}."


def names_object(text: str, name: str) -> bool:
    """Whether a text says a name, in the singular or with an s."""
    return _named(name).search(text) is not None


@cache
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?:s|es)?(?![\w-])", re.IGNORECASE)


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
        """The identity of the candidate: no other one has it."""
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
    if anchor is not None and anchor.patient_canonical == target.patient_canonical:
        return
    hops: Literal[1, 2]
    for hops in (1, 2):
        text = question_text(segment.description, target, anchor, position, hops)
        if text is None or any(
            names_object(text, name) for name in (target.patient, target.patient_canonical)
        ):
            continue
        yield Candidate(segment, target, anchor, position, hops, text)


def _each_once(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Dedup (C.2.3) within a clip: no question text twice; both fall, as neither has one gold event."""
    texts: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        texts.setdefault(candidate.text, []).append(candidate)
    return [group[0] for group in texts.values() if len(group) == 1]


class Rivals:
    """Looks for rivals of a candidate among all clips that may be in the benchmark."""

    def __init__(self, segments: Sequence[Segment], encoder: CachedEncoder, settings: BuildSettings) -> None:
        self._segments = segments
        self._encoder = encoder
        self._settings = settings
        shown = [segment.description for segment in segments]
        self._place = {segment.clip_id: at for at, segment in enumerate(segments)}
        self._alike = encoder.similarity(shown, shown) > settings.visual_similarity
        acts = sorted({_act(event) for segment in segments for event in segment.events})
        self._row = {act: at for at, act in enumerate(acts)}
        self._acts = encoder.similarity(acts, acts)
        objects = sorted({event.patient_canonical for segment in segments for event in segment.events})
        self._object = {name: at for at, name in enumerate(objects)}
        self._objects = encoder.similarity(objects, objects)

    def ambiguous(self, candidate: Candidate) -> bool:
        """Whether the question fits another event than its own."""
        if self._rival_beside(candidate):
            return True
        at = self._place[candidate.segment.clip_id]
        others = (int(other) for other in np.flatnonzero(self._alike[at]) if other != at)
        return any(self._rival_in(self._segments[other], candidate) for other in others)

    def _rival_beside(self, candidate: Candidate) -> bool:
        target, anchor = candidate.target, candidate.anchor
        for event in candidate.segment.events:
            if event is target or event is anchor or not self._alike_acts(event, target):
                continue
            if anchor is None or (event.start < anchor.start) == (target.start < anchor.start):
                return True
        # The anchor's words must not fit a second event of the clip.
        return anchor is not None and any(
            event is not anchor and self._alike_acts(event, anchor) and self._same_object(event, anchor)
            for event in candidate.segment.events
        )

    def _rival_in(self, segment: Segment, candidate: Candidate) -> bool:
        target, anchor = candidate.target, candidate.anchor
        rivals = [
            event
            for event in segment.events
            if self._alike_acts(event, target) and not self._same_object(event, target)
        ]
        if anchor is None or not rivals:
            return bool(rivals)
        return any(
            self._alike_acts(event, anchor) and self._same_object(event, anchor) for event in segment.events
        )

    def _alike_acts(self, one: EventStructure, other: EventStructure) -> bool:
        cosine = float(self._acts[self._row[_act(one)], self._row[_act(other)]])
        return cosine > self._settings.action_similarity

    def _same_object(self, one: EventStructure, other: EventStructure) -> bool:
        cosine = float(
            self._objects[self._object[one.patient_canonical], self._object[other.patient_canonical]]
        )
        return cosine >= self._settings.object_similarity


def _act(event: EventStructure) -> str:
    """The event without its object: "the man places something onto the bench"."""
    return event_with(event, "something") or event.rewritten
