"""Kinds of documents by the suffixes of their names, each a `DocumentFormat` that an entry point names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from corpora.entry_points import all_entry_points, find_entry_point, load_entry_point
from corpora.errors import SettingsError

if TYPE_CHECKING:
    from corpora.passages.document import Document
    from corpora.passages.page_layout import RecognizedPage, ScannedPage
    from corpora.records import Problem

READERS = "rag.document_readers"
"""The group of the entry points. The name of one is a suffix without its dot, in lower case; its value is a
`DocumentFormat`, or the function `read` of one that needs nothing else."""


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """All that the rest of the program knows of a kind of document."""

    read: Callable[..., Iterator[Document | Problem]]
    """`read(path)` gives the documents of a file, as `corpora.passages.read_documents` does. With
    `scanned_pages`, `read(path, recognized)` also takes the pages that OCR has read, None without OCR."""
    magic: bytes = b""
    """The first bytes of every such file, by which it is known whatever its name; empty: its name decides."""
    text_share: float = 1.0
    """Bytes of text in a byte of such a file, about: less than 1 where it holds images and fonts."""
    scanned_pages: Callable[[str], Iterator[ScannedPage | RecognizedPage]] | None = None
    """`scanned_pages(path)` gives the pages of a file that are images alone, for OCR."""


def has_reader(suffix: str) -> bool:
    """Whether a suffix, with its dot and in lower case, is one of documents; no reader is imported."""
    return len(suffix) > 1 and find_entry_point(READERS, suffix[1:]) is not None


@cache
def document_format(suffix: str) -> DocumentFormat | None:
    """The format of a suffix, with its dot and in lower case; None where it has no reader.

    Raises `SettingsError` where the reader of another package cannot be imported.
    """
    if not has_reader(suffix):
        return None
    found: Any = load_entry_point(READERS, suffix[1:], "document reader")
    return found if isinstance(found, DocumentFormat) else DocumentFormat(found)


def format_of_head(head: bytes) -> DocumentFormat | None:
    """The format with whose `magic` a file begins; None without one."""
    return next((known for known in _with_magic() if head.startswith(known.magic)), None)


@cache
def _with_magic() -> tuple[DocumentFormat, ...]:
    found = dict[int, DocumentFormat]()
    for name in all_entry_points(READERS):
        try:
            known = document_format(f".{name}")
        except SettingsError:  # `rag doctor` reports it
            continue
        if known is not None and known.magic:
            found[id(known)] = known
    return tuple(found.values())


def text_bytes(path: str, size: int) -> float:
    """About how many bytes of text a document of `size` bytes holds, by the suffix of its name."""
    try:
        known = document_format(PurePath(path).suffix.lower())
    except SettingsError:  # reading the file reports it
        known = None
    return size * (1.0 if known is None else known.text_share)
