"""Hand-made events, clips and passages for tests of the EgoFact builder, and an encoder of words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eval.tasks.egofact.construction.records import EventStructure, FactPassage, Segment, Statement
from eval.tasks.egofact.construction.segments import CachedEncoder
from eval.tasks.egofact.records import Query
from indexers.protocol import TextEncoder

THINGS = ("kettle", "hammer", "mug", "candle", "towel", "pencil", "razor", "sponge", "laptop", "trowel")
PLACES = ("bench", "rug", "stove", "ladder", "cupboard", "mat", "bucket", "trunk")
"""No two share a word with each other or with a thing."""


ONE_HOP = Query(
    query_id="q1",
    text="what is it?",
    options=("a", "b", "c", "d", "e", "f"),
    answer="B",
    family="temporal-1hop",
    clip_id="a:00000",
    window=(1.0, 3.5),
    seen=(1.5, 2.5),
    anchor=(4.0, 6.0),
    position="before",
    passage=None,
    option_passages=(None,) * 6,
    truth=("object-distractor", "true", *("object-distractor",) * 4),
    order=(0, 5, 1, 2, 3, 4),
    seed=7,
)
TWO_HOP = replace(
    ONE_HOP,
    query_id="q2",
    family="local-2hop",
    anchor=None,
    seen=None,
    position="within",
    passage="p2",
    option_passages=("p0", "p2", "p0", "p1", "p1", "p2"),
    truth=(
        "counterfact-distractor",
        "true",
        "fact-distractor",
        "counterfact-distractor",
        "fact-distractor",
        "counterfact",
    ),
)


class WordEncoder(TextEncoder):
    """A text is the sum of a fixed random vector for each of its words: shared words are all there is."""

    name, dim, backend, batch = "words", 256, "numpy", 1
    weights = fingerprint = "words"

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.stack([sum(map(_word, text.lower().split()), np.zeros(self.dim)) for text in texts])
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def _word(word: str) -> NDArray[np.float64]:
    digest = hashlib.blake2b(word.strip(".,?").encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(256)


def words() -> CachedEncoder:
    return CachedEncoder(WordEncoder())


def event(
    thing: str,
    start: float,
    *,
    place: str = "bench",
    agent: str = "camera wearer",
    verb: str = "put",
    end: float | None = None,
) -> EventStructure:
    """ "the camera wearer puts the kettle onto the bench", two seconds long."""
    stop = start + 2.0 if end is None else end
    return EventStructure(
        rewritten=f"the {agent} {verb}s the {thing} onto the {place}",
        agent=agent,
        action=verb,
        patient=thing,
        patient_canonical=thing,
        patient_location=None,
        patient_destination=place,
        instrument=None,
        event_location=None,
        start=start,
        end=stop,
    )


def segment(name: str, description: str, events: Sequence[EventStructure]) -> Segment:
    return Segment(f"{name}:00000", f"videos/{name}.mp4", 0.0, 30.0, tuple(events), (), description)


def world(clips: int) -> list[Segment]:
    """Clips of four events 3 s apart, on ever other things at ever other places; no two clips look alike."""
    found = []
    for clip in range(clips):
        events = [
            event(
                THINGS[(clip + 3 * at) % len(THINGS)],
                1.0 + 5.0 * at,
                place=PLACES[(clip + at) % len(PLACES)],
                verb=("put", "throw", "hang", "turn")[at],
            )
            for at in range(4)
        ]
        found.append(segment(f"clip{clip:03d}", f"scene{clip} colour{clip} view{clip}", events))
    return found


def passages() -> list[FactPassage]:
    """Two for each thing, each of its own activity and with a fact of its own."""
    return [
        FactPassage(
            f"{thing}--{turn}",
            f"{thing}",
            f"The {thing} matters. Store it at {at * 2 + turn + 3} degrees in the {turn} box. Keep it dry.",
            thing,
            f"job {at} {turn}",
            (
                Statement(
                    f"It is stored at {at * 2 + turn + 3} degrees.",
                    (f"It is stored at {at * 2 + turn + 43} degrees.", f"It is stored at {at} metres."),
                ),
            ),
        )
        for at, thing in enumerate(THINGS)
        for turn in range(2)
    ]
