"""`passages.jsonl` of an outside corpus: title and text, with or without statements for two-hop options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.tasks.egofact.records import FactPassage, Statement
from rag.errors import UsageError

Write = Callable[[FactPassage], FactPassage]
"""Adds activity and statements to a passage, as a language model does."""


class _Statement(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    fact: str
    counterfacts: tuple[str, ...]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Annotated[str, Field(alias="_id", min_length=1)]
    title: str = ""
    text: Annotated[str, Field(min_length=1)]
    object: str = ""
    activity: str = ""
    statements: tuple[_Statement, ...] = ()


def read_passages(path: Path, write: Write | None = None) -> list[FactPassage]:
    """Passages in file order; a missing file is none (then there are no two-hop queries).

    `write`: makes statements for passages about an object that come without.
    Raises `UsageError` naming file and line.
    """
    if not path.is_file():
        return []
    found = []
    seen: set[str] = set()
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = _Line.model_validate_json(line)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise UsageError(f"{path}:{number}: {place}: {fault['msg']}") from error
        if given.id in seen:
            raise UsageError(f"{path}:{number}: _id {given.id!r} is in an earlier line already")
        seen.add(given.id)
        statements = tuple(Statement(each.fact, each.counterfacts) for each in given.statements)
        passage = FactPassage(given.id, given.title, given.text, given.object, given.activity, statements)
        found.append(write(passage) if write and passage.object and not statements else passage)
    return found
