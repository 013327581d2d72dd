"""`questions.jsonl` of our own questions: a line each, the same records the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from corpora.outputs import atomic_write_text
from eval.tasks.browsecomp.records import BrowseQuestion
from rag.errors import UsageError


def write_questions(path: Path, questions: Iterable[BrowseQuestion]) -> None:
    lines = (json.dumps(asdict(question), ensure_ascii=True) + "\n" for question in questions)
    atomic_write_text(path, "".join(lines))


def read_questions(path: Path) -> list[BrowseQuestion]:
    """Raises `UsageError`, with the line, for a file that is not there or not in order."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(BrowseQuestion)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        try:
            questions.append(adapter.validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            raise UsageError(f"{path}:{number}: no question: {place}: {first['msg']}") from error
    return questions


def file_hash(path: Path) -> str:
    """SHA-256 over the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
