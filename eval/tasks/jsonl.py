"""Dataset files: records of our own as JSON lines, and the rows of a published benchmark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corpora.identity import file_sha256
from corpora.outputs import atomic_write_text
from eval.runs.records import UnusableRow
from eval.tasks.published import plain_key, read_entries, row_files
from rag.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


Record = TypeVar("Record")
NAMED = 3
"""Unusable rows that an error names; the others are counted."""


def record_lines(records: Iterable[Any]) -> str:
    """Dataclasses as JSON lines: the same records, the same bytes."""
    return "".join(json.dumps(asdict(record), ensure_ascii=True) + "\n" for record in records)


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write dataclasses as JSON lines, whole or not at all."""
    atomic_write_text(path, record_lines(records))


def write_manifest(folder: Path, files: Iterable[str], **fields: Any) -> None:
    """`manifest.json` with `fields` and the hashes of `files`. Written last: it marks complete data."""
    manifest = {**fields, "hashes": {name: file_sha256(folder / name) for name in files}}
    atomic_write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """The dataclasses of a file of JSON lines, strictly. Raises `UsageError`, with the line."""
    from pydantic import TypeAdapter, ValidationError

    adapter, found = TypeAdapter(kind), []
    for number, line in numbered_lines(path):
        try:
            found.append(adapter.validate_json(line, strict=True))
        except ValidationError as error:
            reason = validation_reason(error)
            raise UsageError(f"{path}:{number}: not a {kind.__name__}: {reason}") from error
    return found


@dataclass(frozen=True, slots=True)
class PublishedRows(Generic[Record]):
    """The rows of a benchmark's files."""

    records: Mapping[str, Record]
    """By id, in order."""
    unusable: tuple[UnusableRow, ...] = ()


def load_published(
    paths: Sequence[Path], benchmark: str, parse: Callable[[Any, str], Record], key: Callable[[Record], str]
) -> PublishedRows[Record]:
    """The rows of all files: JSON, JSON lines or parquet.

    `parse`: makes a record of a row with plain keys; `ValueError` where it cannot. Its second argument is an
    id for rows without one. A row with an id that an earlier one has is unusable. Raises `UsageError` where
    no row can be used.
    """
    from pydantic import ValidationError

    found: dict[str, Record] = {}
    unusable: list[UnusableRow] = []
    for path in paths:
        for place, value in read_entries(path):
            number = place.rpartition(":")[2]
            try:
                if isinstance(value, UnusableRow):
                    raise ValueError(value.reason)
                if not isinstance(value, dict):
                    raise ValueError("not an object")
                fields = {plain_key(name): held for name, held in value.items()}
                record = parse(fields, f"{path.stem}-{number}")
                if not key(record).strip():
                    raise ValueError("id: empty")
                if key(record) in found:
                    raise ValueError(f"duplicate id: two rows have the id {key(record)!r}")
                found[key(record)] = record
            except ValidationError as error:
                unusable.append(UnusableRow(place, validation_reason(error)))
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                unusable.append(UnusableRow(place, str(error)))
    if not found:
        more = f"; and {len(unusable) - NAMED} more" if len(unusable) > NAMED else ""
        named = "; ".join(f"{row.place}: {row.reason}" for row in unusable[:NAMED])
        raise UsageError(f"no row of {benchmark} in {', '.join(map(str, paths))}: {named or 'no rows'}{more}")
    return PublishedRows(found, tuple(unusable))


def validation_reason(error: ValidationError) -> str:
    """Field and message of the first problem."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "row"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"


def published_files(folder: Path, benchmark: str, *suffixes: str) -> list[Path]:
    """Files of published rows in a folder, or else in the folders below it, as in a copy of a repository.

    Raises `UsageError` where there is none.
    """
    found = sorted(path for suffix in suffixes for path in folder.glob(f"*{suffix}"))
    found = found or row_files(folder, suffixes)
    if not found:
        raise UsageError(f"{folder}: no {' or '.join(f'*{suffix}' for suffix in suffixes)} of {benchmark}")
    return found


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Non-empty lines with their numbers. Only a line feed ends a line: a string may hold U+2028."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line
