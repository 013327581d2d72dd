"""Two questions about two videos in each layout that multiple-choice benchmarks are published in.

"What is shown?" (a lamp) about the first video, "How often?" (2) about the second.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
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
    write: Callable[[Path, Sequence[str]], None]
    kind: str = "all"
    unusable: tuple[str, ...] = ()
    """The reasons of its other rows, in order."""
    windows: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)


def _labelled(question: int, label: str = "{}. ") -> list[str]:
    return [label.format(letter) + text for letter, text in zip("ABC", OPTIONS[question], strict=True)]


def _letter(question: int) -> str:
    return "ABC"[RIGHT[question]]


def _dump(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _lines(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\r\n" for row in rows), encoding="utf-8-sig")


def _table(path: Path, rows: Sequence[Row], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def _videomme(videos: Sequence[str]) -> list[Row]:
    return [
        {
            "video_id": f"60{at}",
            "duration": "long",
            "domain": "Knowledge",
            "url": f"https://www.youtube.com/watch?v={video}",
            "videoID": video,
            "question_id": f"60{at}-1",
            "task_type": "Counting",
            "question": TEXTS[at],
            "options": _labelled(at),
            "answer": _letter(at),
        }
        for at, video in enumerate(videos)
    ]


def _videomme_parquet(home: Path, videos: Sequence[str]) -> None:
    rows = [{**row, "options": np.array(row["options"])} for row in _videomme(videos)]
    (home / "videomme").mkdir()
    columns = {key: [row[key] for row in rows] for key in rows[0]} | {"thumbnail": [b"1", b"2"]}
    parquet.write_table(pa.table(columns), home / "videomme" / "test-00000-of-00001.parquet")


def _videomme_tsv(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "index": at,
            "video": row["videoID"],
            "video_path": f"./video/{row['videoID']}.mp4",
            "duration": "long",
            "candidates": str(row["options"]),
            "task_type": row["task_type"],
            "subtitle_path": f"./subtitle/{row['videoID']}.srt",
            "question": row["question"],
            "answer": row["answer"],
        }
        for at, row in enumerate(_videomme(videos))
    ]
    _table(home / "Video-MME.tsv", rows, "\t")


def _lmms_eval(home: Path, videos: Sequence[str]) -> None:
    logs = [{"doc_id": at, "doc": doc, "target": doc["answer"]} for at, doc in enumerate(_videomme(videos))]
    _dump(home / "videomme.json", {"logs": logs, "model_configs": {}})


def _lvbench(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "key": video,
            "qa": [
                {
                    "uid": str(at),
                    "question": "\n".join([TEXTS[at], *_labelled(at, "({}) ")]),
                    "answer": _letter(at),
                    "question_type": ["key information retrieval", "reasoning"],
                    "time_reference": "00:03-01:05",
                }
            ],
            "video_info": {"duration_minutes": 30, "fps": 25.0},
            "type": "tv",
        }
        for at, video in enumerate(videos)
    ]
    _lines(home / "video_info.meta.jsonl", rows)


def _mlvu(home: Path, videos: Sequence[str]) -> None:
    for at, task in enumerate(("4_count", "5_count")):
        row = {
            "video": f"{videos[at]}.mp4",
            "duration": 480.0,
            "question": TEXTS[at],
            "question_type": "count",
        }
        row |= {"candidates": list(OPTIONS[at]), "answer": OPTIONS[at][RIGHT[at]]}
        _dump(home / "json" / f"{task}.json", [row])
    summary = {"video": "217.mp4", "question": "Please summarize this video.", "answer": "Waves."}
    _dump(home / "json" / "9_summary.json", [{**summary, "question_type": "summary"}])


def _mlvu_test(home: Path, videos: Sequence[str]) -> None:
    """With the questions of the leaderboard, and results of a model in the form to submit."""
    rows = [
        {
            "video": f"{video}.mp4",
            "question": TEXTS[at],
            "candidates": list(OPTIONS[at]),
            "question_type": "count",
            "question_id": f"AC_{at}",
        }
        for at, video in enumerate(videos)
    ]
    right = [{**row, "answer": OPTIONS[at][RIGHT[at]]} for at, row in enumerate(rows)]
    results = [{"question_id": f"AC_{at}", "question_type": "count", "option": "A"} for at in (0, 1)]
    _dump(home / "test_question.json", rows)
    _dump(home / "test_res.json", results)
    _dump(home / "test-ground-truth" / "test_mcq_gt.json", right)


def _longvideobench(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "video_id": video,
            "question": TEXTS[at],
            "question_wo_referring_query": TEXTS[at],
            "candidates": list(OPTIONS[at]),
            "correct_choice": RIGHT[at],
            "position": [0, 3],
            "question_category": "SOS",
            "id": f"{video}_0",
            "video_path": f"{video}.mp4",
            "subtitle_path": f"{video}_en.json",
            "duration_group": 15,
            "duration": 8.0,
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "lvb_val.json", rows)
    _dump(home / "lvb_test_wo_gt.json", [{**rows[0], "id": "t_0", "correct_choice": None}])
    _dump(home / "subtitles" / "v0_en.json", [{"start": "00:00", "end": "00:01", "line": "What?"}])


def _longvideobench_parquet(home: Path, videos: Sequence[str]) -> None:
    columns: dict[str, list[Any]] = {
        "video_path": [f"{video}.mp4" for video in videos],
        "question": list(TEXTS),
    }
    for place in range(5):
        columns[f"option{place}"] = [options[place] if place < 3 else "N/A" for options in OPTIONS]
    columns |= {"correct_choice": [float(right) for right in RIGHT], "question_category": ["SOS", "SOS"]}
    parquet.write_table(pa.table(columns), home / "validation-00000-of-00001.parquet")


def _egoschema(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {"q_uid": video, "google_drive_id": "1", "question": TEXTS[at]}
        | {f"option {place}": text for place, text in enumerate(OPTIONS[at])}
        for at, video in enumerate(videos)
    ]
    _dump(home / "questions.json", [*rows, {**rows[0], "q_uid": "not-in-the-subset"}])
    _dump(home / "subset_answers.json", dict(zip(videos, RIGHT, strict=True)))
    _dump(home / "uid_to_url.json", {video: f"https://example.org/{video}" for video in videos})


def _nextgqa(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {"video_id": video, "frame_count": 1906, "question": TEXTS[at], "answer": OPTIONS[at][RIGHT[at]]}
        | {"qid": at, "type": "CW"}
        | {f"a{place}": text for place, text in enumerate(OPTIONS[at])}
        for at, video in enumerate(videos)
    ]
    _table(home / "test.csv", rows)
    spans = {"v0": {"duration": 64, "location": {"0": [[9.5, 12.0], [1.0, 4.5]]}, "fps": 29.97}}
    _dump(home / "gsub_test.json", {**spans, "v1": {"duration": 63, "location": {}, "fps": 29.97}})


def _nextqa(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {"video": video, "question": TEXTS[at], "answer": RIGHT[at], "qid": at, "type": "DC"}
        | {f"a{place}": text for place, text in enumerate(OPTIONS[at])}
        for at, video in enumerate(videos)
    ]
    _table(home / "val.csv", rows)


def _rtv(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "video": f"{video}.mp4",
            "questionID": f"q-{at}",
            "type": "Event-IA",
            "question": TEXTS[at],
            "options": dict(zip("ABC", OPTIONS[at], strict=True)),
            "answer": _letter(at),
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "QA.json", rows)


def _cgbench(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "qid": at,
            "video_uid": video,
            "duration": 1200,
            "domain": "Life Record",
            "sub_category": "Entity Perception",
            "question": TEXTS[at],
            "choices": list(OPTIONS[at]),
            "answer": OPTIONS[at][RIGHT[at]],
            "right_answer": _letter(at),
            "clue_intervals": [[20, 24], [12, 14]],
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "cgbench.json", rows)


def _perception_test(home: Path, videos: Sequence[str]) -> None:
    held = {
        video: {
            "metadata": {"video_id": video, "split": "valid"},
            "object_tracking": [{"id": 0, "label": "lamp", "timestamps": [0]}],
            "mc_question": [
                {"id": 0, "question": TEXTS[at], "options": list(OPTIONS[at]), "answer_id": RIGHT[at]}
            ],
        }
        for at, video in enumerate(videos)
    }
    _dump(home / "mc_question_valid.json", held)


def _tempcompass(home: Path, videos: Sequence[str]) -> None:
    held = {}
    for at, video in enumerate(videos):
        labelled = _labelled(at)
        row = {"question": "\n".join([TEXTS[at], *labelled]), "answer": labelled[RIGHT[at]]}
        held[video] = {"action": [row]}
    _dump(home / "multi-choice.json", held)


def _tvqa(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {**{f"a{place}": text for place, text in enumerate(OPTIONS[at])}, "answer_idx": RIGHT[at]}
        | {"q": TEXTS[at], "qid": 122039 + at, "show_name": "Castle", "ts": "7.01-8.2", "vid_name": video}
        for at, video in enumerate(videos)
    ]
    _lines(home / "tvqa_val.jsonl", rows)


def _star(home: Path, videos: Sequence[str]) -> None:
    rows = [
        {
            "question_id": f"Interaction_T1_{at}",
            "question": TEXTS[at],
            "video_id": video,
            "answer": OPTIONS[at][RIGHT[at]],
            "choices": [{"choice_id": place, "choice": text} for place, text in enumerate(OPTIONS[at])],
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "STAR_val.json", rows)


LAYOUTS = (
    Layout("VideoMME, parquet", _videomme_parquet, "Counting"),
    Layout("VideoMME, TSV", _videomme_tsv, "Counting"),
    Layout("VideoMME, log of lmms-eval", _lmms_eval, "Counting"),
    Layout(
        "LVBench", _lvbench, "key information retrieval", windows={"0": ((3.0, 66.0),), "1": ((3.0, 66.0),)}
    ),
    Layout("MLVU", _mlvu, "count", ("no options",)),
    Layout("MLVU, test", _mlvu_test, "count", ("no answer", "no answer")),
    Layout("LongVideoBench", _longvideobench, "SOS", ("no answer",)),
    Layout("LongVideoBench, parquet", _longvideobench_parquet, "SOS"),
    Layout("EgoSchema", _egoschema, unusable=("no answer",)),
    Layout("NExT-GQA", _nextgqa, "CW", windows={"v0_0": ((1.0, 4.5), (9.5, 12.0))}),
    Layout("NExT-QA", _nextqa, "DC"),
    Layout("RTV-Bench", _rtv, "Event-IA"),
    Layout(
        "CG-Bench",
        _cgbench,
        "Entity Perception",
        windows=dict.fromkeys(("v0_0", "v1_1"), ((12.0, 14.0), (20.0, 24.0))),
    ),
    Layout("Perception Test", _perception_test, "mc_question"),
    Layout("TempCompass", _tempcompass, "action"),
    Layout("TVQA", _tvqa),
    Layout("STAR", _star),
)
