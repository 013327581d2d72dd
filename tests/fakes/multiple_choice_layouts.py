"""Two questions about two videos in each layout that multiple-choice benchmarks are published in.

"What is shown?" (a lamp) about the first video, "How often?" (2) about the second. The layouts are in
`multiple_choice_layouts.json`: names and nesting of fields are those that public code reads, which the notes
name; sentences are made up. A file is given as one question has it, and joined of both.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa
from pyarrow import parquet

TEXTS = ("What is shown?", "How often?")
OPTIONS = (("a desk", "a lamp", "a dog"), ("3", "1", "2"))
RIGHT = (1, 2)
Row = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """How one benchmark is published, and what its files hold beside the two questions."""

    name: str
    files: Mapping[str, Any]
    """By path, what a file holds of one question, with the names of `_values` in place of what is asked."""
    more: Sequence[Row] = ()
    """Fields of further rows of the first file, which are otherwise as its first row."""
    kind: str = "all"
    unusable: Sequence[str] = ()
    """The reasons of its other rows, in order."""
    windows: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def write(self, home: Path, videos: Sequence[str]) -> None:
        """The files below `home`; `videos`: the names of the two."""
        written: dict[str, Any] = {}
        first, second = (_values(at, videos) for at in (0, 1))
        for name, template in self.files.items():
            for values in (first, second):
                path, part = _filled(name, values), _filled(template, values)
                written[path] = _joined(written[path], part) if path in written else part
        rows = next(iter(written.values()))
        for fields in self.more:
            rows.append({**rows[0], **_filled(fields, first)})
        for name, value in written.items():
            _write(home / name, value)


def _values(at: int, videos: Sequence[str]) -> Row:
    """What the names in a layout stand for, of one question."""
    options, right = list(OPTIONS[at]), RIGHT[at]
    labelled = [f"{letter}. {text}" for letter, text in zip("ABC", options, strict=True)]
    return {
        **dict(zip("abc", options, strict=True)),
        "at": at,
        "at_as_text": str(at),
        "image": bytes([at]),
        "in_other_words": ("It is a lamp, I think.", "Twice in all.")[at],
        "index": right,
        "index_as_float": float(right),
        "index_as_text": str(right),
        "labelled": labelled,
        "letter": "ABC"[right],
        "lettered": dict(zip("ABC", options, strict=True)),
        "lines": "\n".join(labelled),
        "options": options,
        "printed": str(options),
        "printed_labelled": str(labelled),
        "right": options[right],
        "some_in_lists": [[text] for text in options] if at else options,
        "text": TEXTS[at],
        "video": videos[at],
        "videos": list(videos),
    }


def _filled(template: Any, values: Row) -> Any:
    """A text that is one name as its value; names within a text as text."""
    if isinstance(template, dict):
        return {_text(key, values): _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(part, values) for part in template]
    if isinstance(template, str):
        name = re.fullmatch(r"\$(\w+)", template)
        return values[name[1]] if name else _text(template, values)
    return template


def _text(template: str, values: Row) -> str:
    return Template(template).substitute(values)


def _joined(one: Any, other: Any) -> Any:
    """Lists one after the other, also below a key; else what is new in `other` beside what is in `one`."""
    if isinstance(one, list):
        return one + other
    lists = {key: one[key] + part for key, part in other.items() if isinstance(part, list) and key in one}
    return {**one, **other, **lists}


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".json":
            path.write_text(json.dumps(value), encoding="utf-8")
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\r\n" for row in value), encoding="utf-8-sig")
        case ".parquet":
            parquet.write_table(pa.Table.from_pylist(value), path)
        case _:
            with path.open("w", encoding="utf-8", newline="") as file:
                mark = "\t" if path.suffix == ".tsv" else ","
                writer = csv.DictWriter(file, list(value[0]), delimiter=mark)
                writer.writeheader()
                writer.writerows(value)


def _layout(held: Row) -> Layout:
    windows = {name: tuple(map(tuple, spans)) for name, spans in held.pop("windows", {}).items()}
    return Layout(**held, windows=windows)


LAYOUTS = tuple(map(_layout, json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))))
