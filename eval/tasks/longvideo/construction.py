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
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from eval.runs.records import LETTERS
from eval.tasks.longvideo.dataset import KINDS, Kind, LongQuestion
from eval.workbench.catalogue import SCENES, action, place_name, predicate, scene
from eval.workbench.seeds import stream
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


@dataclass(frozen=True, slots=True)
class Event:
    """[start, end) seconds of the video; `part` counts from 0."""

    part: int
    agent: str
    action_id: str
    patient: str
    place: str | None
    sentence: str
    """ "the camera wearer wipes the towel with the cloth"."""
    start: float
    end: float

    @property
    def key(self) -> tuple[str, str, str | None]:
        """Who does what where, whatever it is done to."""
        return self.agent, self.action_id, self.place


@dataclass(frozen=True, slots=True)
class TimedText:
    """Words that are said, or that can be read, during [start, end)."""

    part: int
    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class VideoPart:
    """One scene of a video, [start, end) seconds."""

    number: int
    """From 1, as the video counts."""
    start: float
    end: float
    scene: str
    description: str
    """ "doing paperwork at a desk with a red globe and a blue fan in warm light"."""
    props: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class VideoTruth:
    """What happens, is said and can be read in one video."""

    name: str
    duration: float
    parts: tuple[VideoPart, ...]
    events: tuple[Event, ...]
    lines: tuple[TimedText, ...]
    cards: tuple[TimedText, ...]

    @cached_property
    def alone(self) -> frozenset[int]:
        """Indices of the parts whose scene and props are those of no other part."""
        looks = Counter((part.scene, frozenset(part.props)) for part in self.parts)
        return frozenset(
            index for index, part in enumerate(self.parts) if looks[part.scene, frozenset(part.props)] == 1
        )

    def of_part(self, index: int) -> tuple[Event, ...]:
        """The events of a part, by its index from 0."""
        return tuple(event for event in self.events if event.part == index)


def truth_of(truth: Mapping[str, Any]) -> VideoTruth:
    """One line of `events.jsonl`, of a long video. Raises KeyError for any other."""
    starts = [part["start"] for part in truth["parts"]]

    def timed(row: Mapping[str, Any], kind: Any, **derived: Any) -> Any:
        part = max(0, bisect_right(starts, row["start"] + 1e-6) - 1)
        return _from_row(kind, row, part=part, **derived)

    return VideoTruth(
        name=truth["video"],
        duration=truth["duration"],
        parts=tuple(
            _from_row(
                VideoPart, row, number=number, props=tuple((p["prop"], p["color"]) for p in row["props"])
            )
            for number, row in enumerate(truth["parts"], start=1)
        ),
        events=tuple(timed(row, Event, sentence=row["rewritten"]) for row in truth["events"]),
        lines=tuple(timed(row, TimedText) for row in truth["lines"]),
        cards=tuple(timed(row, TimedText) for row in truth["cards"]),
    )


def _from_row(kind: Any, row: Mapping[str, Any], **derived: Any) -> Any:
    """The dataclass `kind` from the row's fields of the same names, and those that are derived."""
    names = [one.name for one in fields(kind) if one.name not in derived]
    return kind(**{name: row[name] for name in names}, **derived)


def build_questions(
    videos: Sequence[VideoTruth], *, seed: int, shape: Mapping[Kind, int]
) -> list[LongQuestion]:
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


def _shuffled(draft: Draft, video: VideoTruth, question_id: str, seed: int) -> LongQuestion:
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


def needles(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """What is the object? Wrong options take part in the same kind of event elsewhere in the video."""
    for event in _distinct_events(video, rng):
        here = {other.patient for other in video.of_part(event.part)}
        same = {other.patient for other in video.events if other.key == event.key}
        alike = {other.patient for other in video.events if other.action_id == event.action_id}
        wrong = _sampled(rng, [sorted(same - here), sorted(alike - same - here)])
        if wrong is None:
            continue
        what = action(event.action_id)
        clause = predicate(what.phrases["test"][0], "", _place(event))
        shown = clip_with(video.parts[event.part].description)
        text = f"{shown}, what is the object that the {event.agent} {clause}?"
        yield Draft(
            "needle", text, f"the {event.patient}", tuple(f"the {name}" for name in wrong), _span(event)
        )


def causes(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """Why is it so? All options would cause the same, and each happens to something in the video."""
    for event in _distinct_events(video, rng):
        effect = _CAUSED.get(event.action_id)
        uses = [other for other in video.of_part(event.part) if other.patient == event.patient]
        if effect is None or len(uses) != 1:
            continue
        right = _because(event, event)
        alike = [other for other in video.events if _CAUSED.get(other.action_id) == effect]
        wrong = _sampled(rng, [sorted({_because(event, other) for other in alike} - {right})])
        if wrong is None:
            continue
        shown = clip_with(video.parts[event.part].description)
        text = f"{shown}, why {effect.format(o=f'the {event.patient}')}?"
        yield Draft("cause", text, right, wrong, _span(event))


def _because(event: Event, other: Event) -> str:
    """What the other event does, done by this one's agent: who does it is the same in all options."""
    clause = predicate(action(other.action_id).phrases["test"][0], "it", _place(other))
    return f"Because the {event.agent} {clause}."


def _distinct_events(video: VideoTruth, rng: random.Random) -> Iterator[Event]:
    """Events of distinguishable parts, alone of their key there, in random order."""
    keys = Counter((event.part, event.key) for event in video.events)
    fit = [event for event in video.events if event.part in video.alone and keys[event.part, event.key] == 1]
    yield from rng.sample(fit, len(fit))


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


def orders(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """Four events, each alone of its kind in the video."""
    counted = Counter(event.sentence for event in video.events)
    single = [event for event in video.events if counted[event.sentence] == 1]
    apart = min(MIN_GAP, video.duration / 8)
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


def counts(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """How many parts play at a place, and how often an action is done at one place or with one tool."""
    forms = [*_part_counts(video), *_event_counts(video)]
    for text, number in rng.sample(forms, len(forms)):
        near = [other for other in range(max(0, number - 3), number + 4) if other != number]
        wrong = rng.sample(near, 3)
        yield Draft("count", text, str(number), tuple(map(str, wrong)), (0.0, video.duration))


def _part_counts(video: VideoTruth) -> Iterator[tuple[str, int]]:
    played = Counter(part.scene for part in video.parts)
    for where in SCENES:
        number = played[where.scene_id]
        if number:
            yield f"How many parts of the film take place in {PLACES[where.scene_id]}?", number
    assert all(scene(name) for name in PLACES), "every scene has a name for its place"


def _event_counts(video: VideoTruth) -> Iterator[tuple[str, int]]:
    done = Counter((event.action_id, event.place) for event in video.events if event.place)
    for (action_id, place), number in sorted(done.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if 2 <= number <= 9 and place not in ("woman", "man", "camera wearer"):
            clause = predicate(action(action_id).phrases["test"][0], "something", place_name(str(place)))
            yield f"How many times in the whole film is it seen that somebody {clause}?", number


def _sentence(event: Event) -> str:
    return f"{event.sentence[0].upper()}{event.sentence[1:]}."


def readings(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """What does the note say? Wrong options are notes of other parts, of the same wording if there are."""
    notes = [card for card in video.cards if not _TITLE.match(card.text)]
    seen = Counter(card.text for card in notes)
    fit = [card for card in notes if card.part in video.alone and seen[card.text] == 1]
    for card in rng.sample(fit, len(fit)):
        form = _wording(card)
        alike = sorted({other.text for other in notes if _wording(other) == form} - {card.text})
        others = sorted({other.text for other in notes if _wording(other) != form})
        wrong = _sampled(rng, [alike, others])
        if wrong is None:
            continue
        shown = clip_with(video.parts[card.part].description)
        text = f"{shown}, what does the note on the screen say?"
        yield Draft("text", text, card.text, wrong, (card.start, card.end))


def sayings(video: VideoTruth, rng: random.Random) -> Iterator[Draft]:
    """Which part is announced where this is seen, and what is said next after a part is announced."""
    announced = {
        line.part: int(found["number"]) for line in video.lines if (found := _ANNOUNCED.match(line.text))
    }
    forms = [("number", part) for part in announced if part in video.alone]
    forms += [("next", part) for part in announced]
    for form, part in rng.sample(forms, len(forms)):
        draft = _announced(video, rng, part, announced) if form == "number" else _said_next(video, rng, part)
        if draft is not None:
            yield draft


def _announced(video: VideoTruth, rng: random.Random, part: int, announced: dict[int, int]) -> Draft | None:
    line = next(line for line in video.lines if line.part == part and _ANNOUNCED.match(line.text))
    others = sorted(number for number in announced.values() if number != announced[part])
    if len(others) < WRONG:
        return None
    wrong = tuple(f"Part {number}" for number in rng.sample(others, WRONG))
    shown = clip_with(video.parts[part].description)
    text = f"{shown}, which part of the film does the voice announce?"
    return Draft("spoken", text, f"Part {announced[part]}", wrong, (line.start, line.end))


def _said_next(video: VideoTruth, rng: random.Random, part: int) -> Draft | None:
    here = [line for line in video.lines if line.part == part]
    if len(here) < 2:
        return None
    said = {line.text for line in here}
    others = sorted(
        {line.text for line in video.lines if not _ANNOUNCED.match(line.text) and line.text not in said}
    )
    if len(others) < 3:
        return None
    text = f"After the voice says “{here[0].text}”, what does it say next?"
    return Draft("spoken", text, here[1].text, tuple(rng.sample(others, 3)), (here[1].start, here[1].end))


def _wording(card: TimedText) -> str:
    """The wording of a note without its numbers."""
    return _DIGITS.sub("#", card.text)


MAKERS: Mapping[Kind, Callable[[VideoTruth, random.Random], Iterator[Draft]]] = {
    "needle": needles,
    "order": orders,
    "count": counts,
    "cause": causes,
    "text": readings,
    "spoken": sayings,
}
