"""Annotations of moments as their benchmarks publish them, on two videos."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Layout(NamedTuple):
    """A file as it is published, and what is read of it."""

    file: str
    value: Any
    """Of the JSON, or of its lines; or the text."""
    moments: list[Any]

    def write(self, folder: Path) -> Path:
        """Gives the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        text = self.value
        if not isinstance(text, str):
            text = lines(*text) if self.file.endswith(".jsonl") else json.dumps(text)
        (folder / self.file).write_text(text, encoding="utf-8")
        return folder


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def qvhighlights(videos: Sequence[str], **more: Any) -> list[dict[str, Any]]:
    """The drill is shown from 20 to 40 s of each video."""
    gold = {
        "relevant_clip_ids": [10, 11, 12],
        "saliency_scores": [[4, 4, 3], [2, 4, 4], [0, 1, 2]],
        "relevant_windows": [[20, 40]],
    }
    return [
        {"qid": 7 + place, "query": "The drill is used.", "duration": 60, "vid": video, **gold, **more}
        for place, video in enumerate(videos)
    ]


_HELD = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

LAYOUTS = {name: Layout(*each) for name, each in _HELD["published"].items()}
"""By format. Of a moment: id, text, cluster, family and windows."""

WINDOW_LAYOUTS = {name: Layout(*each) for name, each in _HELD["by_fields"].items()}
"""Of benchmarks of the format `windows`: made-up sentences under the names of fields that the public code
named reads. Of a moment: id, text, video and windows."""
