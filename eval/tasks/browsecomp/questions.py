"""Questions about target videos, each with its evidence chain, before they are checked.

What is asked for: the `thing` that something is done with, the `action` that is done with a thing, the
text of a `card` on the screen, what is said (`speech`). Things and actions have ten or eight options, the
right one among them; cards and speech are open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from corpora.records import CAMERA_WEARER
from eval.tasks.browsecomp.dataset import BrowseQuestion, Level, Source
from eval.tasks.synthetic_webs import WORDING, Paraphrase
from eval.workbench.catalogue import ACTIONS, KINDS, Split, action, allows, kind, place_name, predicate, scene
from eval.workbench.long_videos import LongVideo, Part
from eval.workbench.seeds import stream
from eval.workbench.story import Event
from eval.workbench.video import Line
from eval.workbench.web import Upload

OBJECTS, ACTION_OPTIONS = 10, 8
"""Options of a question for a thing, and for an action."""
FROM_VIDEO = 4
"""Of the wrong objects, at most so many that the video shows elsewhere in use."""
OTHERS = ("action", "card", "speech")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SpokenFact:
    """A line that is said in passing, and what can be asked of it."""

    line: str
    """`{word}` is the answer."""
    asked: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the work continues, as a video says or shows it during [start, end) seconds."""

    target: int
    """Number of the video that it leads to."""
    by: str
    """`speech` or `card`."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class TargetVideo:
    """A video that questions are about, with its plan."""

    number: int
    upload: Upload
    video: LongVideo
    """With all its cards."""
    occasion: Paraphrase
    detail: Paraphrase
    spoken: SpokenFact
    word: str
    said: Line
    """The line that holds `word`."""
    pointer: Pointer | None
    mirrors: tuple[Upload, ...] = ()

    @property
    def uploads(self) -> tuple[Upload, ...]:
        """The upload and its mirrors."""
        return (self.upload, *self.mirrors)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The part of a question that is about the contents of a video."""

    kind: str
    text: str
    answers: tuple[str, ...]
    options: tuple[str, ...]
    start: float
    end: float
    genre: str
    proof: str


def draft_questions(targets: Sequence[TargetVideo], split: Split, seed: int) -> list[BrowseQuestion]:
    """Four questions of level 1 and three of level 2 for each video, one of level 3 for each pointer."""
    pools = {each.number: _QuestionPool(each, split, seed) for each in targets}
    found: list[BrowseQuestion] = []

    def add(level: Level, intro: str, wanted: str, chain: Sequence[TargetVideo], name: str) -> None:
        asked = pools[chain[-1].number].take(wanted)
        if asked is not None:
            found.append(_question(level, intro, asked, chain, f"{level}-{name}"))

    for each in targets:
        both: tuple[tuple[Level, str], ...] = (("level1", _explicit(each)), ("level2", _implicit(each)))
        for level, intro in both:
            other = OTHERS[(each.number + (level == "level2")) % len(OTHERS)]
            for wanted, letter in (("thing", "a"), ("thing", "b"), (other, "c")):
                add(level, intro, wanted, [each], f"{each.number:03d}{letter}")
    for each in targets:
        if each.pointer is not None:
            wanted = "thing" if each.number % 3 else OTHERS[each.number // 3 % len(OTHERS)]
            add("level3", _chained(each), wanted, [each, targets[each.pointer.target]], f"{each.number:03d}a")
    for each in targets:
        add("level1", _explicit(each), "thing", [each], f"{each.number:03d}d")
    return found


def _explicit(each: TargetVideo) -> str:
    channel, day = each.upload.metadata.channel, each.upload.upload_date
    return f"The channel {channel} uploaded a film on {day.day} {day:%B %Y}."


def _implicit(each: TargetVideo) -> str:
    return f"A video was made {each.occasion.other}, {each.detail.other}."


def _chained(each: TargetVideo) -> str:
    assert each.pointer is not None
    how = "is said" if each.pointer.by == "speech" else "can be read on the screen"
    return (
        f"{_explicit(each)} In that film it {how} on which channel and under which title the work goes on. "
        "Look at that other film."
    )


def _question(
    level: Level, intro: str, asked: _Asked, targets: Sequence[TargetVideo], name: str
) -> BrowseQuestion:
    chain, sources = [], []
    for one in targets:
        metadata = one.upload.metadata
        chain.append(f"Find the film “{metadata.title}” of {metadata.channel}")
        span = (asked.start, asked.end) if one is targets[-1] else _pointer_span(one)
        urls = tuple(upload.url for upload in one.uploads)
        sources.append(Source(urls, metadata.title, "source", "", *span))
    return BrowseQuestion(
        question_id=name,
        text=f"{intro} {asked.text}",
        answers=asked.answers,
        level=level,
        genre=asked.genre,
        evidence_chain=(*chain, asked.proof),
        sources=tuple(sources),
        options=asked.options,
        mode="workbench",
        kind=asked.kind,
    )


def _pointer_span(target: TargetVideo) -> tuple[float, float]:
    assert target.pointer is not None
    return target.pointer.start, target.pointer.end


class _QuestionPool:
    """What can be asked of one video, each item once."""

    def __init__(self, target: TargetVideo, split: Split, seed: int) -> None:
        self._target, self._split = target, split
        self._rng = stream("browsecomp draft", seed, split, target.number)
        self._events = [(part, event) for part in target.video.parts for event in part.story.events]
        self._uses = Counter((event.agent, event.action_id, event.place) for _, event in self._events)
        self._handled = Counter(event.kind_id for _, event in self._events)
        lines = {line.text for line in target.upload.lines}
        said = [event for _, event in self._events if f"Now {event.rewritten}." in lines]
        self._spoken_objects = {event.patient for event in said}
        self._speech_text = " ".join(line.text for line in target.upload.lines).lower()
        self._spoken_actions = {(event.action_id, event.place) for event in said}
        self._pools = {
            "thing": self._objects(),
            "action": self._actions(),
            "card": self._cards(),
            "speech": self._speech(),
        }

    def take(self, wanted: str) -> _Asked | None:
        return next(self._pools[wanted], None)

    def _objects(self) -> Iterator[_Asked]:
        for part, event in self._shuffled():
            if self._uses[event.agent, event.action_id, event.place] > 1 or self._event_is_spoken(event):
                continue
            options = self._object_options(event)
            if len(options) < OBJECTS or self._is_spoken(event.patient):
                continue
            clause = _clause(event, self._split)
            text = f"{self._where(part)} what does {clause}?"
            yield self._asked("thing", text, (event.patient,), options, part, event)

    def _is_spoken(self, thing: str) -> bool:
        """Also where something else that is said of has the thing in its name."""
        return re.search(rf"\b{re.escape(thing.lower())}\b", self._speech_text) is not None

    def _actions(self) -> Iterator[_Asked]:
        for part, event in self._shuffled():
            if self._handled[event.kind_id] > 1 or self._event_is_spoken(event):
                continue
            right = _done(event.action_id, event.place, self._split)
            wrong = [done for done in self._action_options(event) if done != right]
            options = self._shuffle([right, *wrong[: ACTION_OPTIONS - 1]])
            if len(set(options)) < ACTION_OPTIONS:
                continue
            text = f"{self._where(part)} what does the {event.agent} do with the {event.patient}?"
            yield self._asked("action", text, (right,), options, part, event)

    def _cards(self) -> Iterator[_Asked]:
        video = self._target.video
        for pattern, asked in self._shuffle(WORDING["browsing"]["cards"]):
            shown = [card for card in video.cards if re.fullmatch(pattern, card.text)]
            if len(shown) != 1:
                continue
            card = shown[0]
            value = re.fullmatch(pattern, card.text)
            assert value is not None
            part = self._part_at(card.start)
            proof = f"The card from {card.start:g} s on reads “{card.text}”"
            text = f"{self._where(part)} {asked}"
            truth = (value[1], card.text)
            yield _Asked("card", text, truth, (), card.start, card.end, part.story.scene, proof)

    def _speech(self) -> Iterator[_Asked]:
        each = self._target
        part = self._part_at(each.said.start)
        proof = f"At {each.said.start:g} s it is said: “{each.said.text}”"
        truth = (each.word, each.said.text)
        asked = each.spoken.asked
        text = f"In that film, {asked}"
        yield _Asked("speech", text, truth, (), each.said.start, each.said.end, part.story.scene, proof)

    def _asked(
        self, kind_: str, text: str, answers: tuple[str, ...], options: list[str], part: Part, event: Event
    ) -> _Asked:
        start, end = round(part.start + event.start, 3), round(part.start + event.end, 3)
        proof = f"From {start:g} s to {end:g} s {event.rewritten}"
        return _Asked(kind_, text, answers, tuple(options), start, end, part.story.scene, proof)

    def _where(self, part: Part) -> str:
        """The part by other words than those of its own heading."""
        phrases = [p for p in scene(part.story.scene).phrases[self._split] if p != part.heading.lower()]
        return f"In the clip that shows {phrases[0] if phrases else part.heading.lower()},"

    def _part_at(self, time: float) -> Part:
        return next(part for part in reversed(self._target.video.parts) if part.start <= time)

    def _event_is_spoken(self, event: Event) -> bool:
        """Whether the thing, or the same done to another thing, is said aloud in the video."""
        return event.patient in self._spoken_objects or (event.action_id, event.place) in self._spoken_actions

    def _object_options(self, event: Event) -> list[str]:
        """The thing and nine others that the same could be done with; some of them in use in this video.

        None of them is named aloud, so the speech does not give the answer away.
        """
        what = action(event.action_id)
        fit = [
            found.name for found in KINDS if allows(what, found) and found.name not in self._spoken_objects
        ]
        fit = [name for name in fit if name != event.patient]
        used = {other.patient for _, other in self._events} & set(fit)
        first = self._shuffle(sorted(used))[:FROM_VIDEO]
        rest = self._shuffle(sorted(set(fit) - set(first)))
        return self._shuffle([event.patient, *[*first, *rest][: OBJECTS - 1]])

    def _action_options(self, event: Event) -> list[str]:
        """Everything else that could be done with the thing and is not said to be done in the video, one
        wording an action and a place each."""
        found = []
        for what in self._shuffle(list(ACTIONS)):
            if what.action_id == event.action_id or not allows(what, kind(event.kind_id)):
                continue
            places = [
                place
                for place in what.places
                if place != "person" and (what.action_id, place) not in self._spoken_actions
            ]
            if (what.places and not places) or (what.action_id, None) in self._spoken_actions:
                continue
            place = self._rng.choice(places) if places else None
            found.append(_done(what.action_id, place, self._split))
        return found

    def _shuffled(self) -> list[tuple[Part, Event]]:
        """Events with a place of their own, by the camera wearer first: their hands fill the frame."""
        own = [pair for pair in self._events if pair[1].agent == CAMERA_WEARER and pair[1].place is not None]
        return self._shuffle(own)

    def _shuffle(self, items: list[Item]) -> list[Item]:
        held = list(items)
        self._rng.shuffle(held)
        return held


def _clause(event: Event, split: Split) -> str:
    """ "the camera wearer plug into the wall socket", as a question goes on after "what does"."""
    place = place_name(event.place) if event.place else None
    does, _, rest = predicate(action(event.action_id).phrases[split][0], "", place).partition(" ")
    return f"the {event.agent} {does.removesuffix('s')} {rest}".rstrip()


def _done(action_id: str, place: str | None, split: Split) -> str:
    """ "plugs it into the wall socket"."""
    named = place_name(place) if place else None
    return predicate(action(action_id).phrases[split][0], "it", named)
