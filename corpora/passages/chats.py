"""Chats in files of rows: each message under its speaker, and those of one chat in one document.

A row is a message with a speaker (`{"role": "user", "content": "Hi"}`), or a chat, in a list of messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from corpora.passages.document import Document, make_document

if TYPE_CHECKING:
    from corpora.passages.rows import Row

SPEAKER = ("role", "user", "speaker", "author", "sender", "from", "username", "nickname")
MESSAGE = ("content", "text", "message", "value", "body", "msg")
MESSAGES = ("messages", "conversation", "conversations", "turns", "dialog", "dialogue")
NAMES, MOST_NAME = ("name", "username", "role"), 80
"""Of a speaker who is an object, and the most characters of a name."""
PIECE = 2**20
"""Characters of messages after which the next ones are another document."""


OWN = frozenset(("title", "heading", "headline", "name", "subject", "_id", "id", "doc_id", "docid"))
"""Columns of a row that is a document by itself."""


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
    rows = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return [*filter(None, (message({str(key).lower(): held for key, held in row.items()}) for row in rows))]


def _name(value: Any) -> str:
    """The name of a speaker, who may be an object with one."""
    held = next((value[key] for key in NAMES if key in value), "") if isinstance(value, dict) else value
    return " ".join(held.split())[:MOST_NAME] if isinstance(held, str) else ""


def _text(value: Any) -> str:
    """A text, or the texts of a list of parts, as images stand beside them."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
