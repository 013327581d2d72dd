"""Published files read by maps: a TOML table says where a data set's rows are, and what their fields mean.

    [NExT-GQA]
    has = ["a0", "a1", "qid"]                      # a row with these fields is of this data set
    rows = ["", "logs.*.doc"]                      # where rows are in an entry of a file; the first that fits
    beside = { file = "*gsub_*.json", rows = "{video_id}.location.{qid}.=spans" }
    fields = { id = "{video_id}_{qid}", video = "video_id", question = "question", options = "a#" }

`rows` are steps between dots: a key, `*` for the items of a list, `{name}` for the values of a mapping, whose
keys become the field `name`, `a+b` for lists side by side, and `=name` for a value that is no mapping. A row
has the texts and numbers around it, too, and `number`, its place from 0 in the innermost list.

A field is a name, a template of names in braces, `start..end` for a pair of fields, or `a#` for as many as
there are of `a0`, `a1`, ..., of `a1`, `a2`, ... or of `aa`, `ab`, ...; of several the first that a row has
counts. Names are lower-case, with `_` for blanks and hyphens. `beside` is a file whose fields are added to
the rows that have the same id.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from importlib import resources
from itertools import islice, takewhile
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from eval.runs.records import UnusableRow
from eval.tasks.published import plain_key, plain_value, read_entries, text_of

LOOK_AHEAD = 100
"""Rows by which a layout is recognized."""
MARKS: Sequence[Sequence[object]] = (range(26), range(1, 27), string.ascii_lowercase)
"""What `#` stands for in the name of a field."""
NUMBER = "number"
"""Field of a row in a list: its place from 0."""
_NAMES = re.compile(r"\{(\w+)\}")

Names = Annotated[tuple[str, ...], BeforeValidator(lambda held: (held,) if isinstance(held, str) else held)]
Row = Mapping[str, Any]
Entry = tuple[str, Any]
"""Place in a file, and the value there; what cannot be read is an `UnusableRow`."""


class Beside(BaseModel):
    """A file with more fields of the rows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """Pattern of its name, as in a shell."""
    rows: Names = ("",)
    adds: str
    """What the fields that it has mean."""


class Layout(BaseModel):
    """How the files of one data set are laid out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    benchmark: str = ""
    """Name of the data set in figures that a paper printed; empty where there are none."""
    rows: Names = ("",)
    has: Names = ()
    lacks: Names = ()
    """Fields that no row has, by which a layout of the same fields is told from this one."""
    needs: Names
    """What fields of a row mean, beside those of `has`."""
    line: str = ""
    """Pattern of a line, with named groups for fields, where a text file has the rows."""
    skip: Mapping[str, Any] = {}
    """Rows with such a value in a field are left out."""
    beside: Beside | None = None
    fields: Mapping[str, Names]
    """Names of a row's fields, by what they mean."""
    answers: Names = ("text", "letter")
    """What the answers of questions are, the first that an option fits: text, letter, or index from 0."""

    def rows_of(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The rows of a file's entries, by the first of its paths that leads to rows of this layout."""
        for place, row in self._rows(list(entries), self.rows, self._fits):
            if not any(isinstance(row, Mapping) and row.get(key) == held for key, held in self.skip.items()):
                yield place, row

    def recognizes(self, entries: Sequence[Entry]) -> bool:
        """Whether one of a file's first rows is of this layout."""
        return any(any(map(self._fits, self._first(entries[:LOOK_AHEAD], path))) for path in self.rows)

    def joined(self, files: Sequence[Path]) -> dict[str, Row]:
        """Read the rows of the files beside, by id; the first of several with one id counts."""
        found: dict[str, Row] = {}
        if (beside := self.beside) is not None:
            for path in (each for each in files if fnmatch(each.name, beside.file)):
                entries = list(read_entries(path))
                for _, row in self._rows(entries, beside.rows, lambda row: self._means(row, beside.adds)):
                    if isinstance(row, Mapping):
                        found.setdefault(self.text(row, "id"), row)
        return found

    def _rows(
        self, entries: Sequence[Entry], paths: Sequence[str], fits: Callable[[Row], bool]
    ) -> Iterator[Entry]:
        path = next((path for path in paths if any(map(fits, self._first(entries, path)))), paths[0])
        for place, value in entries:
            if isinstance(held := self._of_line(place, value), UnusableRow):
                yield place, held
            else:
                rows = list(walk(held, path, place, {}))
                yield from rows or [(place, UnusableRow(place, f"not a row of {self.name}"))]

    def _first(self, entries: Sequence[Entry], path: str) -> Iterator[Row]:
        lines = ((place, self._of_line(place, value)) for place, value in entries)
        every = (row for place, value in lines for _, row in walk(value, path, place, {}))
        return islice((row for row in every if isinstance(row, Mapping)), LOOK_AHEAD)

    def _fits(self, row: Row) -> bool:
        fits = all(name in row for name in self.has) and not any(name in row for name in self.lacks)
        return fits and all(self._means(row, each) for each in self.needs)

    def _means(self, row: Row, meaning: str) -> bool:
        return self.value(row, meaning) is not None

    def value(self, row: Row, meaning: str) -> Any:
        """The field of a row that means this, as it is; None where it has none."""
        return next((held for _, held in self.values(row, meaning)), None)

    def values(self, row: Row, meaning: str) -> Iterator[tuple[str, Any]]:
        """Name and value of every field of a row that means this and is not empty."""
        for name in self.fields.get(meaning, ()):
            held = _field(row, name)
            if held not in (None, "", [], {}):
                yield name, held

    def text(self, row: Row, meaning: str) -> str:
        """The first such field that is a text or a number, as text; of a list its first part."""
        found = (
            text_of(held[0] if isinstance(held, list) else held) for _, held in self.values(row, meaning)
        )
        return next(filter(None, found), "")

    def _of_line(self, place: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(self.line, value.strip()) if self.line else None
        return found.groupdict() if found else UnusableRow(place, f"not a line of {self.name}")

    @classmethod
    def read(cls, package: str, needs: str) -> dict[str, Self]:
        """The maps in `published.toml` of a package, by name. Raises `ValueError`."""
        text = resources.files(package).joinpath("published.toml").read_text(encoding="utf-8")
        return {
            name: cls(**{"name": name, "needs": needs, **each}) for name, each in tomllib.loads(text).items()
        }


def first_keys(name: str, entries: Sequence[Entry]) -> str:
    """The keys of a file's first entry, or why there is none."""
    if not entries:
        return f"{name}: no rows"
    place, value = entries[0]
    if isinstance(value, UnusableRow):
        return f"{place}: {value.reason}"
    if not isinstance(value, Mapping):
        return f"{place}: not an object"
    return f"{name}: its keys are {', '.join(map(str, list(value)[:8])) or 'none'}"


def walk(value: Any, path: str, place: str, around: Row) -> Iterator[Entry]:
    """Place and fields of each row in a value, at the end of `path`; see the head of this module."""
    step, _, rest = path.partition(".")
    if step.startswith("="):
        yield place, {**around, step[1:]: plain_value(value)}
        return
    if step == "*":
        for number, part in enumerate(value if isinstance(value, list) else ()):
            yield from walk(part, rest, f"{place}.{number + 1}", {**around, NUMBER: number})
        return
    if not isinstance(value, dict):
        return
    fields = {plain_key(key): held for key, held in value.items()}
    if not step:
        yield place, {**around, **{key: plain_value(held) for key, held in fields.items()}}
        return
    near = {**around, **{key: plain_value(held) for key, held in fields.items() if _is_plain(held)}}
    if name := _NAMES.fullmatch(step):
        # A table from ids to values may have many thousands.
        beside = around if rest.startswith("=") else near
        for key, part in value.items():
            yield from walk(part, rest, f"{place}.{key}", {**beside, name[1]: str(key)})
    elif "+" in step:
        yield from _side_by_side(fields, step.split("+"), place, near)
    elif step in fields:
        yield from walk(fields[step], rest, place, near)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _side_by_side(fields: Row, names: Sequence[str], place: str, near: Row) -> Iterator[Entry]:
    lists = [held for name in names if isinstance(held := fields.get(name), list)]
    if lists and (len(lists) < len(names) or len(set(map(len, lists))) > 1):
        yield place, UnusableRow(place, f"{' and '.join(names)}: not lists of one length")
        return
    for number, parts in enumerate(zip(*lists, strict=True)):
        own = dict(zip(names, map(plain_value, parts), strict=True))
        yield f"{place}.{number}", {**near, **own, NUMBER: number}


def _field(row: Row, name: str) -> Any:
    if "#" in name:
        every = ([name.replace("#", str(mark)) for mark in marks] for marks in MARKS)
        found = [[row[each] for each in takewhile(row.__contains__, names)] for names in every]
        placed = zip(MARKS, found, strict=True)
        return next(
            (dict(zip(map(str, marks), held, strict=False)) for marks, held in placed if held[1:]), None
        )
    if ".." in name:
        pair = [row.get(end) for end in name.split("..")]
        return None if None in pair else pair
    if "{" not in name:
        return row.get(name)
    texts = {inner: text_of(row.get(inner)) for inner in _NAMES.findall(name)}
    return name.format(**texts) if all(texts.values()) else None
