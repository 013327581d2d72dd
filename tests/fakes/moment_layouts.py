"""Annotations of moments as their benchmarks publish them, on two videos."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


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


_NLQ_QUERY = {"query": "Where was the lamp?", "clip_start_sec": 7.5, "clip_end_sec": 9.0}
_NLQ_CLIP = {
    "clip_uid": "fae92e70",
    "video_start_sec": 60.0,
    "video_end_sec": 540.0,
    "annotations": [
        {
            "language_queries": [{**_NLQ_QUERY, "video_start_sec": 67.5, "video_end_sec": 69.0}],
            "annotation_uid": "f3083484",
        }
    ],
}

LAYOUTS: Mapping[str, tuple[str, str]] = {
    "qvhighlights": ("highlight_val_release.jsonl", lines(*qvhighlights(["v_0.0_60.0", "v_60.0_120.0"]))),
    "charades-sta": (
        "charades_sta_test.txt",
        "3MSZA 24.3 30.4##person turn a light on.\n0A8CF 1.0 5.5##a person sits.\n",
    ),
    "didemo": (
        "val_data.json",
        json.dumps(
            [
                {
                    "num_segments": 6,
                    "description": "the man bends over the machine",
                    "times": [[1, 1], [1, 2], [1, 1], [0, 0]],
                    "video": "35034348999@N01_6060447507_dc1a90b8ef.mov",
                    "annotation_id": 49152,
                }
            ]
        ),
    ),
    "tvr": (
        "tvr_val_release.jsonl",
        lines(
            {
                "vid_name": "friends_s01e03_seg02_clip_19",
                "duration": 61.46,
                "ts": [16.48, 33.87],
                "desc": "Phoebe puts one of her ponytails in her mouth.",
                "type": "v",
                "desc_id": 90200,
            }
        ),
    ),
    "activitynet": (
        "val_1.json",
        json.dumps(
            {
                "v_uqiMw7tQ1Cc": {
                    "duration": 55.15,
                    "timestamps": [[0.28, 55.15], [13.79, 54.32]],
                    "sentences": ["A weight lifting tutorial.", " The coach helps the guy in red. "],
                }
            }
        ),
    ),
    "tacos": (
        "test.json",
        json.dumps(
            {
                "s13-d21.avi": {
                    "timestamps": [[0, 294], [588, 9000]],
                    "sentences": ["He takes out a knife.", "He washes it."],
                    "fps": 29.4,
                    "num_frames": 8820,
                }
            }
        ),
    ),
    "ego4d-nlq": (
        "nlq_val.json",
        json.dumps({"version": "1", "date": "220216", "videos": [{"video_uid": "u", "clips": [_NLQ_CLIP]}]}),
    ),
}
"""By format: name of the file, and its text."""


def write_layout(folder: Path, name: str) -> Path:
    """Gives the folder."""
    file, text = LAYOUTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return folder
