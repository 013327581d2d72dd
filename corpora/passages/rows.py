"""What all formats of rows share: which column is which, and how bad rows are reported.

A row may be a message of a chat with its speaker (`{"role": "user", "content": "Hi"}`), or a chat, in a list
of messages: those of one chat are one document.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document, make_document
from corpora.records import Problem
from corpora.text_decoding import one_line

TEXT = ("text", "contents", "content", "body", "passage", "passage_text", "document", "paragraph", "article")
TITLE = ("title", "heading", "headline", "name", "subject")
IDENTITY = ("_id", "id", "doc_id", "docid", "docno", "pid", "passage_id", "article_id")
EXPECTED = f"a text column ({', '.join(TEXT[:-1])} or {TEXT[-1]})"

SPEAKER = ("role", "user", "speaker", "author", "sender", "from", "username", "nickname")
MESSAGE = ("content", "text", "message", "value", "body", "msg")
MESSAGES = ("messages", "conversation", "conversations", "turns", "dialog", "dialogue")
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

MAX_NAMED = 3
LOOK_AHEAD = 100


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

    path: str
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


def documents_of_rows(path: str, rows: Iterable[Row]) -> Iterator[Document | Problem]:
    """Documents of a row file, and at its end one `Problem` that names the first bad rows.

    Messages of a chat are put together; of all other rows a text, title and id column are taken by name.
    Raises `UnsupportedFile` where the first rows have no text column, and `DamagedFile` where no row is
    usable.
    """
    tally = Tally(path)
    foreign: list[str] = []
    for found in chat_documents(_usable(rows, tally, foreign)):
        document = found if isinstance(found, Document) else _generic(found, tally)
        if document is not None:
            tally.good += 1
            yield document
        elif not tally.good and len(foreign) >= LOOK_AHEAD:
            break
    if not tally.good:
        if foreign and len(foreign) == tally.bad:
            raise UnsupportedFile(f"{path}: no passages: expected {EXPECTED}; found {foreign[0]}")
        raise DamagedFile(f"{path}: no usable row{': ' if tally.bad else ''}{tally.reason()}")
    if tally.bad:
        yield Problem(path, tally.reason(), f"indexed the other {tally.good:,} documents")


def _usable(rows: Iterable[Row], tally: Tally, foreign: list[str]) -> Iterator[Row]:
    for row in rows:
        if row.trouble:
            tally.add(row, row.trouble)
        elif not any(name in row.fields for name in TEXT) and not is_chat(row.fields):
            columns = name_columns(row.fields)
            tally.add(row, f"no text column among {columns}")
            if not tally.good:
                foreign.append(columns)
                if len(foreign) >= LOOK_AHEAD:
                    return
        else:
            yield row


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


def is_chat(fields: Mapping[str, Any]) -> bool:
    """Whether a row is a message or a whole chat."""
    return bool(message(fields)) or any(_lines(fields.get(name)) for name in MESSAGES)


def chat_documents(rows: Iterable[Row]) -> Iterator[Document | Row]:
    """Rows of chats as documents, all others as they came."""
    held, size = list[str](), 0
    for row in rows:
        lines = next(filter(None, (_lines(row.fields.get(name)) for name in MESSAGES)), [])
        said = "" if lines or OWN & row.fields.keys() else message(row.fields)
        if not said or size >= PIECE:
            yield from _made(held)
            held, size = [], 0
        if said:
            held.append(said)
            size += len(said)
        elif lines:
            yield from _made(lines)
        else:
            yield row
    yield from _made(held)


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
