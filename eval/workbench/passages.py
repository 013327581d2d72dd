"""The passages of the synthetic world: how-to texts with facts, and counter-facts that they refute.

They are a data file, the same for every seed and split. Only the passage separates a fact from its
counter-facts, which differ in one value each; no two objects of one activity have a topic in common.
Commit 34c03511 has the sentences and the code that they were assembled with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that a passage states, as a sentence that begins with "It" and does not say what it is.

    Each counter-fact differs from the fact in one particular; only the passage shows which is true.
    """

    fact: str
    counterfacts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorldPassage:
    """One text about one object in one activity."""

    passage_id: str
    title: str
    text: str
    """60 to 130 words, without the title."""
    kind_id: str | None
    """None: a distractor, about an object that the world does not have."""
    activity: str
    """A gerund phrase: an option reads "When {activity}. {statement}" (EgoFact, C.2.5)."""
    statements: tuple[Statement, ...]
    twin_of: str | None = None
    """The passage whose counter-facts it states, of another object; None for a passage of the world."""


@cache
def twin_passages() -> tuple[WorldPassage, ...]:
    """The passages by activity and object, each about one of the world's objects followed by its twin.

    What the one states is a counter-fact of the other, so that both statements are in the passages, and
    only the object distinguishes them.
    """
    text = resources.files("eval.workbench").joinpath("data", "passages.jsonl").read_text(encoding="utf-8")
    read = TypeAdapter(WorldPassage).validate_json
    return tuple(map(read, text.splitlines()))


@cache
def world_passages() -> tuple[WorldPassage, ...]:
    """All passages by activity and object."""
    return tuple(one for one in twin_passages() if one.twin_of is None)
