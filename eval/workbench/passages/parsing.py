"""The written data as records: particulars with their slots, and sentences by the thing they are about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from eval.workbench.passages.conditions import CONDITIONS
from eval.workbench.passages.desk_and_larder import DESK_AND_LARDER
from eval.workbench.passages.handling import HANDLING
from eval.workbench.passages.home import HOME
from eval.workbench.passages.places import PLACES
from eval.workbench.passages.strangers import STRANGERS
from eval.workbench.passages.vessels import VESSELS
from eval.workbench.passages.workshop import WORKSHOP


@dataclass(frozen=True, slots=True)
class Value:
    stated: str
    """In the statement."""
    told: str
    """In the passage; mostly the same."""


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    values: tuple[Value, ...]
    """Two or more, each as likely as the next one to be true."""


@dataclass(frozen=True, slots=True)
class Particular:
    """One thing that a passage may say of an object, whatever the object is."""

    name: str
    unsuited: frozenset[str]
    """Tags of things of which it is not said."""
    heading: str
    """What one does with {x}, for the title."""
    statement: str
    frames: tuple[str, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """What one passage is about, besides its object."""

    heading: str
    """What one does with {x}, for the opening."""
    remarks: tuple[str, ...]
    particulars: tuple[Particular, ...]


@cache
def topics() -> tuple[Topic, ...]:
    """In the order written."""
    found = []
    for text in "\n".join((PLACES, HANDLING, CONDITIONS)).split("== ")[1:]:
        head, *blocks = text.strip().split("\n\n")
        heading, *remarks = head.splitlines()
        told = tuple(remark.removeprefix("* ") for remark in remarks)
        found.append(Topic(heading, told, tuple(_particular(block.splitlines()) for block in blocks)))
    return tuple(found)


def _particular(lines: list[str]) -> Particular:
    name, *unsuited = lines[0].split()
    slots = [line.split(" = ") for line in lines if " = " in line]
    return Particular(
        name=name,
        unsuited=frozenset(tag.removeprefix("!") for tag in unsuited),
        heading=lines[1].removeprefix("# "),
        statement=lines[2],
        frames=tuple(line.removeprefix("> ") for line in lines if line.startswith("> ")),
        slots=tuple(Slot(slot, tuple(_value(v) for v in values.split(" / "))) for slot, values in slots),
    )


def _value(text: str) -> Value:
    stated, _, told = text.partition(":")
    return Value(stated, told or stated)


@cache
def about_things() -> dict[str, tuple[str, ...]]:
    """Name of a thing to what is true of it, in the order written. Names stand in lines without a stop."""
    found: dict[str, list[str]] = {}
    for text in (WORKSHOP, VESSELS, HOME, DESK_AND_LARDER, STRANGERS):
        current: list[str] = []
        for line in text.strip().splitlines():
            if line.endswith("."):
                current.append(line)
            else:
                current = found.setdefault(line, [])
    return {name: tuple(sentences) for name, sentences in found.items()}
