"""Questions about planted films, each with its chain of evidence, before they are checked.

What is asked for: the `thing` that something is done with, the `action` that is
done with a thing, what a `card` on the screen says, what is said (`speech`).
Things and actions come with ten or eight options, the truth among them; cards and speech
are answered freely.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from corpora.events import CAMERA_WEARER
from eval.tasks.browsecomp.records import BrowseQuestion, Level, Source
from eval.tasks.browsecomp.workbench.target_insertion import Planted
from eval.workbench.catalogue import KINDS, Split, kind
from eval.workbench.long_videos import Part
from eval.workbench.seeds import stream
from eval.workbench.story import Event
from eval.workbench.wording import (
    ACTIONS,
    action,
    allows,
    place_name,
    predicate,
    scene,
)

THINGS, DOINGS = 10, 8
"""Options of a question for a thing, and for an action."""
FROM_FILM = 4
"""Of the wrong things, at most so many that the film shows elsewhere in use."""
CARDS: tuple[tuple[str, str], ...] = (
    (r"Room temperature: (\d+ degrees)", "which room temperature does a card on the screen give?"),
    (r"Order number (\d+)", "which order number can be read on the screen?"),
    (r"Budget: (\d+ euros)", "which budget does a card on the screen give?"),
    (r"Shelf code (\w+)", "which shelf code can be read on the screen?"),
    (r"Day (\d+) of the project", "which day of the project is it, as a card on the screen says?"),
    (r"Batch weight: (\d+ grams)", "which batch weight does a card on the screen give?"),
    (r"Locker (\w+)", "which locker is named on the screen?"),
    (r"(\d+ minutes) until lunch", "how many minutes are left until lunch, as a card on the screen says?"),
)
OTHERS = ("action", "card", "speech")
Item = TypeVar("Item")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The part of a question that is about a film itself."""

    kind: str
    text: str
    answers: tuple[str, ...]
    options: tuple[str, ...]
    start: float
    end: float
    genre: str
    proof: str


def draft(planted: Sequence[Planted], split: Split, seed: int) -> list[BrowseQuestion]:
    """Four questions of level 1 and three of level 2 for each film, and one of level 3 for each pointer."""
    asked = {each.number: _Stock(each, split, seed) for each in planted}
    found: list[BrowseQuestion] = []
    for each in planted:
        both: tuple[tuple[Level, str], ...] = (("level1", _explicit(each)), ("level2", _implicit(each)))
        for level, told in both:
            turn = each.number + (level == "level2")
            for wanted, name in (("thing", "a"), ("thing", "b"), (OTHERS[turn % len(OTHERS)], "c")):
                about = asked[each.number].take(wanted)
                if about is not None:
                    found.append(_question(level, told, about, [each], f"{level}-{each.number:03d}{name}"))
    for each in planted:
        if each.pointer is None:
            continue
        target = planted[each.pointer.target]
        wanted = "thing" if each.number % 3 else OTHERS[each.number // 3 % len(OTHERS)]
        about = asked[target.number].take(wanted)
        if about is not None:
            name = f"level3-{each.number:03d}a"
            found.append(_question("level3", _chained(each), about, [each, target], name))
    for each in planted:
        about = asked[each.number].take("thing")
        if about is not None:
            found.append(_question("level1", _explicit(each), about, [each], f"level1-{each.number:03d}d"))
    return found


def worded_day(day: object) -> str:
    """ "5 March 2024", from anything that says it as 2024-03-05."""
    year, month, date = str(day).split("-")
    return f"{int(date)} {MONTHS[int(month) - 1]} {year}"


def _explicit(each: Planted) -> str:
    upload = each.upload
    return f"The channel {upload.metadata.channel} uploaded a film on {worded_day(upload.upload_date)}."


def _implicit(each: Planted) -> str:
    return f"A video was made {each.occasion.other}, {each.detail.other}."


def _chained(each: Planted) -> str:
    assert each.pointer is not None
    how = "is said" if each.pointer.by == "speech" else "can be read on the screen"
    return (
        f"{_explicit(each)} In that film it {how} on which channel and under which title the work goes on. "
        "Look at that other film."
    )


def _question(level: Level, told: str, about: _Asked, videos: Sequence[Planted], name: str) -> BrowseQuestion:
    chain = [
        f"Find the film “{video.upload.metadata.title}” of {video.upload.metadata.channel}"
        for video in videos
    ]
    sources = []
    for video in videos:
        last = video is videos[-1]
        span = (about.start, about.end) if last else _pointed(video)
        urls = tuple(upload.url for upload in video.uploads)
        sources.append(Source(urls, video.upload.metadata.title, "source", "", *span))
    return BrowseQuestion(
        question_id=name,
        text=f"{told} {about.text}",
        answers=about.answers,
        level=level,
        genre=about.genre,
        evidence_chain=(*chain, about.proof),
        sources=tuple(sources),
        options=about.options,
        mode="workbench",
        kind=about.kind,
    )


def _pointed(video: Planted) -> tuple[float, float]:
    assert video.pointer is not None
    return video.pointer.start, video.pointer.end


class _Stock:
    """What can be asked of one film; each thing once."""

    def __init__(self, planted: Planted, split: Split, seed: int) -> None:
        self._planted, self._split = planted, split
        self._rng = stream("browsecomp draft", seed, split, planted.number)
        self._events = [(part, event) for part in planted.video.parts for event in part.story.events]
        self._uses = Counter((event.agent, event.action_id, event.place) for _, event in self._events)
        self._handled = Counter(event.kind_id for _, event in self._events)
        told = {line.text for line in planted.upload.lines}
        said = [event for _, event in self._events if f"Now {event.rewritten}." in told]
        self._said_things = {event.patient for event in said}
        self._aloud = " ".join(line.text for line in planted.upload.lines).lower()
        self._said_doings = {(event.action_id, event.place) for event in said}
        self._waiting = {
            "thing": self._things(),
            "action": self._actions(),
            "card": self._cards(),
            "speech": self._speech(),
        }

    def take(self, wanted: str) -> _Asked | None:
        return next(self._waiting[wanted], None)

    def _things(self) -> Iterator[_Asked]:
        for part, event in self._shuffled():
            if self._uses[event.agent, event.action_id, event.place] > 1 or self._says(event):
                continue
            options = self._other_things(event)
            if len(options) < THINGS or self._named_aloud(event.patient):
                continue
            clause = _clause(event, self._split)
            text = f"{self._where(part)} what does {clause}?"
            yield self._asked("thing", text, (event.patient,), options, part, event)

    def _named_aloud(self, thing: str) -> bool:
        """Also where something else that is said of has the thing in its name."""
        return re.search(rf"\b{re.escape(thing.lower())}\b", self._aloud) is not None

    def _actions(self) -> Iterator[_Asked]:
        for part, event in self._shuffled():
            if self._handled[event.kind_id] > 1 or self._says(event):
                continue
            right = _done(event.action_id, event.place, self._split)
            wrong = [done for done in self._other_doings(event) if done != right]
            options = self._shuffle([right, *wrong[: DOINGS - 1]])
            if len(set(options)) < DOINGS:
                continue
            text = f"{self._where(part)} what does the {event.agent} do with the {event.patient}?"
            yield self._asked("action", text, (right,), options, part, event)

    def _cards(self) -> Iterator[_Asked]:
        video = self._planted.video
        for pattern, asked in self._shuffle(list(CARDS)):
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
        each = self._planted
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
        return next(part for part in reversed(self._planted.video.parts) if part.start <= time)

    def _says(self, event: Event) -> bool:
        """Whether the thing, or the same done to another thing, is said aloud somewhere in the film."""
        return event.patient in self._said_things or (event.action_id, event.place) in self._said_doings

    def _other_things(self, event: Event) -> list[str]:
        """The thing and nine others that the same could be done with; some of them in use in this film.

        Nobody names one of them aloud, so that what is said tells nothing.
        """
        what = action(event.action_id)
        fit = [found.name for found in KINDS if allows(what, found) and found.name not in self._said_things]
        fit = [name for name in fit if name != event.patient]
        used = {other.patient for _, other in self._events} & set(fit)
        first = self._shuffle(sorted(used))[:FROM_FILM]
        rest = self._shuffle(sorted(set(fit) - set(first)))
        return self._shuffle([event.patient, *[*first, *rest][: THINGS - 1]])

    def _other_doings(self, event: Event) -> list[str]:
        """Everything else that could be done with the thing and is not said to be done in the film, one
        wording an action and a place each."""
        found = []
        for what in self._shuffle(list(ACTIONS)):
            if what.action_id == event.action_id or not allows(what, kind(event.kind_id)):
                continue
            places = [
                place
                for place in what.places
                if place != "person" and (what.action_id, place) not in self._said_doings
            ]
            if (what.places and not places) or (what.action_id, None) in self._said_doings:
                continue
            place = self._rng.choice(places) if places else None
            found.append(_done(what.action_id, place, self._split))
        return found

    def _shuffled(self) -> list[tuple[Part, Event]]:
        """Events with a place of their own, by the camera wearer first: their hands fill the picture."""
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
