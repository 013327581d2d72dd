"""The passages of the synthetic world: how-to texts with facts, and counter-facts that they refute.

A passage is assembled from the written sentences of the data files (whose heads explain their fields),
always in the same way. Which of its equally likely values a particular has in a passage comes from a hash,
each by itself: only the passage separates fact from counter-fact, and knowing all other passages does not
help. No two objects of one activity have a topic in common, so that a statement finds its own passage.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from eval.workbench.catalogue import KINDS, PLURAL, Kind, indefinite, read_data
from eval.workbench.seeds import stable_number, stream

TOPIC_FILES = ("topics_placement", "topics_handling", "topics_conditions")


Value = str | tuple[str, str]
"""One value of a slot: as the statement and as the passage words it, where they differ."""


@dataclass(frozen=True)
class Particular:
    """One property that a passage may state of an object, whatever the object is."""

    name: str
    heading: str
    """The phrase for the title, with {x} for the object."""
    statement: str
    sentences: tuple[str, ...]
    """Sentences of a passage that state it."""
    slots: dict[str, tuple[Value, ...]]
    """Gaps of the statement by name, each with two or more values that are equally likely to be true."""
    unsuited: frozenset[str] = frozenset()
    """Tags of objects of which it is not said."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Of the statement and all its values, in lower case, and each without its last "s"."""
        values = [stated(value) for values in self.slots.values() for value in values]
        spoken = re.findall(r"[a-z]+", " ".join([self.statement, *values]).lower())
        return frozenset(form for word in spoken for form in (word, word.removesuffix("s")))


def stated(value: Value) -> str:
    """As the statement words it."""
    return value if isinstance(value, str) else value[0]


@dataclass(frozen=True, slots=True)
class Topic:
    """What one passage is about, besides its object."""

    heading: str
    """The phrase for the opening, with {x} for the object."""
    remarks: tuple[str, ...]
    particulars: tuple[Particular, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """What people do, and which objects have a passage about it."""

    name: str
    """A gerund phrase that follows "when"."""
    remarks: tuple[str, str]
    objects: tuple[str, ...]
    """Names of kinds, or of objects that the world does not have."""


@dataclass(frozen=True, slots=True)
class PassageObject:
    """An object as passages refer to it."""

    name: str
    kind: Kind | None
    """None: the world does not have it."""
    tags: frozenset[str]
    revealing: frozenset[str]
    """Words that would identify it: those of its name, its other names, and its family."""

    @property
    def indefinite(self) -> str:
        """With the article, where the noun has one: "a mug", "scissors"."""
        return indefinite(self.name)

    @property
    def pronoun(self) -> str:
        """ "them" for a plural noun, otherwise "it"."""
        return "them" if self.name in PLURAL else "it"


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, in the order written."""
    rows = [row for name in TOPIC_FILES for row in read_data(name)["topic"]]
    return TypeAdapter(tuple[Topic, ...]).validate_python(rows)


@cache
def object_facts() -> dict[str, tuple[str, ...]]:
    """Sentences that are true of each object, by its name."""
    return TypeAdapter(dict[str, tuple[str, ...]]).validate_python(read_data("object_facts"))


@cache
def activities() -> tuple[Activity, ...]:
    """All activities, in a fixed order."""
    return TypeAdapter(tuple[Activity, ...]).validate_python(read_data("activities")["activity"])


@cache
def passage_object(name: str) -> PassageObject:
    """The object of that name, with its tags; one that the world does not have is of no kind."""
    kind = next((kind for kind in KINDS if kind.name == name), None)
    names = [name, *(kind.aliases.values() if kind else ()), kind.family if kind else ""]
    words = {word for text in names for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2}
    tags = frozenset(tag for tag, objects in read_data("object_tags").items() if name in objects)
    return PassageObject(name, kind, tags, frozenset(words - {"and", "for", "the", "with"}))


STATEMENTS = 2
COUNTERFACTS = 3
OWN_FACTS = 1
OPENINGS = (
    "When {activity}, people do well to {heading} with some thought.",
    "Anybody {activity} will sooner or later have to {heading}.",
    "Learn how to {heading} before you start {activity}.",
    "Knowing how to {heading} pays when {activity}.",
    "Much goes wrong when {activity} unless you {heading} properly.",
    "It takes some care to {heading} when you are {activity}.",
)

Choice = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that a passage states, as sentences that begin with "It" and do not say what it is.

    Each counter-fact differs from the fact in one particular; only the passage shows which is true.
    """

    fact: str
    counterfacts: tuple[str, ...]
    sentence: str
    """The sentence of the passage that states it."""
    particular: str


@dataclass(frozen=True, slots=True)
class WorldPassage:
    """One text about one object in one activity."""

    passage_id: str
    title: str
    text: str
    """60 to 130 words, without the title."""
    about: PassageObject
    activity: str
    """A gerund phrase: an option reads "When {activity}. {statement}" (EgoFact, C.2.5)."""
    statements: tuple[Statement, ...]

    @property
    def kind_id(self) -> str | None:
        """None: a distractor, about an object that the world does not have."""
        return self.about.kind.kind_id if self.about.kind else None


@cache
def world_passages() -> tuple[WorldPassage, ...]:
    """All passages by activity and object, the same in every process; no seed or split changes them."""
    return tuple(draft.written() for draft in _drafts())


def write_passages(
    folder: str | os.PathLike[str], passages: Iterable[WorldPassage] | None = None
) -> list[Path]:
    """One Markdown file a passage, `PASSAGE_ID.md`, in the order given; without `passages` all of the world.

    The folder is made; files of these names are written over. UTF-8, line ends of one byte.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    written = []
    for passage in world_passages() if passages is None else passages:
        path = home / f"{passage.passage_id}.md"
        path.write_bytes(f"# {passage.title}\n\n{passage.text}\n".encode())
        written.append(path)
    return written


@cache
def twin_passages() -> tuple[WorldPassage, ...]:
    """The passages of the world, each about one of its objects followed by its twin.

    A twin has the same activity, topic and properties, and another object of the world, if possible of the
    same family. What the one states is the other's only counter-fact, so that both statements are in the
    passages, and only the object distinguishes them.
    """
    found: list[WorldPassage] = []
    taken: set[tuple[str, str]] = {(one.about.name, one.activity) for one in world_passages()}
    for draft in _drafts():
        other = _twin_object(draft, taken) if draft.about.kind else None
        if other is None:
            found.append(draft.written())
            continue
        taken.add((other.name, draft.activity.name))
        twin = replace(draft, about=other, choices=tuple(one.swapped() for one in draft.choices))
        one = replace(draft, choices=tuple(one.alone() for one in draft.choices))
        found += [one.written(), twin.written()]
    return tuple(found)


def _twin_object(draft: _Draft, taken: set[tuple[str, str]]) -> PassageObject | None:
    """A kind of the world of which all may be said that the passage says, and that has no passage there."""
    assert draft.about.kind is not None, "only objects of the world have twins"
    family = draft.about.kind.family
    fitting = [
        other
        for other in map(passage_object, (kind.name for kind in KINDS))
        if (other.name, draft.activity.name) not in taken
        and all(_suits(one.particular, other) for one in draft.choices)
    ]
    return min(
        fitting,
        key=lambda one: (
            one.kind is None or one.kind.family != family,
            stable_number("twin", one.name, draft.activity.name, draft.about.name),
        ),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One property as a passage states it: the sentence's form, what is true, and what is not."""

    particular: Particular
    frame: str
    truth: Choice
    rivals: tuple[Choice, ...]

    def swapped(self) -> _Chosen:
        """What a twin states: the first rival is true of it, and the truth is its only rival."""
        return replace(self, truth=self.rivals[0], rivals=(self.truth,))

    def alone(self) -> _Chosen:
        """With the first rival alone."""
        return replace(self, rivals=self.rivals[:1])

    def statement(self, about: PassageObject) -> Statement:
        return Statement(
            fact=_stated(self.particular, self.truth),
            counterfacts=tuple(_stated(self.particular, rival) for rival in self.rivals),
            sentence=_sentence(self.frame, dict(zip(self.particular.slots, self.truth, strict=True)), about),
            particular=self.particular.name,
        )


@dataclass(frozen=True, slots=True)
class _Draft:
    """All that was chosen for a passage."""

    activity: Activity
    about: PassageObject
    topic: Topic
    choices: tuple[_Chosen, ...]
    opening: str
    turn: int

    def written(self) -> WorldPassage:
        """The passage in words."""
        activity, about, turn = self.activity, self.about, self.turn
        statements = tuple(one.statement(about) for one in self.choices)
        own = object_facts()[about.name]
        known = [own[(turn + 2 * step) % len(own)] for step in range(OWN_FACTS)]
        phrase = self.topic.heading.format(x=f"the {about.name}")
        opening = self.opening.format(heading=phrase, activity=activity.name)
        remark = self.topic.remarks[turn % len(self.topic.remarks)]
        # Without the activity beside it, a fact would match the same fact of another activity.
        first = f"When {activity.name}, {statements[0].sentence[0].lower()}{statements[0].sentence[1:]}"
        second = f"{statements[1].sentence.removesuffix('.')} when {activity.name}."
        lines = [opening, remark, first, known[0], second, *known[1:], activity.remarks[turn % 2]]
        one, other = (chosen.particular.heading for chosen in self.choices)
        phrases = f"{one.format(x=about.indefinite)} and {other.format(x=about.pronoun)}"
        title = f"How to {phrases} when {activity.name}"
        passage_id = f"{_slug(about.name)}--{_slug(activity.name)}"
        return WorldPassage(passage_id, title, " ".join(lines), about, activity.name, statements)


@cache
def _drafts() -> tuple[_Draft, ...]:
    assembly = _Assembly()
    return tuple(
        assembly.draft(activity, passage_object(name))
        for activity in activities()
        for name in activity.objects
    )


class _Assembly:
    """What the passages assembled so far have used."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()
        self._by_activity: dict[str, set[str]] = {}
        self._by_object: dict[str, set[str]] = {}
        self._count: Counter[str] = Counter()

    def draft(self, activity: Activity, about: PassageObject) -> _Draft:
        rng = stream(activity.name, about.name)
        turn = self._count[about.name]
        self._count[about.name] += 1
        topic = self._topic(activity, about)
        choices = tuple(self._chosen(found, rng) for found in self._particulars(topic, about))
        return _Draft(activity, about, topic, choices, OPENINGS[rng.randrange(len(OPENINGS))], turn)

    def _topic(self, activity: Activity, about: PassageObject) -> Topic:
        """One that suits the object, new to the activity and to the object, of those used least so far."""
        used = self._by_activity.setdefault(activity.name, set())
        own = self._by_object.setdefault(about.name, set())
        fitting = [topic for topic in topics() if topic.heading not in used | own]
        fitting = [topic for topic in fitting if len(_suitable(topic, about)) >= STATEMENTS]
        topic = min(
            fitting,
            key=lambda t: (self._given[t.heading], stable_number(t.heading, activity.name, about.name)),
        )
        self._given[topic.heading] += 1
        used.add(topic.heading)
        own.add(topic.heading)
        return topic

    def _particulars(self, topic: Topic, about: PassageObject) -> list[Particular]:
        """Those used least so far."""
        fitting = sorted(_suitable(topic, about), key=lambda found: (self._given[found.name], found.name))
        for found in fitting[:STATEMENTS]:
            self._given[found.name] += 1
        return fitting[:STATEMENTS]

    def _chosen(self, found: Particular, rng: Random) -> _Chosen:
        truth = tuple(rng.choice(values) for values in found.slots.values())
        rivals = tuple(_rivals(found.slots, truth, rng))
        return _Chosen(found, found.sentences[self._given[found.name] % len(found.sentences)], truth, rivals)


def _suitable(topic: Topic, about: PassageObject) -> list[Particular]:
    return [found for found in topic.particulars if _suits(found, about)]


def _suits(found: Particular, about: PassageObject) -> bool:
    """Whether it may be said of the object at all, in words that do not identify the object."""
    return not (found.unsuited & about.tags or found.words & about.revealing)


def _rivals(slots: Mapping[str, tuple[Value, ...]], truth: Choice, rng: Random) -> list[Choice]:
    """Three that differ from the truth in one slot each, from different slots as far as they go."""
    by_slot = []
    for at, values in enumerate(slots.values()):
        others = [value for value in values if value != truth[at]]
        rng.shuffle(others)
        by_slot.append([(*truth[:at], other, *truth[at + 1 :]) for other in others])
    rng.shuffle(by_slot)
    depth = max(map(len, by_slot))
    dealt = [row[step] for step in range(depth) for row in by_slot if step < len(row)]
    return dealt[:COUNTERFACTS]


def _stated(found: Particular, choice: Choice) -> str:
    words = dict(zip(found.slots, map(stated, choice), strict=True))
    return _articled(found.statement.format(**words))


def _sentence(frame: str, choice: Mapping[str, Value], about: PassageObject) -> str:
    words = {name: value if isinstance(value, str) else value[1] for name, value in choice.items()}
    words |= {f"={name}": stated(value) for name, value in choice.items()} | {"the": f"the {about.name}"}
    text = re.sub(r"\{(=?\w+)\}", lambda found: words[found[1]], frame)
    return _articled(text[0].upper() + text[1:])


def _articled(text: str) -> str:
    """With "an" before a vowel that a slot begins with."""
    return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
