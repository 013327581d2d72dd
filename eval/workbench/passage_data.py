"""The written sentences of the passages as records: topics and their particulars, activities, objects.

The data files say in their own heads what their fields mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from eval.workbench.catalogue import KINDS, PLURAL, Kind, indefinite
from eval.workbench.data_files import read_data

TOPIC_FILES = ("topics_placement", "topics_handling", "topics_conditions")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a slot, as the statement and as the passage words it."""

    stated: str
    in_passage: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A gap of a particular, with its values."""

    name: str
    values: tuple[Value, ...]
    """Two or more, equally likely to be true."""


@dataclass(frozen=True, slots=True)
class Particular:
    """One property that a passage may state of an object, whatever the object is."""

    name: str
    unsuited: frozenset[str]
    """Tags of objects of which it is not said."""
    heading: str
    """The phrase for the title, with {x} for the object."""
    statement: str
    sentences: tuple[str, ...]
    """Sentences of a passage that state it."""
    slots: tuple[Slot, ...]


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
    return tuple(
        Topic(
            heading=row["heading"],
            remarks=tuple(row["remarks"]),
            particulars=tuple(
                Particular(
                    name=one["name"],
                    unsuited=frozenset(one.get("unsuited", ())),
                    heading=one["heading"],
                    statement=one["statement"],
                    sentences=tuple(one["sentences"]),
                    slots=tuple(Slot(slot, tuple(map(_value, one["slots"][slot]))) for slot in one["slots"]),
                )
                for one in row["particular"]
            ),
        )
        for name in TOPIC_FILES
        for row in read_data(name)["topic"]
    )


def _value(value: str | list[str]) -> Value:
    return Value(value, value) if isinstance(value, str) else Value(*value)


@cache
def object_facts() -> dict[str, tuple[str, ...]]:
    """Sentences that are true of each object, by its name."""
    return {name: tuple(sentences) for name, sentences in read_data("object_facts").items()}


@cache
def activities() -> tuple[Activity, ...]:
    """All activities, in a fixed order."""
    return tuple(
        Activity(row["name"], (row["remarks"][0], row["remarks"][1]), tuple(row["objects"]))
        for row in read_data("activities")["activity"]
    )


@cache
def passage_object(name: str) -> PassageObject:
    """The object of that name, with its tags; one that the world does not have is of no kind."""
    kind = next((kind for kind in KINDS if kind.name == name), None)
    names = [name, *(kind.aliases.values() if kind else ()), kind.family if kind else ""]
    words = {word for text in names for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2}
    tags = frozenset(tag for tag, objects in read_data("object_tags").items() if name in objects)
    return PassageObject(name, kind, tags, frozenset(words - {"and", "for", "the", "with"}))
