"""Files of rows: CSV and TSV, JSON Lines (BEIR's `corpus.jsonl`), Parquet.

A row with a column of text is a document. CSV and TSV files without one are tables. A row may be a message of
a chat with its speaker (`{"role": "user", "content": "Hi"}`), or a chat, in a list of messages: those of one
chat are one document.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.formats import DocumentFormat
from corpora.passages.document import Document, complaint, make_document
from corpora.passages.plain_text import doubts, refuse_binary
from corpora.passages.spreadsheets import table_documents
from corpora.records import Problem
from corpora.text_decoding import one_line, read_lines

TEXT = ("text", "contents", "content", "body", "passage", "passage_text", "document", "paragraph", "article")
TITLE = ("title", "heading", "headline", "name", "subject")
IDENTITY = ("_id", "id", "doc_id", "docid", "docno", "pid", "passage_id", "article_id")
EXPECTED = f"a text column ({', '.join(TEXT[:-1])} or {TEXT[-1]})"

SPEAKER = ("role", "user", "speaker", "author", "sender", "from", "username", "nickname")
MESSAGE = ("content", "text", "message", "value", "body", "msg", "parts")
MESSAGES = ("messages", "conversation", "conversations", "turns", "dialog", "dialogue", "contents")
NAMES = ("name", "username", "role")
"""Fields with the name of a speaker who is an object."""
MOST_NAME = 80
"""Characters of a name, at most."""
PIECE = 2**20
"""Characters of messages after which the next ones are another document."""


WIKIHOW = frozenset({"headline", "title", "text"})
"""Columns of `wikihowAll.csv` (github.com/mahnazkoupaee/WikiHow-Dataset), whose steps are in `headline`."""
OWN = frozenset(("title", "heading", "headline", "name", "subject", "_id", "id", "doc_id", "docid"))
"""Columns of a row that is a document by itself."""

DELIMITERS = ",;\t|"
LOOK_AT = 20
"""Lines in which the delimiter is looked for."""
_STATED = re.compile(r"sep=(.)\s*")
"""The first line with which Excel states it."""
MAX_NAMED = 3
LOOK_AHEAD = 100
MAX_FIELD = 16 * 2**20
"""Characters; an unclosed quote swallows at most this much before the row is abandoned."""
_WORD = re.compile(r"(?<![\w.])(?!(?:true|false|nan?|none|null|inf)\b)[^\W\d_]{2,}(?![\w.])", re.IGNORECASE)
"""A word of a table: no part of a number, a name of a file or an id."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file, or the reason why there is none; numbers count from 1, after a header."""

    number: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Keys in lower case."""
    trouble: str = ""


@dataclass
class Tally:
    """The rows of a file that are good, and those that are not, of which the first are named."""

    good: int = 0
    bad: int = 0
    named: list[str] = field(default_factory=list)

    def add(self, row: Row, trouble: str) -> None:
        """Count a bad row."""
        self.bad += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(f"row {row.number}: {trouble}")

    def reason(self) -> str:
        """The bad rows in one line."""
        more = self.bad - len(self.named)
        rest = [f"and {more:,} more row{'s' * (more > 1)}"] if more else []
        return "; ".join(self.named + rest)


def read_delimited(path: str) -> Iterator[Document | Problem]:
    """Documents of a CSV or TSV file. Its delimiter is in the first line, unless that is a title, and gives
    most of its first rows the same number of cells.

    Each row where the first line names a column of text, else the whole table.
    """
    refuse_binary(path)
    csv.field_size_limit(MAX_FIELD)
    lines = itertools.dropwhile(lambda line: not line.strip(), read_lines(path, MAX_FIELD))
    first_lines = list[str]()
    for line in itertools.islice(lines, LOOK_AT):
        first_lines.append(line)
        if sum(map(len, first_lines)) > PIECE:
            break
    if not first_lines:
        raise DamagedFile(f"{path}: no text in it")
    candidates = [mark for mark in DELIMITERS if mark in first_lines[0]] or DELIMITERS
    if stated := _STATED.fullmatch(first_lines[0]):
        del first_lines[0]
    delimiter = stated[1] if stated else max(candidates, key=lambda mark: _columns(first_lines, mark))
    records = csv.reader(itertools.chain(first_lines, lines), delimiter=delimiter)
    try:
        first = next(records, [])
    except csv.Error as error:
        raise DamagedFile(f"{path}: its header cannot be read: {error}") from error
    header = [name.strip().lower() for name in first]
    if any(name in TEXT for name in header):
        yield from documents_of_rows(path, _delimited_rows(records, header))
        yield from doubts(path)
        return
    tally = Tally()
    cells = _cells(records, tally)
    begun = list(itertools.islice(cells, LOOK_AHEAD))
    if begun and not any(_WORD.search(cell) for row in begun for cell in row):
        raise UnsupportedFile(f"{path}: a table of numbers only, left out; save it as XLSX to have it read")
    yield from table_documents("", itertools.chain([first], begun, cells))
    if tally.bad:
        yield Problem(path, tally.reason(), "indexed the other rows")
    yield from doubts(path)


def _columns(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    """How many rows have the usual number of cells, where that is not one, and that number."""
    counts = Counter(len(cells) for cells in _parsed_rows(csv.reader(lines, delimiter=delimiter)))
    return max(((rows, cells) for cells, rows in counts.items() if cells > 1), default=(0, 0))


def _cells(records: Iterator[list[str]], tally: Tally) -> Iterator[list[str]]:
    for number, found in enumerate(_parsed_rows(records), start=1):
        if isinstance(found, str):
            tally.add(Row(number), found)
        else:
            yield found


def _delimited_rows(records: Iterator[list[str]], header: list[str]) -> Iterator[Row]:
    # A blank line is no row.
    for number, found in enumerate(filter(None, _parsed_rows(records)), start=1):
        if isinstance(found, str):
            yield Row(number, trouble=found)
        elif len(found) != len(header):
            yield Row(number, trouble=f"{len(found)} columns where the header has {len(header)}")
        else:
            yield Row(number, dict(zip(header, found, strict=True)))


def _parsed_rows(records: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """The cells of each row, or why it has none."""
    while True:
        try:
            yield next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield str(error)


MAX_ROW = 64 * 2**20


def read_json_lines(path: str) -> Iterator[Document | Problem]:
    """One object a line: `_id` or `id`, `title`, `text` and their other names, as `TEXT`."""
    refuse_binary(path)
    yield from documents_of_rows(path, _json_rows(path))


def _json_rows(path: str) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path, MAX_ROW), start=1):
        if len(line) >= MAX_ROW:
            yield Row(number, trouble=f"longer than {MAX_ROW >> 20} Mi characters")
        elif line.strip():
            yield _parsed(number, line)


def _parsed(number: int, line: str) -> Row:
    try:
        return _json_row(number, json.loads(line))
    except ValueError:
        return Row(number, trouble="not valid JSON")
    except RecursionError:
        return Row(number, trouble="JSON nested too deep")


def _json_row(number: int, value: Any) -> Row:
    if not isinstance(value, dict):
        return Row(number, trouble="not a JSON object")
    return Row(number, {key.lower(): field for key, field in value.items()})


BATCH_ROWS = 256


def read_parquet(path: str) -> Iterator[Document | Problem]:
    """Documents by the text, title and id columns; no other column is read."""
    import pyarrow
    from pyarrow import parquet

    # pyarrow takes no names that are not UTF-8, so the file is opened here.
    with Path(path).open("rb") as source:
        try:
            file = parquet.ParquetFile(source)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise DamagedFile(f"{path}: not a Parquet file that can be read: {complaint(error)}") from error
        names = {name.lower(): name for name in file.schema_arrow.names}
        if not any(name in TEXT for name in names):
            found = name_columns(file.schema_arrow.names)
            raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {found}")
        wanted = [names[name] for name in (*TEXT, *TITLE, *IDENTITY) if name in names]
        yield from documents_of_rows(path, _parquet_rows(file, list(dict.fromkeys(wanted))))


def _parquet_rows(file: Any, columns: list[str]) -> Iterator[Row]:
    """Row groups are read one by one, so that a broken one costs no more than itself."""
    import pyarrow

    number = 0
    for group in range(file.metadata.num_row_groups):
        until = number + file.metadata.row_group(group).num_rows
        try:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(number, {name.lower(): value for name, value in values.items()})
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            yield Row(number + 1, trouble=f"rows up to {until:,} cannot be read: {complaint(error)}")
        number = until


PARQUET = DocumentFormat(read_parquet, magic=b"PAR1")


# Rows as documents


def documents_of_rows(path: str, rows: Iterable[Row]) -> Iterator[Document | Problem]:
    """Documents of a row file, and at its end one `Problem` that names the first bad rows.

    Messages of a chat are put together; of all other rows a text, title and id column are taken by name.
    Raises `UnsupportedFile` where the first rows have no text column, and `DamagedFile` where no row is
    usable.
    """
    tally = Tally()
    foreign: list[str] = []
    for document in _documents(rows, tally, foreign):
        tally.good += 1
        yield document
    if not tally.good:
        if foreign and len(foreign) == tally.bad:
            raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {foreign[0]}")
        raise DamagedFile(f"{path}: no usable row{': ' if tally.bad else ''}{tally.reason()}")
    if tally.bad:
        yield Problem(path, tally.reason(), f"indexed the other {tally.good:,} documents")


def _documents(rows: Iterable[Row], tally: Tally, foreign: list[str]) -> Iterator[Document]:
    """`foreign`: gets the columns of rows without text, until there is a good one; many of them end it."""
    held, size = list[str](), 0
    for row in rows:
        fields = row.fields
        chat = next(filter(None, (_lines(fields.get(name)) for name in MESSAGES)), [])
        said = "" if chat else message(fields)
        if row.trouble:
            tally.add(row, row.trouble)
            continue
        if not (chat or said or any(name in fields for name in TEXT)):
            columns = name_columns(fields)
            tally.add(row, f"no text column among {columns}")
            if not tally.good:
                foreign.append(columns)
                if len(foreign) >= LOOK_AHEAD:
                    break
            continue
        is_message = said and OWN.isdisjoint(fields)
        if not is_message or size >= PIECE:
            yield from _made(held)
            held, size = [], 0
        if is_message:
            held.append(said)
            size += len(said)
        elif chat:
            yield from _made(chat)
        elif document := _generic(row, tally):
            yield document
    yield from _made(held)


def name_columns(names: Iterable[str]) -> str:
    """The first columns in one short line, for a message."""
    named = ", ".join(one_line(str(name))[:40] for name in itertools.islice(names, 12))
    return named or "no columns"


def _generic(row: Row, tally: Tally) -> Document | None:
    fields = row.fields
    text, title = _first(fields, TEXT), _first(fields, TITLE)
    if fields.keys() >= WIKIHOW:
        title, text = _first(fields, ["title"]), f"{_first(fields, ['headline'])}\n\n{text}"
    document = make_document(title, (not title and message(fields)) or text, _first(fields, IDENTITY))
    if document is None:
        tally.add(row, "no text")
    return document


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first column of those named that says something, as text; lists are paragraphs."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list):
            joined = "\n\n".join(part for part in value if isinstance(part, str))
            if joined.strip():
                return joined
    return ""


def message(fields: Mapping[str, Any]) -> str:
    """`Ann: Hi`; empty where one of the two is missing."""
    speaker = next(filter(None, (_name(fields.get(name)) for name in SPEAKER)), "")
    text = next(filter(None, (_text(fields.get(name)) for name in MESSAGE)), "")
    return f"{speaker}: {text}" if speaker and text else ""


def _made(lines: list[str]) -> Iterator[Document]:
    document = make_document("", "\n\n".join(lines))
    if document is not None:
        yield document


def _lines(value: Any) -> list[str]:
    """The messages of a chat; none of anything else."""
    said = list[str]()
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict) and (line := message({str(key).lower(): each[key] for key in each})):
            said.append(line)
    return said


def _name(value: Any) -> str:
    """The name of a speaker, who may be an object with one."""
    held = next((value[key] for key in NAMES if key in value), "") if isinstance(value, dict) else value
    return " ".join(held.split())[:MOST_NAME] if isinstance(held, str) else ""


def _text(value: Any) -> str:
    """A text, or the texts of a list of parts, as images stand beside them."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
