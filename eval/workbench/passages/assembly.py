"""Passages put together out of the written sentences, always in the same way.

Which of its equally likely values a particular has in a passage is drawn from a
hash, each by itself: nothing but the passage tells a fact from a counter-fact, and
to know all other passages does not help either. No two things of one activity have
a topic in common, so that a statement finds its own passage.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from random import Random

from eval.workbench.passages.activities import Activity, activities
from eval.workbench.passages.parsing import (
    Particular,
    Slot,
    Topic,
    Value,
    about_things,
    topics,
)
from eval.workbench.passages.things import Thing, thing

STATEMENTS = 2
COUNTERFACTS = 3
OWN_FACTS = 1
OPENINGS = (
    "When {doing}, people do well to {way} with some thought.",
    "Anybody {doing} will sooner or later have to {way}.",
    "Learn how to {way} before you start {doing}.",
    "Knowing how to {way} pays when {doing}.",
    "Much goes wrong when {doing} unless you {way} properly.",
    "It takes some care to {way} when you are {doing}.",
)

Choice = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    fact: str
    counterfacts: tuple[str, str, str]
    told: str
    """The sentence of the passage."""
    particular: str


@dataclass(frozen=True, slots=True)
class Assembled:
    thing: Thing
    activity: str
    title: str
    text: str
    claims: tuple[Claim, ...]


def assembled() -> list[Assembled]:
    """All passages in the order of activities and their things."""
    board = _Board()
    return [board.passage(activity, thing(name)) for activity in activities() for name in activity.things]


class _Board:
    """What has been given out so far."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()
        self._by_activity: dict[str, set[str]] = {}
        self._by_thing: dict[str, set[str]] = {}
        self._count: Counter[str] = Counter()

    def passage(self, activity: Activity, about: Thing) -> Assembled:
        rng = Random(_seed(activity.name, about.name))
        turn = self._count[about.name]
        self._count[about.name] += 1
        topic = self._topic(activity, about)
        chosen = self._particulars(topic, about)
        claims = tuple(self._claim(found, about, rng) for found in chosen)
        own = about_things()[about.name]
        known = [own[(turn + 2 * step) % len(own)] for step in range(OWN_FACTS)]
        way = topic.heading.format(x=f"the {about.name}")
        opening = OPENINGS[rng.randrange(len(OPENINGS))].format(way=way, doing=activity.name)
        remark = topic.remarks[turn % len(topic.remarks)]
        # The activity stands beside each fact, or the same fact of another activity would be found as well.
        first = f"When {activity.name}, {claims[0].told[0].lower()}{claims[0].told[1:]}"
        second = f"{claims[1].told.removesuffix('.')} when {activity.name}."
        lines = [opening, remark, first, known[0], second, *known[1:], activity.remarks[turn % 2]]
        one, other = (found.heading for found in chosen)
        ways = f"{one.format(x=about.indefinite)} and {other.format(x=about.pronoun)}"
        title = f"How to {ways} when {activity.name}"
        return Assembled(about, activity.name, title, " ".join(lines), claims)

    def _topic(self, activity: Activity, about: Thing) -> Topic:
        """One that suits the thing, new to the activity and to the thing, of those given least so far."""
        used = self._by_activity.setdefault(activity.name, set())
        own = self._by_thing.setdefault(about.name, set())
        fitting = [topic for topic in topics() if topic.heading not in used | own]
        fitting = [topic for topic in fitting if len(_suitable(topic, about)) >= STATEMENTS]
        topic = min(
            fitting, key=lambda t: (self._given[t.heading], _seed(t.heading, activity.name, about.name))
        )
        self._given[topic.heading] += 1
        used.add(topic.heading)
        own.add(topic.heading)
        return topic

    def _particulars(self, topic: Topic, about: Thing) -> list[Particular]:
        """Those given least so far."""
        fitting = sorted(_suitable(topic, about), key=lambda found: (self._given[found.name], found.name))
        for found in fitting[:STATEMENTS]:
            self._given[found.name] += 1
        return fitting[:STATEMENTS]

    def _claim(self, found: Particular, about: Thing, rng: Random) -> Claim:
        truth = tuple(rng.choice(slot.values) for slot in found.slots)
        rivals = _rivals(found.slots, truth, rng)
        frame = found.frames[self._given[found.name] % len(found.frames)]
        return Claim(
            fact=_stated(found, truth),
            counterfacts=(
                _stated(found, rivals[0]),
                _stated(found, rivals[1]),
                _stated(found, rivals[2]),
            ),
            told=_told(frame, found.slots, truth, about),
            particular=found.name,
        )


def _suitable(topic: Topic, about: Thing) -> list[Particular]:
    return [found for found in topic.particulars if _suits(found, about)]


def _suits(found: Particular, about: Thing) -> bool:
    """Whether it may be said of the thing at all, and in words that do not give the thing away."""
    said = found.statement + " " + " ".join(v.stated for slot in found.slots for v in slot.values)
    spoken = {form for word in re.findall(r"[a-z]+", said.lower()) for form in (word, word.removesuffix("s"))}
    return not (found.unsuited & about.tags or spoken & about.telltale)


def _rivals(slots: tuple[Slot, ...], truth: Choice, rng: Random) -> list[Choice]:
    """Three that differ from the truth in one slot each, from different slots as far as they go."""
    by_slot = []
    for at, slot in enumerate(slots):
        others = [value for value in slot.values if value != truth[at]]
        rng.shuffle(others)
        by_slot.append([(*truth[:at], other, *truth[at + 1 :]) for other in others])
    rng.shuffle(by_slot)
    depth = max(map(len, by_slot))
    dealt = [row[step] for step in range(depth) for row in by_slot if step < len(row)]
    return dealt[:COUNTERFACTS]


def _stated(found: Particular, choice: Choice) -> str:
    words = {slot.name: value.stated for slot, value in zip(found.slots, choice, strict=True)}
    return _articled(found.statement.format(**words))


def _told(frame: str, slots: tuple[Slot, ...], choice: Choice, about: Thing) -> str:
    words = {slot.name: value.told for slot, value in zip(slots, choice, strict=True)}
    stated = {f"={slot.name}": value.stated for slot, value in zip(slots, choice, strict=True)}
    text = re.sub(r"\{(=?\w+)\}", lambda m: {**words, **stated, "the": f"the {about.name}"}[m[1]], frame)
    return _articled(text[0].upper() + text[1:])


def _articled(text: str) -> str:
    """With "an" before a vowel that a slot has brought."""
    return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text)


def _seed(*parts: str) -> int:
    return int.from_bytes(hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).digest(), "big")
