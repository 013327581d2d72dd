"""Questions that need the whole film: which of four events comes first or last, and how often."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from eval.tasks.longvideo.records import Draft
from eval.tasks.longvideo.videos import LabelledVideo, VideoEvent
from eval.workbench.wording import (
    SCENES,
    action,
    place_name,
    predicate,
    scene,
)

MOST_TRIES = 1000
"""Order questions drawn of one film at most: one with few events repeats itself and has no more."""
APART = 90.0
"""Seconds between any two events of one order question, at least; an eighth of a short film."""
PLACES = {
    "garage": "the garage",
    "shed": "the tool shed",
    "kitchen": "the kitchen",
    "living": "the living room",
    "bedroom": "the bedroom",
    "desk": "the office",
    "bathroom": "the bathroom",
    "garden": "the garden",
}


def orders(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """Four events, each alone of its kind in the film."""
    counted = Counter(event.sentence for event in video.events)
    single = [event for event in video.events if counted[event.sentence] == 1]
    apart = min(APART, video.duration / 8)
    for _ in range(MOST_TRIES):
        chosen: list[VideoEvent] = []
        for event in rng.sample(single, len(single)):
            if all(abs(event.start - other.start) >= apart for other in chosen):
                chosen.append(event)
            if len(chosen) == 4:
                break
        if len(chosen) < 4:
            return
        chosen.sort(key=lambda event: event.start)
        end = rng.choice(("first", "last"))
        right = chosen[0] if end == "first" else chosen[-1]
        wrong = tuple(_told(event) for event in chosen if event is not right)
        text = f"Which of these happens {end} in the film?"
        yield Draft("order", text, _told(right), wrong, (right.start, right.end))


def counts(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """How many parts play at a place, and how often an action is done at one place or with one tool."""
    forms = [*_part_counts(video), *_event_counts(video)]
    for text, number in rng.sample(forms, len(forms)):
        near = [other for other in range(max(0, number - 3), number + 4) if other != number]
        wrong = rng.sample(near, 3)
        yield Draft("count", text, str(number), tuple(map(str, wrong)), (0.0, video.duration))


def _part_counts(video: LabelledVideo) -> Iterator[tuple[str, int]]:
    played = Counter(part.scene for part in video.parts)
    for where in SCENES:
        number = played[where.scene_id]
        if number:
            yield f"How many parts of the film take place in {PLACES[where.scene_id]}?", number
    assert all(scene(name) for name in PLACES), "every scene has a name for its place"


def _event_counts(video: LabelledVideo) -> Iterator[tuple[str, int]]:
    done = Counter((event.action_id, event.place) for event in video.events if event.place)
    for (action_id, place), number in sorted(done.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if 2 <= number <= 9 and place not in ("woman", "man", "camera wearer"):
            clause = predicate(action(action_id).phrases["test"][0], "something", place_name(str(place)))
            yield f"How many times in the whole film is it seen that somebody {clause}?", number


def _told(event: VideoEvent) -> str:
    return f"{event.sentence[0].upper()}{event.sentence[1:]}."
