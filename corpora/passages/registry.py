"""Which reader takes a file of passages: by its first bytes, then by its suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from corpora.entry_points import all_entry_points, find_entry_point, load_entry_point
from corpora.errors import DamagedFile, UnreadableFile, UnsupportedFile
from corpora.passages.document import Document
from corpora.records import Problem

GROUP = "rag.document_readers"
"""Entry points of readers: the name is a file's suffix without its dot, in lower case, and the value a
function `read(path) -> Iterator[Document | Problem]`."""

MAGIC = ((b"%PDF-", "pdf"), (b"PAR1", "parquet"))
"""First bytes that count for more than the suffix."""

DocumentReader = Callable[[str], Iterator[Document | Problem]]


def document_suffixes() -> frozenset[str]:
    """Suffixes that a reader is registered for, with their dots, in lower case."""
    return frozenset(f".{name}" for name in all_entry_points(GROUP))


def read_documents(path: str | os.PathLike[str]) -> Iterator[Document | Problem]:
    """The documents of one file, streamed, in the file's order.

    What is bad in an otherwise good file is one `Problem`, which comes last. Raises `UnreadableFile`,
    `UnsupportedFile` or `DamagedFile`, each `path: reason`, if there is no document; before the first
    document where that can be known.
    """
    named = os.fspath(path)
    some = False
    try:
        for found in _reader(named)(named):
            some = some or isinstance(found, Document)
            yield found
    except OSError as error:
        raise UnreadableFile(f"{named}: cannot be read: {(error.strerror or str(error)).lower()}") from error
    if not some:
        raise DamagedFile(f"{named}: no text in it")


def _reader(path: str) -> DocumentReader:
    if not Path(path).exists() or Path(path).is_file():
        with Path(path).open("rb") as file:
            head = file.read(8)
    else:
        raise UnreadableFile(f"{path}: not a plain file")
    suffix = Path(path).suffix.lower().removeprefix(".")
    name = next((name for magic, name in MAGIC if head.startswith(magic)), suffix)
    if find_entry_point(GROUP, name) is None:
        known = ", ".join(f".{name}" for name in all_entry_points(GROUP))
        raise UnsupportedFile(f"{path}: no reader for this kind of file; known are {known}")
    reader: DocumentReader = load_entry_point(GROUP, name, "document reader")
    return reader
