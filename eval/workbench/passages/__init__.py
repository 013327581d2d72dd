"""The passages of the Workbench world: how-to texts with facts, and counter-facts that they refute."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval.workbench.passages.assembly import assembled

__all__ = ["Statement", "WorldPassage", "world_passages", "write_passages"]


@dataclass(frozen=True, slots=True)
class Statement:
    """Sentences that begin with "It" and do not say what it is.

    Each counter-fact differs from the fact in one particular; only the passage tells which is true.
    """

    fact: str
    counterfacts: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class WorldPassage:
    """One text about one thing in one activity."""

    passage_id: str
    title: str
    text: str
    """60 to 130 words, without the title."""
    kind_id: str | None
    """None: a distractor, about a thing that the world does not have."""
    activity: str
    """A gerund phrase: an option reads "When {activity}. {statement}" (EgoFact, C.2.5)."""
    statements: tuple[Statement, ...]


@cache
def world_passages() -> tuple[WorldPassage, ...]:
    """All of them, the same in every process; they know nothing of seeds or splits."""
    found = []
    for item in assembled():
        name = item.thing.name
        found.append(
            WorldPassage(
                passage_id=f"{_slug(name)}--{_slug(item.activity)}",
                title=item.title,
                text=item.text,
                kind_id=item.thing.kind.kind_id if item.thing.kind else None,
                activity=item.activity,
                statements=tuple(Statement(claim.fact, claim.counterfacts) for claim in item.claims),
            )
        )
    return tuple(found)


def write_passages(folder: str | os.PathLike[str]) -> list[Path]:
    """One Markdown file a passage, `PASSAGE_ID.md`, in the order of `world_passages`.

    The folder is made; files of these names are written over. UTF-8, line ends of one byte.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    written = []
    for passage in world_passages():
        path = home / f"{passage.passage_id}.md"
        path.write_bytes(f"# {passage.title}\n\n{passage.text}\n".encode())
        written.append(path)
    return written


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
