"""Synthetic questions about long videos, from what happens in them: so many of each kind a video.

Nothing is rendered for this: the plan of a video has its events, lines and cards.
"""

from __future__ import annotations

import itertools
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from eval.runs.records import LETTERS
from eval.tasks.longvideo.dataset import KINDS, Kind, LongQuestion
from eval.workbench.catalogue import SCENES, action, place_name, predicate, scene
from eval.workbench.long_videos import Card, LongVideo
from eval.workbench.seeds import stream
from eval.workbench.story import Event
from eval.workbench.video import Line
from rag.errors import UsageError

MAX_ORDER_TRIES = 1000
"""Order questions drafted of one video: one with few events repeats itself and has no more."""
MIN_GAP = 90.0
"""Seconds between any two events of one order question, at least; an eighth of a short video."""
WRONG = 3
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
EFFECTS: dict[str, tuple[str, ...]] = {
    "does {o} lie in another place in the end": ("pick_up", "place", "hang", "drop"),
    "is {o} clean in the end": ("wipe", "rinse", "dust"),
    "is {o} covered in the end": ("paint", "wrap", "spray"),
    "is more known of {o} in the end": ("measure", "weigh", "photograph"),
}
"""What is the case afterwards, and the actions of the world that cause it, with anything at all."""
_CAUSED = {name: effect for effect, actions in EFFECTS.items() for name in actions}
_ANNOUNCED = re.compile(r"This is part (?P<number>\d+)\.")
_TITLE = re.compile(r"\d+  ")
_DIGITS = re.compile(r"[A-Z]?\d+")


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its options are shuffled."""

    kind: Kind
    text: str
    right: str
    wrong: tuple[str, ...]
    window: tuple[float, float]
    """[start, end) seconds of the video that decide it; for a count, the whole video."""


@dataclass(frozen=True)
class Film:
    """The plan of a video under the name of its file."""

    name: str
    plan: LongVideo

    @cached_property
    def events(self) -> list[tuple[int, Event]]:
        """All events with seconds of the video, each behind the index of its part."""
        return [
            (at, replace(event, start=round(start + event.start, 3), end=round(start + event.end, 3)))
            for at, (start, part) in enumerate((part.start, part) for part in self.plan.parts)
            for event in part.story.events
        ]

    def of_part(self, index: int) -> list[Event]:
        """The events of a part, by its index from 0."""
        return [event for at, event in self.events if at == index]

    def part_at(self, time: float) -> int:
        """Index of the part that a line or a card is in."""
        return max(0, bisect_right([part.start for part in self.plan.parts], time + 1e-6) - 1)

    def description(self, index: int) -> str:
        """ "doing paperwork at a desk with a red globe and a blue fan in warm light"."""
        return self.plan.parts[index].story.description

    @cached_property
    def alone(self) -> frozenset[int]:
        """Indices of the parts whose scene and props are those of no other part."""
        looks = [
            (part.story.scene, frozenset((prop.prop_id, prop.color) for prop in part.story.props))
            for part in self.plan.parts
        ]
        return frozenset(index for index, look in enumerate(looks) if looks.count(look) == 1)


def build_questions(videos: Sequence[Film], *, seed: int, shape: Mapping[Kind, int]) -> list[LongQuestion]:
    """So many questions of each kind a video, in the order of videos and kinds.

    The same videos and seed give the same questions. Raises `UsageError` where a video has too few.
    """
    built: list[LongQuestion] = []
    for video in sorted(videos, key=lambda video: video.name):
        for kind in KINDS:
            rng = stream("longvideo", seed, video.name, kind)
            drafts = list(itertools.islice(_distinct(MAKERS[kind](video, rng)), shape[kind]))
            if len(drafts) < shape[kind]:
                raise UsageError(
                    f"{video.name}: only {len(drafts)} of {shape[kind]} questions of kind {kind}"
                )
            built += [
                _shuffled(draft, video, f"{video.name.removesuffix('.mp4')}-{kind}-{number}", seed)
                for number, draft in enumerate(drafts, start=1)
            ]
    return built


def _distinct(drafts: Iterator[Draft]) -> Iterator[Draft]:
    """Each question once: a text may be asked again only where it takes its sense from its options."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for draft in drafts:
        options = frozenset([draft.right, *draft.wrong])
        asked = (draft.text, options if draft.kind == "order" else frozenset())
        if asked not in seen and len(options) == len(draft.wrong) + 1:
            seen.add(asked)
            yield draft


def _shuffled(draft: Draft, video: Film, question_id: str, seed: int) -> LongQuestion:
    options = [*draft.wrong, draft.right]
    order = list(range(len(options)))
    stream("longvideo options", seed, question_id).shuffle(order)
    return LongQuestion(
        question_id=question_id,
        kind=draft.kind,
        video=video.name,
        text=draft.text,
        options=tuple(options[place] for place in order),
        answer=LETTERS[order.index(len(options) - 1)],
        order=tuple(order),
        window=draft.window,
    )


def clip_with(description: str) -> str:
    """How a question refers to a part of a video: by what is seen there."""
    return f"In a clip that shows {description}"


def needles(video: Film, rng: random.Random) -> Iterator[Draft]:
    """What is the object? Wrong options take part in the same kind of event elsewhere in the video."""
    for at, event in _distinct_events(video, rng):
        here = {other.patient for other in video.of_part(at)}
        same = {other.patient for _, other in video.events if _key(other) == _key(event)}
        alike = {other.patient for _, other in video.events if other.action_id == event.action_id}
        wrong = _sampled(rng, [sorted(same - here), sorted(alike - same - here)])
        if wrong is None:
            continue
        what = action(event.action_id)
        clause = predicate(what.phrases["test"][0], "", _place(event))
        shown = clip_with(video.description(at))
        text = f"{shown}, what is the object that the {event.agent} {clause}?"
        yield Draft(
            "needle", text, f"the {event.patient}", tuple(f"the {name}" for name in wrong), _span(event)
        )


def causes(video: Film, rng: random.Random) -> Iterator[Draft]:
    """Why is it so? All options would cause the same, and each happens to something in the video."""
    for at, event in _distinct_events(video, rng):
        effect = _CAUSED.get(event.action_id)
        uses = [other for other in video.of_part(at) if other.patient == event.patient]
        if effect is None or len(uses) != 1:
            continue
        right = _because(event, event)
        alike = [other for _, other in video.events if _CAUSED.get(other.action_id) == effect]
        wrong = _sampled(rng, [sorted({_because(event, other) for other in alike} - {right})])
        if wrong is None:
            continue
        shown = clip_with(video.description(at))
        text = f"{shown}, why {effect.format(o=f'the {event.patient}')}?"
        yield Draft("cause", text, right, wrong, _span(event))


def _because(event: Event, other: Event) -> str:
    """What the other event does, done by this one's agent: who does it is the same in all options."""
    clause = predicate(action(other.action_id).phrases["test"][0], "it", _place(other))
    return f"Because the {event.agent} {clause}."


def _distinct_events(video: Film, rng: random.Random) -> list[tuple[int, Event]]:
    """Events of distinguishable parts, alone of their key there, in random order."""
    keys = Counter((at, _key(event)) for at, event in video.events)
    fit = [(at, event) for at, event in video.events if at in video.alone and keys[at, _key(event)] == 1]
    return rng.sample(fit, len(fit))


def _key(event: Event) -> tuple[str, str, str | None]:
    """Who does what where, whatever it is done to."""
    return event.agent, event.action_id, event.place


def _place(event: Event) -> str | None:
    return place_name(event.place) if event.place else None


def _span(event: Event) -> tuple[float, float]:
    return event.start, event.end


def _sampled(rng: random.Random, pools: list[list[str]]) -> tuple[str, ...] | None:
    """Three of the first pool, then of the next; None where there are not as many."""
    found: list[str] = []
    for pool in pools:
        found += rng.sample(pool, min(len(pool), WRONG - len(found)))
    return tuple(found) if len(found) == WRONG else None


def orders(video: Film, rng: random.Random) -> Iterator[Draft]:
    """Four events, each alone of its kind in the video."""
    counted = Counter(event.rewritten for _, event in video.events)
    single = [event for _, event in video.events if counted[event.rewritten] == 1]
    apart = min(MIN_GAP, video.plan.duration / 8)
    for _ in range(MAX_ORDER_TRIES):
        chosen: list[Event] = []
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
        wrong = tuple(_sentence(event) for event in chosen if event is not right)
        text = f"Which of these happens {end} in the film?"
        yield Draft("order", text, _sentence(right), wrong, (right.start, right.end))


def counts(video: Film, rng: random.Random) -> Iterator[Draft]:
    """How many parts play at a place, and how often an action is done at one place or with one tool."""
    forms = [*_part_counts(video), *_event_counts(video)]
    for text, number in rng.sample(forms, len(forms)):
        near = [other for other in range(max(0, number - 3), number + 4) if other != number]
        wrong = rng.sample(near, 3)
        yield Draft("count", text, str(number), tuple(map(str, wrong)), (0.0, video.plan.duration))


def _part_counts(video: Film) -> Iterator[tuple[str, int]]:
    played = Counter(part.story.scene for part in video.plan.parts)
    for where in SCENES:
        number = played[where.scene_id]
        if number:
            yield f"How many parts of the film take place in {PLACES[where.scene_id]}?", number
    assert all(scene(name) for name in PLACES), "every scene has a name for its place"


def _event_counts(video: Film) -> Iterator[tuple[str, int]]:
    done = Counter((event.action_id, event.place) for _, event in video.events if event.place)
    for (action_id, place), number in sorted(done.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if 2 <= number <= 9 and place not in ("woman", "man", "camera wearer"):
            clause = predicate(action(action_id).phrases["test"][0], "something", place_name(str(place)))
            yield f"How many times in the whole film is it seen that somebody {clause}?", number


def _sentence(event: Event) -> str:
    return f"{event.rewritten[0].upper()}{event.rewritten[1:]}."


def readings(video: Film, rng: random.Random) -> Iterator[Draft]:
    """What does the note say? Wrong options are notes of other parts, of the same wording if there are."""
    notes = [card for card in video.plan.cards if not _TITLE.match(card.text)]
    seen = Counter(card.text for card in notes)
    fit = [card for card in notes if video.part_at(card.start) in video.alone and seen[card.text] == 1]
    for card in rng.sample(fit, len(fit)):
        form = _wording(card)
        alike = sorted({other.text for other in notes if _wording(other) == form} - {card.text})
        others = sorted({other.text for other in notes if _wording(other) != form})
        wrong = _sampled(rng, [alike, others])
        if wrong is None:
            continue
        shown = clip_with(video.description(video.part_at(card.start)))
        text = f"{shown}, what does the note on the screen say?"
        yield Draft("text", text, card.text, wrong, (card.start, card.end))


def sayings(video: Film, rng: random.Random) -> Iterator[Draft]:
    """Which part is announced where this is seen, and what is said next after a part is announced."""
    announced = {
        video.part_at(line.start): int(found["number"])
        for line in video.plan.lines
        if (found := _ANNOUNCED.match(line.text))
    }
    forms = [("number", part) for part in announced if part in video.alone]
    forms += [("next", part) for part in announced]
    for form, part in rng.sample(forms, len(forms)):
        draft = _announced(video, rng, part, announced) if form == "number" else _said_next(video, rng, part)
        if draft is not None:
            yield draft


def _announced(video: Film, rng: random.Random, part: int, announced: dict[int, int]) -> Draft | None:
    line = next(line for line in _said_in(video, part) if _ANNOUNCED.match(line.text))
    others = sorted(number for number in announced.values() if number != announced[part])
    if len(others) < WRONG:
        return None
    wrong = tuple(f"Part {number}" for number in rng.sample(others, WRONG))
    shown = clip_with(video.description(part))
    text = f"{shown}, which part of the film does the voice announce?"
    return Draft("spoken", text, f"Part {announced[part]}", wrong, (line.start, line.end))


def _said_next(video: Film, rng: random.Random, part: int) -> Draft | None:
    here = _said_in(video, part)
    if len(here) < 2:
        return None
    said = {line.text for line in here}
    others = sorted(
        {line.text for line in video.plan.lines if not _ANNOUNCED.match(line.text) and line.text not in said}
    )
    if len(others) < 3:
        return None
    text = f"After the voice says “{here[0].text}”, what does it say next?"
    return Draft("spoken", text, here[1].text, tuple(rng.sample(others, 3)), (here[1].start, here[1].end))


def _said_in(video: Film, part: int) -> list[Line]:
    return [line for line in video.plan.lines if video.part_at(line.start) == part]


def _wording(card: Card) -> str:
    """The wording of a note without its numbers."""
    return _DIGITS.sub("#", card.text)


MAKERS: Mapping[Kind, Callable[[Film, random.Random], Iterator[Draft]]] = {
    "needle": needles,
    "order": orders,
    "count": counts,
    "cause": causes,
    "text": readings,
    "spoken": sayings,
}
