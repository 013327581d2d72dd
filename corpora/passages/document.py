"""The document, as every reader of passages gives it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from corpora.text_decoding import clean

MAX_TITLE = 300
MAX_ID = 500


@dataclass(frozen=True, slots=True)
class Document:
    """A text of a file, before it is cut into passages."""

    doc_id: str
    """The format's own id where it has one, else 32 hex digits of blake2b over title and text."""
    title: str
    """One line, from the content and never from the file's name; empty if there is none."""
    text: str
    """Not empty; paragraphs are parted by blank lines."""


def make_document(title: str, text: str, doc_id: str = "") -> Document | None:
    """A cleaned document, or None if there is nothing.

    A title that opens the text is taken off it; a single title stands as its own text.
    """
    title, text = one_line(title)[:MAX_TITLE].rstrip(), tidy(text)
    if title and text.startswith(title + "\n"):
        text = text[len(title) :].lstrip()
    text = text or title
    if not text:
        return None
    own_id = one_line(doc_id)[:MAX_ID]
    return Document(own_id or _content_id(title, text), title, text)


def cut_point(text: str, limit: int) -> int:
    """Where to cut a text of more than `limit` characters.

    Behind the last paragraph, line, sentence or word of its last quarter, whichever there is.
    """
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, limit * 3 // 4, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def one_line(text: str) -> str:
    """Cleaned, with every run of white space made one blank."""
    return " ".join(clean(text).split())


def tidy(text: str) -> str:
    """Cleaned, without blanks at line ends and without more than one blank line in a row."""
    lines = [line.rstrip() for line in clean(text).split("\n")]
    kept = (line for line, before in zip(lines, ["", *lines], strict=False) if line or before)
    return "\n".join(kept).strip()


def _content_id(title: str, text: str) -> str:
    return hashlib.blake2b(f"{title}\0{text}".encode(), digest_size=16).hexdigest()
