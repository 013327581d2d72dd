"""Files in the layouts that benchmarks are published in, and what is read of them.

`multiple_choice_layouts.json`: "What is shown?" (a lamp) about the video v0, "How often?" (2) about v1.
`moment_layouts.json`: by format, and for the format `windows` by benchmark. Names and nesting of fields are
those that public code reads, which the notes name; sentences are made up.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet


@dataclass(frozen=True)
class Layout:
    """How one benchmark is published."""

    name: str
    files: Mapping[str, Any]
    """By path: the value of the JSON, the rows, or the text."""
    kind: str = "all"
    unusable: Sequence[str] = ()
    """The reasons of its other rows, in order."""
    windows: Mapping[str, Any] = field(default_factory=dict)
    moments: Sequence[Any] = ()
    """Of each: id, text, cluster, family and windows."""
    note: str = ""

    def write(self, folder: Path) -> Path:
        """Gives the folder."""
        for name, value in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _write(folder / name, value)
        return folder


def _write(path: Path, value: Any) -> None:
    match path.suffix:
        case ".json" | ".txt":
            path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        case ".jsonl":
            path.write_text(lines(*value).replace("\n", "\r\n"), encoding="utf-8-sig", newline="")
        case ".parquet":
            parquet.write_table(pa.Table.from_pylist([{**row, "thumbnail": b"\0"} for row in value]), path)
        case suffix:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(value[0]), delimiter="\t" if suffix == ".tsv" else ",")
                writer.writeheader()
                writer.writerows(value)


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def qvhighlights(videos: Sequence[str]) -> list[dict[str, Any]]:
    """The drill is shown from 20 to 40 s of each video."""
    gold = {
        "relevant_clip_ids": [10, 11, 12],
        "saliency_scores": [[4, 4, 3], [2, 4, 4], [0, 1, 2]],
        "relevant_windows": [[20, 40]],
    }
    return [
        {"qid": 7 + place, "query": "The drill is used.", "duration": 60, "vid": video, **gold}
        for place, video in enumerate(videos)
    ]


def _held(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


QUESTIONS = tuple(Layout(**held) for held in _held("multiple_choice_layouts.json"))
MOMENTS = tuple(
    (form if group == "published" else "windows", Layout(form, {file: value}, moments=moments))
    for group, layouts in _held("moment_layouts.json").items()
    for form, (file, value, moments) in layouts.items()
)
"""Each with its format."""
