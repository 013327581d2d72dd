"""Dataset files: records of our own as JSON lines, and published rows in JSON or JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from corpora.outputs import atomic_write_text
from rag.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError


def file_hash(path: Path) -> str:
    """SHA-256 of the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


Record = TypeVar("Record")
NAMED = 3
"""Invalid rows that an error names; the others are counted."""


def record_lines(records: Iterable[Any]) -> str:
    """Dataclasses as JSON lines: the same records, the same bytes."""
    return "".join(json.dumps(asdict(record), ensure_ascii=True) + "\n" for record in records)


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write dataclasses as JSON lines, whole or not at all."""
    atomic_write_text(path, record_lines(records))


def write_manifest(folder: Path, files: Iterable[str], **fields: Any) -> None:
    """`manifest.json` with `fields` and the hashes of `files`. Written last: it marks complete data."""
    manifest = {**fields, "hashes": {name: file_hash(folder / name) for name in files}}
    atomic_write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """The dataclasses of a file that `write_records` wrote. Raises `UsageError`, with the line."""
    from pydantic import TypeAdapter, ValidationError

    adapter, found = TypeAdapter(kind), []
    for number, line in numbered_lines(path):
        try:
            found.append(adapter.validate_json(line))
        except ValidationError as error:
            reason = validation_reason(error)
            raise UsageError(f"{path}:{number}: not a {kind.__name__}: {reason}") from error
    return found


def load_published(
    paths: Sequence[Path], benchmark: str, parse: Callable[[Any, str], Record], key: Callable[[Record], str]
) -> dict[str, Record]:
    """The rows of all files by id, in order: `*.json` with a list, or JSON lines.

    `parse`: makes a record of a row; `ValueError` where it cannot. Its second argument is an id for rows
    without one. Raises `UsageError` that counts all invalid rows and names the first ones, among them rows
    with an id that an earlier row has.
    """
    from pydantic import ValidationError

    found: dict[str, Record] = {}
    problems: list[str] = []
    for path in paths:
        for number, text in _published(path, benchmark):
            try:
                record = parse(json.loads(text) if isinstance(text, str) else text, f"{path.stem}-{number}")
                if key(record) in found:
                    raise ValueError(f"two rows have the id {key(record)!r}")
                found[key(record)] = record
            except ValidationError as error:
                problems.append(f"{path}:{number}: {validation_reason(error)}")
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                problems.append(f"{path}:{number}: {error}")
    if problems:
        more = f"; and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        count = f"{len(problems)} row{'s are' if len(problems) > 1 else ' is'} not of {benchmark}"
        raise UsageError(f"{count}: {'; '.join(problems[:NAMED])}{more}")
    return found


def validation_reason(error: ValidationError) -> str:
    """Field and message of the first problem."""
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'row'}: {first['msg']}"


def published_files(folder: Path, benchmark: str, *suffixes: str) -> list[Path]:
    """Files of published rows in a folder. Raises `UsageError` where there is none."""
    found = sorted(path for suffix in suffixes for path in folder.glob(f"*{suffix}"))
    if not found:
        raise UsageError(f"{folder}: no {' or '.join(f'*{suffix}' for suffix in suffixes)} of {benchmark}")
    return found


def _published(path: Path, benchmark: str) -> Iterator[tuple[int, Any]]:
    """Number from 1 and value of each row: an entry of a JSON list, or a line as text."""
    lines = list(numbered_lines(path))
    listed = bool(lines) and lines[0][1].lstrip().startswith("[")
    if listed or path.suffix == ".json":
        try:
            rows = json.loads("\n".join(line for _, line in lines))
        except (ValueError, RecursionError) as error:
            if listed:
                raise UsageError(f"{path}: cannot be read as rows of {benchmark}: {error}") from error
        else:
            yield from enumerate(rows if isinstance(rows, list) else [rows], start=1)
            return
    yield from lines


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Non-empty lines with their numbers. Only a line feed ends a line: a string may hold U+2028."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line
