"""WikiHow's two CSV layouts: whole articles, and articles in one row for each step.

`wikihowAll.csv` has headline, title, text; `wikihowSep.csv` has overview, headline, text,
sectionLabel, title (github.com/mahnazkoupaee/WikiHow-Dataset).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from corpora.passages.document import Document, make_document

if TYPE_CHECKING:
    from corpora.passages.rows import Row

ALL = frozenset({"headline", "title", "text"})
SEPARATE = frozenset({"overview", "headline", "text", "sectionlabel", "title"})
MAX_ARTICLE = 8 * 2**20

UNNAMED = frozenset({"", "unnamed: 0"})
"""Names of the row numbers that data frames write out."""

_NUMBERED = re.compile(r"(?<=[a-z])\d{1,2}$")


def wikihow_documents(rows: Iterable[Row]) -> Iterator[Document | Row]:
    """Rows of WikiHow as documents, all others as they came."""
    article: list[Row] = []
    size = 0
    for row in rows:
        columns = row.fields.keys()
        separate = columns >= SEPARATE
        if article and (not separate or _title(row) != _title(article[0]) or size > MAX_ARTICLE):
            yield _joined(article) or article[0]
            article, size = [], 0
        if separate:
            article.append(row)
            size += sum(len(_text(row, name)) for name in SEPARATE)
        elif columns - UNNAMED == ALL:
            yield make_document(_title(row), f"{_cleaned(row, 'headline')}\n\n{_cleaned(row, 'text')}") or row
        else:
            yield row
    if article:
        yield _joined(article) or article[0]


def _joined(rows: list[Row]) -> Document | None:
    """One article: overview once, each section label once, each step with its details."""
    parts: list[str] = []
    overview = section = ""
    for row in rows:
        if _cleaned(row, "overview") != overview:
            overview = _cleaned(row, "overview")
            parts.append(overview)
        if _cleaned(row, "sectionlabel") != section:
            section = _cleaned(row, "sectionlabel")
            parts.append(section)
        parts.append("\n".join(filter(None, (_cleaned(row, "headline"), _cleaned(row, "text")))))
    return make_document(_title(rows[0]), "\n\n".join(filter(None, parts)))


def _title(row: Row) -> str:
    """Articles of one name are reported apart by a number glued to it, which is no part of the title."""
    return _NUMBERED.sub("", _text(row, "title").strip())


def _text(row: Row, name: str) -> str:
    value = row.fields.get(name)
    return value if isinstance(value, str) else ""


def _cleaned(row: Row, name: str) -> str:
    """The dump left the commas and semicolons of its lists at the line ends: `step one.,`"""
    lines = (line.strip().lstrip(",; ") for line in _text(row, name).split("\n"))
    return "\n".join(_ended(line) for line in lines if line)


def _ended(line: str) -> str:
    if line[-1] not in ",;":
        return line
    words = line.rstrip(",; ")
    return words if words.endswith((".", "!", "?", ":")) else words + "."
