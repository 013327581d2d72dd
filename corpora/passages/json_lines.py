"""JSON Lines (BEIR's `corpus.jsonl` and the like), and JSON files that hold one list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora.errors import UnsupportedFile
from corpora.passages.delimited import bounded_lines
from corpora.passages.document import Document
from corpora.passages.plain_text import refuse_binary
from corpora.passages.rows import EXPECTED, Row, documents_of_rows
from corpora.records import Problem
from corpora.text_decoding import decode

MAX_ROW = 64 * 2**20
MAX_JSON = 256 * 2**20


def read(path: str) -> Iterator[Document | Problem]:
    """One object a line: `_id` or `id`, `title`, `text` and their other names (`corpora.passages.rows`)."""
    refuse_binary(path)
    yield from documents_of_rows(path, _rows(path))


def read_json(path: str) -> Iterator[Document | Problem]:
    """A `.json` file: a list of objects, or JSON Lines under another name."""
    refuse_binary(path)
    with Path(path).open("rb") as file:
        data = file.read(MAX_JSON + 1)
    if len(data) > MAX_JSON:
        raise UnsupportedFile(f"{path}: larger than {MAX_JSON >> 20} MiB; write it as JSON Lines (.jsonl)")
    try:
        held = json.loads(decode(data))
    except RecursionError:
        held = None
    except ValueError:
        yield from documents_of_rows(path, _rows(path))
        return
    if not isinstance(held, list):
        raise UnsupportedFile(f"{path}: no passages: expected a list of objects with {EXPECTED}")
    rows = (_row(number, value) for number, value in enumerate(held, start=1))
    yield from documents_of_rows(path, rows)


def _rows(path: str) -> Iterator[Row]:
    number = 0
    for number, line in enumerate(_whole_lines(path), start=1):
        if line is None:
            yield Row(number, trouble=f"longer than {MAX_ROW >> 20} Mi characters")
        elif line.strip():
            yield _parsed(number, line)


def _parsed(number: int, line: str) -> Row:
    try:
        return _row(number, json.loads(line))
    except ValueError:
        return Row(number, trouble="not valid JSON")
    except RecursionError:
        return Row(number, trouble="JSON nested too deep")


def _row(number: int, value: Any) -> Row:
    if not isinstance(value, dict):
        return Row(number, trouble="not a JSON object")
    return Row(number, {key.lower(): field for key, field in value.items()})


def _whole_lines(path: str) -> Iterator[str | None]:
    """Lines put together from bounded pieces; None for one that is too long to be a row."""
    parts: list[str] = []
    size = 0
    for piece in bounded_lines(path):
        size += len(piece)
        if size <= MAX_ROW:
            parts.append(piece)
        if piece.endswith("\n"):
            yield "".join(parts) if size <= MAX_ROW else None
            parts, size = [], 0
    if size:
        yield "".join(parts) if size <= MAX_ROW else None
