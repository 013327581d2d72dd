"""Rows of published files: JSON, JSON lines, CSV, TSV, parquet and lines of text, nested or flat.

What cannot be read is an `UnusableRow`, and the rest goes on. Keys are lower-case with `_` for blanks and
hyphens; NaN is None.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corpora.kinds import INFO
from eval.runs.records import UnusableRow

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
OTHER_FOLDERS = (
    *("library", "runs", "web", "pool", "corpus"),
    *("video", "videos", "images", "frames", "subtitle", "subtitles"),
)
"""Folders below the data that hold no rows: of this program, or thousands of files beside the videos."""
NOT_UTF_8 = "not UTF-8: save the file as UTF-8"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{2}(?:\.\d+)?)")
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
    """Without NaN, at any depth of lists and mappings."""
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
