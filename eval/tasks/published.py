"""Rows of published files: JSON, JSON lines, CSV, TSV, parquet, lines of text; and records of our own.

What cannot be read is an `UnusableRow`, and the rest is read. Keys are lower-case with `_` for blanks and
hyphens; NaN is None.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corpora.kinds import INFO
from corpora.outputs import atomic_write_text
from eval.runs.records import UnusableRow
from rag.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
OTHER_FOLDERS = (
    *("library", "runs", "web", "pool", "corpus"),
    *("video", "videos", "images", "frames", "subtitle", "subtitles"),
)
"""Folders below the data that hold no rows: of this program, or thousands of files beside the videos."""
NOT_UTF_8 = "not UTF-8: save the file as UTF-8"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{2}(?:\.\d+)?)")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a pair, or a byte that is not UTF-8 in text that was decoded with `surrogateescape`."""


def row_files(folder: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """Files below a folder that may hold rows, by name."""
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            one for one in folders if one.lower() not in OTHER_FOLDERS and not one.startswith(".")
        )
        found += [Path(root, name) for name in sorted(files) if _may_hold_rows(name, suffixes)]
    return found


def _may_hold_rows(name: str, suffixes: Sequence[str]) -> bool:
    lower = name.lower()
    return lower.endswith(tuple(suffixes)) and not lower.endswith(INFO) and not lower.startswith(".")


def read_entries(path: Path, name: str = "") -> Iterator[tuple[str, Any]]:
    """Place and value of each entry of a file, as it is; the value of a bad one is an `UnusableRow`."""
    name = name or path.name
    readers = {".csv": _csv, ".tsv": _csv, ".parquet": _parquet, ".txt": _text}
    try:
        yield from readers.get(path.suffix.lower(), _json)(path, name)
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        yield name, UnusableRow(name, f"cannot be read: {_line(error)}")


def _json(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """A document, or a line each: whichever the text is."""
    text = _decoded(path)
    lines = [(at, line) for at, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if path.suffix.lower() == ".json" or (lines and lines[0][1].lstrip().startswith("[")):
        try:
            value = parsed_json(text)
        except (ValueError, RecursionError):
            if len(lines) < 2 or not lines[0][1].strip().endswith("}"):
                raise
        else:
            yield from _numbered(value if isinstance(value, list) else [value], name)
            return
    for number, line in lines:
        place = f"{name}:{number}"
        try:
            yield place, parsed_json(line)
        except (ValueError, RecursionError) as error:
            yield place, UnusableRow(place, f"not JSON: {_line(error)}")


def _text(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    for at, line in enumerate(_decoded(path).split("\n"), start=1):
        place = f"{name}:{at}"
        if line.strip():
            yield place, UnusableRow(place, NOT_UTF_8) if _SURROGATE.search(line) else line


def _decoded(path: Path) -> str:
    """The text; each byte that is not UTF-8 as half of a surrogate pair, for its line to be left out."""
    return path.read_bytes().decode("utf-8-sig", errors="surrogateescape")


def parsed_json(text: str) -> Any:
    """A JSON value; half of an escaped surrogate pair, which no file can hold, is U+FFFD.

    Raises `ValueError`, also where a byte was not UTF-8, and `RecursionError`.
    """
    if not text.isascii() and _SURROGATE.search(text):
        raise ValueError(NOT_UTF_8)
    value = json.loads(text)
    if _ESCAPED_SURROGATE.search(text):
        value = json.loads(_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
    return value


def _csv(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        first = stream.readline()
        if _SURROGATE.search(first):
            raise ValueError(NOT_UTF_8)
        stream.seek(0)
        mark = max("\t;,", key=lambda mark: (first.count(mark), mark == ","))
        rows = csv.DictReader(stream, delimiter="\t" if path.suffix.lower() == ".tsv" else mark)
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                place = f"{name}:{rows.line_num}"
                yield place, UnusableRow(place, f"not a line of a table: {error}")
                continue
            if row is None:
                return
            place, beyond = f"{name}:{rows.line_num}", row.pop(None, ())
            if len(row) > 1 and any(map(str.strip, beyond)):
                yield place, UnusableRow(place, "not a line of the table: more cells than columns")
            elif any(_SURROGATE.search(cell) for cell in row.values() if cell and not cell.isascii()):
                yield place, UnusableRow(place, NOT_UTF_8)
            else:
                yield place, row


def _parquet(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            # Images and videos inside the table are not read.
            columns = [one.name for one in file.schema_arrow if not _is_media(one.type)]
            table = file.read(columns=columns).to_pylist()
            rows = [{key: plain_value(value) for key, value in row.items()} for row in table]
    except pa.ArrowException as error:
        raise ValueError(_line(error)) from error
    yield from _numbered(rows, name)


def _is_media(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return any(_is_media(kind.field(at).type) for at in range(kind.num_fields))
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _numbered(values: Iterable[Any], name: str) -> Iterator[tuple[str, Any]]:
    return ((f"{name}:{number}", value) for number, value in enumerate(values, start=1))


def plain_key(key: Any) -> str:
    """`Video URL` as `video_url`."""
    return "_".join(str(key).replace("-", " ").casefold().split())


def plain_value(value: Any) -> Any:
    """Replace NaN by None, at any depth of lists and mappings."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {key: plain_value(part) for key, part in value.items()}
    return value


def text_of(value: Any) -> str:
    """A text or a number as text, whole floats without their fraction; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    try:
        return str(value).strip()
    except ValueError:  # more digits than Python prints
        return ""


def interval(value: Any) -> tuple[float, float]:
    """[start, end) in seconds, of two numbers or two times of a clock, also as a text ("00:41-75:57"); the
    second that a clock shows at the end is inside. Raises `ValueError` for anything else."""
    parts = (
        [text_of(one) for one in value] if isinstance(value, list) else re.split("[-\u2013]", text_of(value))
    )
    if len(parts) != 2:
        raise ValueError(f"{value!r} is no start and end")
    if ":" in parts[0]:
        start, end = clock_seconds(parts[0]), clock_seconds(parts[1]) + 1.0
    else:
        start, end = map(float, parts)
    if not 0 <= start < end < math.inf:
        raise ValueError(f"{value!r} ends before it starts")
    return start, end


def clock_seconds(text: str) -> float:
    """ "MM:SS" or "H:MM:SS" in seconds; minutes may be more than 59. Raises `ValueError`."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time of the form MM:SS")
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


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
    """The records by their ids, in the order of the files."""
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
