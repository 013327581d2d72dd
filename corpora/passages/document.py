"""The document, and how a file is read by the format that its first bytes or its name say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.entry_points import all_entry_points
from corpora.errors import DamagedFile, SettingsError, UnreadableFile, UnsupportedFile, os_reason
from corpora.formats import READERS, DocumentFormat, document_format, format_of_head
from corpora.records import Problem
from corpora.text_decoding import clean, one_line

if TYPE_CHECKING:
    from corpora.passages.page_layout import RecognizedPage, ScannedPage

MAX_TITLE = 300
MAX_ID = 500


def read_within(path: str, most: int) -> bytes:
    """The bytes of a file of at most `most` bytes. Raises `UnsupportedFile` for more."""
    with Path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UnsupportedFile(f"{path}: larger than {most >> 20} MiB")
    return data


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins in the text of a document."""

    place: int
    """Characters before it."""
    number: int
    """From 1, as viewers count."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text of a file, before it is cut into passages."""

    doc_id: str
    """The format's own id where it has one, else 32 hex digits of blake2b over title and text."""
    title: str
    """One line, from the content and never from the file's name; empty if there is none."""
    text: str
    """Not empty; paragraphs are separated by blank lines."""
    pages: tuple[PageStart, ...] = ()
    """In order; of two at one place the first has no text. Empty where the format has no pages."""


def make_document(
    title: str, text: str, doc_id: str = "", *, pages: Sequence[PageStart] = ()
) -> Document | None:
    """A cleaned document, or None if there is nothing.

    A title that opens the text is taken off it; a single title is its own text. `pages`: of a text that is
    `tidy`.
    """
    title, text = one_line(title)[:MAX_TITLE].rstrip(), tidy(text)
    whole = len(text)
    if title and text.startswith(title + "\n"):
        text = text[len(title) :].lstrip()
    starts = tuple(PageStart(max(0, page.place - whole + len(text)), page.number) for page in pages)
    text = text or title
    if not text:
        return None
    own_id = one_line(doc_id)[:MAX_ID]
    return Document(own_id or _content_id(title, text), title, text, starts)


def stated_title(title: str) -> str:
    """The title that a file states, unless it is what a word processor put there by itself."""
    title = title.strip()
    made_up = ("microsoft ", "untitled", "slide 1", "powerpoint", "(anonymous)")
    named = (".doc", ".docx", ".pdf", ".tex", ".dvi", ".indd", ".ppt", ".pptx")
    return "" if title.lower().startswith(made_up) or title.lower().endswith(named) else title


def cut_point(text: str, limit: int) -> int:
    """Where to cut a text of more than `limit` characters.

    Behind the last paragraph, line, sentence or word of its last quarter, whichever there is.
    """
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, limit * 3 // 4, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def tidy(text: str) -> str:
    """Cleaned, without blanks at line ends and without more than one blank line in a row."""
    lines = [line.rstrip() for line in clean(text).split("\n")]
    kept = (line for line, before in zip(lines, ["", *lines], strict=False) if line or before)
    return "\n".join(kept).strip()


def complaint(error: Exception) -> str:
    """What a parser says of a file, in one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__


def _content_id(title: str, text: str) -> str:
    return hashlib.blake2b(f"{title}\0{text}".encode(), digest_size=16).hexdigest()


def read_documents(
    path: str | os.PathLike[str], recognized: Sequence[RecognizedPage] | None = None
) -> Iterator[Document | Problem]:
    """The documents of one file, streamed, in the file's order.

    `recognized`: what OCR gave of the scanned pages, for a format that has such pages; None without OCR.
    What is bad in an otherwise good file is one `Problem`, which comes last. Raises `UnreadableFile`,
    `UnsupportedFile` or `DamagedFile`, each `path: reason`, if there is no document; before the first
    document where that can be known.
    """
    named = os.fspath(path)
    some = False
    try:
        known = format_of(named)
        for found in known.read(named, recognized) if known.scanned_pages else known.read(named):
            some = some or isinstance(found, Document)
            yield found
    except OSError as error:
        raise UnreadableFile(f"{named}: cannot be read: {os_reason(error)}") from error
    if not some:
        raise DamagedFile(f"{named}: no text in it")


def format_of(path: str) -> DocumentFormat:
    """The format of a file: by its first bytes, else by its suffix.

    Raises `UnsupportedFile` where no reader takes it, `UnreadableFile` for what is no plain file, `OSError`
    for one that cannot be opened.
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        raise UnreadableFile(f"{path}: not a plain file")
    with file.open("rb") as opened:
        head = opened.read(8)
    try:
        found = format_of_head(head) or document_format(file.suffix.lower())
    except SettingsError as error:
        raise UnsupportedFile(f"{path}: {error}") from error
    if found is None:
        known = ", ".join(f".{name}" for name in all_entry_points(READERS))
        raise UnsupportedFile(f"{path}: no reader for this kind of file; known are {known}")
    return found


def scanned_pages_of(path: str) -> Iterator[ScannedPage | RecognizedPage]:
    """The pages of a file that are images alone, for OCR; most formats have none. Raises as `format_of`."""
    pages = format_of(path).scanned_pages
    yield from pages(path) if pages else ()
