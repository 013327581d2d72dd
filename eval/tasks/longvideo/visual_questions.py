"""Questions that a short event decides: what is used, and why something is as it is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from eval.tasks.longvideo.records import Draft
from eval.tasks.longvideo.videos import LabelledVideo, VideoEvent
from eval.workbench.wording import action, place_name, predicate

WRONG = 3
EFFECTS: dict[str, tuple[str, ...]] = {
    "does {o} lie in another place in the end": ("pick_up", "place", "hang", "drop"),
    "is {o} clean in the end": ("wipe", "rinse", "dust"),
    "is {o} covered in the end": ("paint", "wrap", "spray"),
    "is more known of {o} in the end": ("measure", "weigh", "photograph"),
}
"""What is the case afterwards, and the actions of the world that bring it about, with anything at all."""
_CAUSED = {name: effect for effect, actions in EFFECTS.items() for name in actions}


def clip_with(description: str) -> str:
    """How a part of a film is named in a question: by what is seen there."""
    return f"In a clip that shows {description}"


def needles(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """What is the object? Wrong options take part in the same kind of event elsewhere in the film."""
    for event in _told_apart(video, rng):
        here = {other.patient for other in video.of_part(event.part)}
        same = {other.patient for other in video.events if other.key == event.key}
        alike = {other.patient for other in video.events if other.action_id == event.action_id}
        wrong = _drawn(rng, [sorted(same - here), sorted(alike - same - here)])
        if wrong is None:
            continue
        what = action(event.action_id)
        clause = predicate(what.phrases["test"][0], "", _place(event))
        shown = clip_with(video.parts[event.part].description)
        text = f"{shown}, what is the object that the {event.agent} {clause}?"
        yield Draft(
            "needle", text, f"the {event.patient}", tuple(f"the {name}" for name in wrong), _span(event)
        )


def causes(video: LabelledVideo, rng: random.Random) -> Iterator[Draft]:
    """Why is it so? All options would bring about the same, and each happens to something in the film."""
    for event in _told_apart(video, rng):
        effect = _CAUSED.get(event.action_id)
        uses = [other for other in video.of_part(event.part) if other.patient == event.patient]
        if effect is None or len(uses) != 1:
            continue
        right = _because(event, event)
        alike = [other for other in video.events if _CAUSED.get(other.action_id) == effect]
        wrong = _drawn(rng, [sorted({_because(event, other) for other in alike} - {right})])
        if wrong is None:
            continue
        shown = clip_with(video.parts[event.part].description)
        text = f"{shown}, why {effect.format(o=f'the {event.patient}')}?"
        yield Draft("cause", text, right, wrong, _span(event))


def _because(event: VideoEvent, other: VideoEvent) -> str:
    """What the other event does, done by this one's agent: who does it is the same in all options."""
    clause = predicate(action(other.action_id).phrases["test"][0], "it", _place(other))
    return f"Because the {event.agent} {clause}."


def _told_apart(video: LabelledVideo, rng: random.Random) -> Iterator[VideoEvent]:
    """Events of parts that can be described, alone of their key there, in random order."""
    keys = Counter((event.part, event.key) for event in video.events)
    fit = [event for event in video.events if event.part in video.alone and keys[event.part, event.key] == 1]
    yield from rng.sample(fit, len(fit))


def _place(event: VideoEvent) -> str | None:
    return place_name(event.place) if event.place else None


def _span(event: VideoEvent) -> tuple[float, float]:
    return event.start, event.end


def _drawn(rng: random.Random, pools: list[list[str]]) -> tuple[str, ...] | None:
    """Three of the first pool, then of the next; None where there are not as many."""
    found: list[str] = []
    for pool in pools:
        found += rng.sample(pool, min(len(pool), WRONG - len(found)))
    return tuple(found) if len(found) == WRONG else None
