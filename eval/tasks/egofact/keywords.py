"""Keyword-weighted vectors of clips (EgoFact, C.1): what is in a clip, each word with a relevance of 1 to 10.

The paper has a language model name the keywords and their relevance. Here
they are read off the event structures by rule: the activity 10, objects 8,
the things one acts on or with 6, actions 5, other people 4, scenarios 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import CAMERA_WEARER
from eval.tasks.egofact.records import Segment
from indexers.protocol import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eval.tasks.egofact.vectors import CachedEncoder

ACTIVITY, OBJECT, PLACE, ACTION, PERSON, SCENARIO = 10, 8, 6, 5, 4, 3


def keywords(segment: Segment) -> dict[str, int]:
    """Word or phrase to its relevance; the greatest where several rules name it."""
    found: dict[str, int] = {}

    def add(word: str | None, relevance: int) -> None:
        if word:
            found[word] = max(relevance, found.get(word, 0))

    add(segment.description, ACTIVITY)
    for scenario in segment.scenarios:
        add(scenario.lower(), SCENARIO)
    for event in segment.events:
        add(event.patient_canonical, OBJECT)
        for place in (
            event.patient_location,
            event.patient_destination,
            event.instrument,
            event.event_location,
        ):
            add(place, PLACE)
        add(event.action, ACTION)
        add(event.agent if event.agent != CAMERA_WEARER else None, PERSON)
    return found


def segment_vectors(segments: Sequence[Segment], encoder: CachedEncoder) -> NDArray[np.float32]:
    """The weighted mean of each clip's keyword vectors, as unit rows, float32 (n, dim)."""
    weighted = [keywords(segment) for segment in segments]
    encoder.encode_text(sorted({word for words in weighted for word in words}))
    rows = np.zeros((len(segments), encoder.dim), np.float32)
    for row, words in zip(rows, weighted, strict=True):
        weights = np.asarray(list(words.values()), np.float32)
        row[:] = weights @ encoder.encode_text(list(words)) / weights.sum()
    return unit_rows(rows)
