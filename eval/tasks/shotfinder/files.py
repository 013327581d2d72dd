"""`queries.jsonl` of our own queries: a line each, the same records the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from corpora.outputs import atomic_write_text
from eval.tasks.shotfinder.records import ShotQuery
from rag.errors import UsageError


def write_shot_queries(path: Path, queries: Iterable[ShotQuery]) -> None:
    atomic_write_text(path, "".join(json.dumps(asdict(query), ensure_ascii=True) + "\n" for query in queries))


def read_shot_queries(path: Path) -> list[ShotQuery]:
    """Raises `UsageError`, with the line, for a file that is not there or not in order."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(ShotQuery)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    queries = []
    for number, line in enumerate(lines, start=1):
        try:
            queries.append(adapter.validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            raise UsageError(f"{path}:{number}: no shot query: {place}: {first['msg']}") from error
    return queries
