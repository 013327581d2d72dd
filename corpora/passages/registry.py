"""Which reader takes a file of passages: by its first bytes, then by its suffix."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from corpora.errors import DamagedFile, UnreadableFile, UnsupportedFile
from corpora.passages.document import Document
from corpora.records import Problem

READERS = {
    ".txt": "plain_text:read",
    ".text": "plain_text:read",
    ".md": "markdown:read",
    ".markdown": "markdown:read",
    ".html": "web_page:read",
    ".htm": "web_page:read",
    ".xhtml": "web_page:read",
    ".pdf": "pdf:read",
    ".csv": "delimited:read",
    ".tsv": "delimited:read",
    ".jsonl": "json_lines:read",
    ".ndjson": "json_lines:read",
    ".json": "json_lines:read_json",
    ".parquet": "parquet:read",
}
"""`module:function` below this package, imported when first needed."""

MAGIC = ((b"%PDF-", "pdf:read"), (b"PAR1", "parquet:read"))

Reader = Callable[[str], Iterator[Document | Problem]]


def read_documents(path: str | os.PathLike[str]) -> Iterator[Document | Problem]:
    """The documents of one file, streamed, in its own order.

    What is bad in an otherwise good file is told by one `Problem`, which comes last. Raises
    `UnreadableFile`, `UnsupportedFile` or `DamagedFile`, each `path: reason`, if there is nothing
    to be had; before the first document where that can be known.
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


def _reader(path: str) -> Reader:
    if not Path(path).exists() or Path(path).is_file():
        with Path(path).open("rb") as file:
            head = file.read(8)
    else:
        raise UnreadableFile(f"{path}: not a plain file")
    entry = next((entry for magic, entry in MAGIC if head.startswith(magic)), None)
    entry = entry or READERS.get(Path(path).suffix.lower())
    if entry is None:
        raise UnsupportedFile(f"{path}: no reader for this kind of file; known are {', '.join(READERS)}")
    module, _, function = entry.partition(":")
    reader: Reader = getattr(importlib.import_module(f"corpora.passages.{module}"), function)
    return reader
