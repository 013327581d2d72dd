"""Jupyter notebooks (`.ipynb`): text, code, and what was printed; images and other data are left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from corpora.errors import DamagedFile
from corpora.passages.document import Document, make_document, read_within
from corpora.passages.markdown import first_heading, plain
from corpora.records import Problem
from corpora.text_decoding import decode

MAX_BYTES = 256 * 2**20
MAX_PRINTED = 2000
"""Characters of what a cell printed."""


def read(path: str) -> Iterator[Document | Problem]:
    """One document. The title is the first heading."""
    data = read_within(path, MAX_BYTES)
    try:
        notebook = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: not a notebook: no valid JSON") from error
    title, parts = "", list[str]()
    for cell in _cells(notebook):
        # Before version 4 code was called input.
        source = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") in ("markdown", "heading"):
            title = title or first_heading(source)
            source = plain(source)
        parts += [source, *map(_printed, _objects(cell.get("outputs")))]
    document = make_document(title, "\n\n".join(filter(str.strip, parts)))
    if document is None:
        raise DamagedFile(f"{path}: a notebook without text")
    yield document


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    for sheet in [notebook, *_objects(notebook.get("worksheets"))] if isinstance(notebook, dict) else ():
        yield from _objects(sheet.get("cells"))


def _printed(output: dict[str, Any]) -> str:
    """The text of an output; an error has none."""
    data = output.get("data")
    held = data.get("text/plain") if isinstance(data, dict) else output.get("text")
    return _joined(held)[:MAX_PRINTED]


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _joined(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
