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
    "windows": (
        "VUE-TR_ground_truth.json",
        json.dumps(
            [
                {
                    "query_id": 0,
                    "video_id": "coPfnSFOXj0",
                    "duration": 32.625,
                    "query": "a lamp is turned on",
                    "gt": [[0, 4], [12, 20]],
                    "task": "temporal_retrieval",
                    "duration_category": "ultra-short",
                    "query_format": "phrase",
                    "query_modality": "vision",
                }
            ]
        ),
    ),
}
"""By format: name of the file, and its text."""

_YOUCOOK2 = {
    "subset": "validation",
    "recipe_type": "113",
    "duration": 60.5,
    "annotations": [{"segment": [2, 9], "id": 0, "sentence": "cut the leek"}],
    "video_url": "https://www.youtube.com/watch?v=xHr8X2Wpmno",
}
_COIN = {
    "subset": "testing",
    "class": "ReplaceCD",
    "duration": 90.0,
    "annotation": [
        {"id": "2", "segment": [30.0, 40.0], "label": "take it out"},
        {"id": "3", "segment": [50.0, 60.0], "label": "put it in"},
        {"id": "2", "segment": [70.0, 80.0], "label": "take it out"},
    ],
}
_HIREST = {"relevant": True, "clip": True, "v_duration": 207.08, "bounds": [50, 121], "steps": []}

WINDOW_LAYOUTS: Mapping[str, tuple[str, Any, tuple[tuple[Any, ...], ...]]] = {
    "YouCook2, as the package videomind reads it": (
        "youcookii_annotations_trainval.json",
        {"database": {"xHr8X2Wpmno": _YOUCOOK2, "t": {**_YOUCOOK2, "subset": "training"}}},
        (("xHr8X2Wpmno-0", "cut the leek", "xHr8X2Wpmno", ((2.0, 9.0),), 60.5),),
    ),
    "YouCook2, as lmms-eval reads it": (
        "val.json",
        [{"youtube_id": "xHr8X2Wpmno", "video_path": "a.mp4", "sentence": "cut the leek", "segment": [2, 9]}],
        (("0", "cut the leek", "xHr8X2Wpmno", ((2.0, 9.0),), 0.0),),
    ),
    "COIN, its repository": (
        "COIN.json",
        {"database": {"LtRSn": _COIN, "t": {**_COIN, "subset": "training"}}},
        (
            ("LtRSn-0", "take it out", "LtRSn", ((30.0, 40.0), (70.0, 80.0)), 90.0),
            ("LtRSn-1", "put it in", "LtRSn", ((50.0, 60.0),), 90.0),
        ),
    ),
    "HiREST, its repository": (
        "all_data_val.json",
        {"Make a lamp": {"a.mp4": _HIREST, "b.mp4": {**_HIREST, "clip": False, "bounds": [0, 0]}}},
        (("Make a lamp-a.mp4", "Make a lamp", "a.mp4", ((50.0, 121.0),), 207.08),),
    ),
    "MedVidQA, its repository": (
        "test.json",
        [
            {"sample_id": 3, "question": "How to wash?", "video_id": "s9", "video_length": 98}
            | {"answer_start": "00:20", "answer_end": "01:10"}
            | {"answer_start_second": 20, "answer_end_second": 70}
        ],
        (("3", "How to wash?", "s9", ((20.0, 70.0),), 98.0),),
    ),
    "MAD, its repository": (
        "MAD_test.json",
        {
            "7": {
                "movie": "10142",
                "sentence": "She sits.",
                "timestamps": [5.0, 6.0],
                "movie_duration": 5400.0,
            }
            | {"ext_timestamps": [-1.0, 7.0]}
        },
        (("7", "She sits.", "10142", ((0.0, 7.0),), 5400.0),),
    ),
    "TimeLens, as lmms-eval reads it": (
        "test.json",
        [{"video_path": "a/3MSZA.mp4", "query": "a person sits", "span": [[1.0, 5.5]], "duration": 30.0}],
        (("0", "a person sits", "a/3MSZA.mp4", ((1.0, 5.5),), 30.0),),
    ),
}
"""Of benchmarks of the format `windows`: made-up sentences under the names of fields that the public code
named reads. Name of the file, its value, and the id, text, video, windows and duration of each moment."""


def write_layout(folder: Path, name: str) -> Path:
    """Gives the folder."""
    file, text = LAYOUTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return folder
