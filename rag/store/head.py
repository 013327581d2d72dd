"""`head.json`: which version of each table a library consists of. Replacing this file is the commit.

A writer first writes its tables, each write a new version of Lance, and then replaces `head.json`: on a disk
by a rename, on an object store by a conditional put. A version that no head names is never seen: a reader
opens the versions of one head and sees all of a commit or nothing of it; a killed writer leaves versions
behind the head, which the next writer puts away (`rag.store.database`); and of two writers on a store the one
that commits second is refused, because the head is no longer the one that it began with.
"""

from __future__ import annotations

import json
import shlex
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from os import PathLike, fspath

from pydantic import TypeAdapter

from rag.errors import LibraryCorrupt, LibraryError, LibraryTooNew
from rag.store.error_mapping import REPAIR
from rag.store.layout import Layout
from rag.store.records import SCHEMA, Meta
from rag.store.schema import FIRST_TABLES

PIN_SECONDS = 1800
"""Heads that were replaced more recently than this are remembered, for a reader may have them open."""
APART_SECONDS = 60
"""Remembered heads, but for the last, are at least so far apart."""


@dataclass(frozen=True, slots=True)
class EarlierHead:
    """The versions of a head that was replaced."""

    until: float
    """When it was replaced, in seconds since 1970."""
    tables: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Head:
    """One state of a library."""

    number: int = 0
    """Counts the commits; 0 before the first."""
    tables: Mapping[str, int] = field(default_factory=dict)
    """The version of each table."""
    meta: Meta | None = None
    """None until encoders are chosen."""
    earlier: tuple[EarlierHead, ...] = ()
    """Heads before this one whose versions may be in use, the newest first."""
    commit: str = ""
    """Random, so that a writer knows its own commit where a store's answer was lost."""

    def next(self, tables: Mapping[str, int], meta: Meta | None) -> Head:
        """The head that takes the place of this one."""
        now = time.time()
        recent = (each for each in self.earlier if each.until > now - PIN_SECONDS)
        # Of a table that was dropped the versions are gone.
        held = [each for each in recent if each.tables.keys() <= tables.keys()]
        if len(held) > 1 and held[0].until - held[1].until < APART_SECONDS:
            del held[0]
        if self.number and self.tables.keys() <= tables.keys():
            held.insert(0, EarlierHead(now, self.tables))
        return Head(self.number + 1, dict(tables), meta, tuple(held), uuid.uuid4().hex)

    def oldest_in_use(self, table: str) -> int:
        """The oldest version of a table that this head or one before it needs."""
        # Heads right after a remembered one without the table, which are not remembered, may have it.
        return min([self.tables[table], *(each.tables.get(table, 0) for each in self.earlier)])

    def to_bytes(self) -> bytes:
        """The content of `head.json`."""
        return f"{json.dumps({'schema': SCHEMA, **asdict(self)}, indent=1)}\n".encode()


def parse_head(folder: PathLike[str], content: bytes) -> Head:
    """A head from the content of its file.

    Raises `LibraryCorrupt` for what is none, `LibraryTooNew` for one of a newer version of the program and
    `LibraryError` for one of an older.
    """
    try:
        held = json.loads(content)
        number = int(held.pop("schema"))
        if number == SCHEMA:
            head = _heads().validate_python(held)
            if not head.tables.keys() >= set(FIRST_TABLES):
                raise KeyError(FIRST_TABLES)
            return head
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise damaged_head(folder, "cannot be read") from error
    if number > SCHEMA:
        raise LibraryTooNew(
            f"{folder}: written by a newer version of this program (schema {number}, this one knows {SCHEMA})"
            "; upgrade it, or use another library with --library"
        )
    raise LibraryError(
        f"{folder}: made by an older version of this program, which this one does not read; "
        "index again into a new folder: rag index FOLDER --library NEW"
    )


@cache
def _heads() -> TypeAdapter[Head]:
    return TypeAdapter(Head)


def damaged_head(folder: PathLike[str], what: str) -> LibraryCorrupt:
    """The error for a library whose `head.json` is lost, with the command that puts it back."""
    remedy = f"{REPAIR} --library {shlex.quote(fspath(folder))}"
    return LibraryCorrupt(f"{folder}: head.json {what}; {remedy}")


def lost_head(folder: PathLike[str]) -> LibraryCorrupt:
    """The error for a library without `head.json` and its copy, which nothing puts back."""
    return LibraryCorrupt(
        f"{folder}: head.json is lost, and with it what the tables are; "
        "move the library's folder away and index again with: rag index FOLDER"
    )


def read_head(layout: Layout) -> tuple[Head, str]:
    """The head of a library, and the ETag of its file on a store; a new head where there is none.

    Raises as `parse_head`.
    """
    found = layout.read_head()
    if found is None and layout.read_spare_head() is not None:
        raise damaged_head(layout.folder, "is gone")
    if found is None:
        return Head(), ""
    return parse_head(layout.folder, found[0]), found[1]
