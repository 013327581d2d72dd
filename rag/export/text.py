"""Names and notes for files of other programs: one line, valid Unicode, nothing that a parser acts on."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import quote

from corpora.file_names import repeats_name
from corpora.objects import is_url
from rag.export.records import Select

_SPACES = {"Cc", "Zl", "Zp"}
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""Direction marks, and characters that XML does not allow."""


def one_line(text: str) -> str:
    """`text` on one line; control characters become spaces, bytes that are not UTF-8 become U+FFFD."""
    shown = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    spaced = "".join(" " if unicodedata.category(char) in _SPACES else char for char in shown)
    return " ".join(_DIRECTIONS.sub("", spaced).split())


def file_name(path: str) -> str:
    """The last part of a path, on one line."""
    return one_line(os.path.basename(path))


def file_url(path: str) -> str:
    """`file:///...`, or an object's address, with every byte escaped that a URL does not allow; ASCII."""
    if is_url(path):
        return quote(path, safe="/:")
    return Path(os.path.abspath(path)).as_uri()


def name_of(select: Select) -> str:
    """Name of a clip or marker: its own, else the query, else the stem of the file."""
    return one_line(select.name) or one_line(select.query) or one_line(Path(select.path).stem)


def note_of(select: Select) -> str:
    """Note of a marker: its own, else the evidence."""
    kept = (line for line in select.evidence if not _repeats_name(line, select.path))
    return one_line(select.note) or one_line(" / ".join(kept))


def _repeats_name(line: str, path: str) -> bool:
    """Whether evidence is the title that the name of its file gave a video."""
    kind, _, text = line.partition(": ")
    return kind == "tag" and repeats_name(text, path)
