"""Queries that could be answered from another event (EgoFact, C.2.3, and "non-ambiguous" of section 2.2).

A query falls if a clip with similar visual indicators (similarity > 0.7), or
its own clip, holds an event with a similar action (> 0.8) on a different
object (< 0.9). A temporal query asks for the event beside its anchor: another
clip rivals it only where it holds such an anchor too, and its own clip only
with events on the same side of the anchor. In its own clip the object does
not matter: a second event that fits the words would be a second gold window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eval.tasks.egofact.candidates import Candidate
from eval.tasks.egofact.records import EventStructure, Segment
from eval.tasks.egofact.settings import BuildSettings
from eval.tasks.egofact.templates import event_with

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eval.tasks.egofact.vectors import CachedEncoder


class Rivals:
    """Looks for rivals of a candidate among all clips that may be in the benchmark."""

    def __init__(self, segments: Sequence[Segment], encoder: CachedEncoder, settings: BuildSettings) -> None:
        self._segments = segments
        self._encoder = encoder
        self._settings = settings
        shown = [segment.description for segment in segments]
        self._place = {segment.clip_id: at for at, segment in enumerate(segments)}
        self._alike: NDArray[np.bool_] = encoder.similarity(shown, shown) > settings.visual_similarity
        acts = sorted({_act(event) for segment in segments for event in segment.events})
        self._row = {act: at for at, act in enumerate(acts)}
        self._acts = encoder.similarity(acts, acts)
        objects = sorted({event.patient_canonical for segment in segments for event in segment.events})
        self._object = {name: at for at, name in enumerate(objects)}
        self._objects = encoder.similarity(objects, objects)

    def ambiguous(self, candidate: Candidate) -> bool:
        """Whether the question could be meant for another event than its own."""
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
        return anchor is not None and self._anchor_twice(candidate)

    def _anchor_twice(self, candidate: Candidate) -> bool:
        """Whether the anchor's words would fit a second event of the clip."""
        anchor = candidate.anchor
        assert anchor is not None
        return any(
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
    """The event without its object: "the man places something onto the shelf"."""
    return event_with(event, "something") or event.rewritten
