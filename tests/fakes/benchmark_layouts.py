"""The two questions of `multiple_choice_layouts` in the layouts of further benchmarks.

Names and nesting of fields are those that public code reads, named beside each layout; sentences are made up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.fakes.multiple_choice_layouts import (
    OPTIONS,
    RIGHT,
    TEXTS,
    Layout,
    Row,
    _dump,
    _labelled,
    _letter,
    _lines,
    _table,
)


def _lettered(question: int) -> dict[str, str]:
    return dict(zip("ABC", OPTIONS[question], strict=True))


def _right(question: int) -> str:
    return OPTIONS[question][RIGHT[question]]


def _parquet(path: Path, rows: Sequence[Row]) -> None:
    parquet.write_table(pa.Table.from_pylist(list(rows)), path)


def _mmvu(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: `data/validation.json`."""
    address = "https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos/Art"
    rows: list[Row] = [
        {
            "id": f"validation_{at}",
            "video": f"{address}/{video}.mp4",
            "youtube_url": "https://www.youtube.com/watch?v=x",
            "question_type": "multiple-choice",
            "metadata": {"subject": "Art", "textbook": "", "rationale": "", "knowledge": []},
            "question": TEXTS[at],
            "choices": _lettered(at),
            "answer": _letter(at),
        }
        for at, video in enumerate(videos)
    ]
    opened = {"id": "validation_9", "question_type": "open-ended", "choices": dict.fromkeys("ABCDE", "")}
    _dump(home / "validation.json", [*rows, {**rows[0], **opened, "answer": "a lamp"}])


def _video_mmmu(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval and VLMEvalKit: a video has the name of the question's id."""
    rows = [
        {"id": video, "question": TEXTS[at], "options": list(OPTIONS[at]), "answer": _letter(at)}
        | {"question_type": "multiple-choice"}
        for at, video in enumerate(videos)
    ]
    rows.append({**rows[0], "id": "dev_Music_1", "options": [], "question_type": "open", "answer": "9"})
    _parquet(home / "test-00000-of-00001.parquet", rows)


def _cinepile(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: the right answer as a text and as an index from 0."""
    rows = [
        {
            "videoID": video,
            "subtitles": "<subtitle> A lamp.",
            "question": TEXTS[at],
            "choices": list(OPTIONS[at]),
            "answer_key": _right(at),
            "answer_key_position": RIGHT[at],
            "question_category": "Temporal",
            "hard_split": "False",
        }
        for at, video in enumerate(videos)
    ]
    _parquet(home / "test-00000-of-00001.parquet", rows)


def _hourvideo(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: questions in `benchmark_dataset` below each video; options as lines."""
    held = {
        video: {
            "video_metadata": {"video_uid": video, "duration_in_seconds": 3600},
            "benchmark_dataset": [
                {
                    "qid": f"{video}_{at}",
                    "task": "perception/tracking",
                    "question": TEXTS[at],
                    "mcq_test": "\n".join(_labelled(at)),
                    "correct_answer_label": _letter(at),
                    "relevant_timestamps": [],
                }
            ],
        }
        for at, video in enumerate(videos)
    }
    _dump(home / "dev_v1.0_annotations.json", held)


def _egoplan(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: EgoPlan-Bench, validation set."""
    rows = [
        {
            "sample_id": at,
            "video_source": "EpicKitchens",
            "video_id": video,
            "task_goal": "store cereal",
            "question": TEXTS[at],
            **{f"choice_{letter.lower()}": text for letter, text in _lettered(at).items()},
            "golden_choice_idx": _letter(at),
            "answer": _right(at),
            "current_observation_frame": 760,
            "task_progress_metadata": [{"narration_text": "take bag", "start_frame": 36, "stop_frame": 105}],
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "EgoPlan_validation.json", rows)


def _egolife(home: Path, videos: Sequence[str]) -> None:
    """EgoRAG in the benchmark's repository: rows name no video, and ask of days of them."""
    _mmvu(home, videos)
    row = {
        "ID": "1",
        "query_time": {"date": "DAY1", "time": "11210217"},
        "type": "EntityLog",
        "question": "Who used it first?",
        **dict(zip(("choice_a", "choice_b", "choice_c", "choice_d"), ("T", "A", "S", "L"), strict=True)),
        "answer": "B",
        "target_time": {"date": "DAY1", "time": "11152408"},
    }
    _dump(home / "EgoLifeQA_A1_JAKE.json", [row])


def _hd_epic(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: `vqa-benchmark/TASK.json`."""
    for at, video in enumerate(videos):
        name = f"gaze_{at}"
        held: dict[str, Any] = {
            f"{name}_0": {
                "inputs": {"video 1": {"id": video, "start_time": "00:00:01.5", "end_time": "00:00:04.2"}},
                "question": TEXTS[at],
                "choices": [[part] for part in OPTIONS[at]] if at else list(OPTIONS[at]),
                "correct_idx": RIGHT[at],
            }
        }
        two = {"image 1": {"id": video, "time": "00:00:01"}, "video 1": {"id": video}}
        held[f"{name}_1"] = {**held[f"{name}_0"], "inputs": two}
        _dump(home / f"{name}.json", held)


def _hd_epic_lmms_eval(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: HD-EPIC as lines, with lists of videos."""
    rows = [
        {
            "task_type": "gaze",
            "question": TEXTS[at],
            "choices": list(OPTIONS[at]),
            "correct_idx": RIGHT[at],
            "video_ids": [video],
            "input_labels": ["video 1"],
            "start_times": [-1],
            "end_times": [-1],
        }
        for at, video in enumerate(videos)
    ]
    _lines(home / "hd_epic.jsonl", [*rows, {**rows[0], "video_ids": list(videos)}])


def _qa_ego4d(home: Path, videos: Sequence[str]) -> None:
    """The package `videomind` and GroundVQA: the options are a list, or the right one and `wrong_answers`."""
    rows = [
        {
            "video_id": video,
            "sample_id": f"s{at}",
            "question": TEXTS[at],
            "answer": _right(at),
            "options": list(OPTIONS[at]),
            "moment_start_frame": 30,
            "moment_end_frame": 60,
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "annotations.QaEgo4D_test_options.json", rows)


def _ovo(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: `gt` counts from 0, `answer` is in other words; a task has no options."""
    rows = [
        {
            "id": at,
            "task": "EPM",
            "video": f"Ego4D/clips/{video}.mp4",
            "realtime": 215,
            "question": TEXTS[at],
            "answer": ("It is a lamp, I think.", "Twice in all.")[at],
            "options": list(OPTIONS[at]),
            "gt": RIGHT[at],
        }
        for at, video in enumerate(videos)
    ]
    opened = {key: rows[0][key] for key in ("task", "video", "question", "answer")}
    forward = {
        **opened,
        "id": 7,
        "ask_time": 297,
        "clue_time": 308,
        "test_info": [{"realtime": 2, "type": 0}],
    }
    _dump(home / "ovo_bench_new.json", [*rows, forward])


def _streaming(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: labels without a blank; some rows label two options alike."""
    asked = [
        {
            "task_type": "Object Recognition",
            "question": TEXTS[at],
            "time_stamp": "00:00:42",
            "answer": _letter(at),
            "options": _labelled(at, "{}."),
            "required_ability": "working memory",
        }
        for at in (0, 1)
    ]
    mislabelled = {**asked[0], "options": ["A. 107.", "B. 93.", "B. 91."], "answer": "C"}
    rows = [
        {"time": "[0:00:00 - 0:01:00]", "questions": [one], "video_path": f"./videos/{video}.mp4"}
        for one, video in zip(asked, videos, strict=True)
    ]
    rows[1]["questions"] = [asked[1], mislabelled]
    _dump(home / "questions_real.json", rows)


def _motionbench(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: `NA` is in place of answers that are not published."""
    rows = [
        {
            "key": video,
            "video_path": f"{video}.mp4",
            "video_type": "self-collected",
            "question_type": "Motion Recognition",
            "qa": [
                {"uid": f"u{at}", "question": "\n".join([TEXTS[at], *_labelled(at)]), "answer": _letter(at)}
            ],
        }
        for at, video in enumerate(videos)
    ]
    hidden = {**rows[0]["qa"][0], "uid": "u9", "answer": "NA"}
    _lines(home / "video_info.meta.jsonl", [*rows, {**rows[0], "qa": [hidden]}])


def _video_holmes(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: the id counts the questions of a video."""
    rows = [
        {
            "video ID": video,
            "Question ID": 1,
            "Question Type": "SR",
            "Question": TEXTS[at],
            "Options": _lettered(at),
            "Answer": _letter(at),
            "Explanation": "It is.",
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "test_Video-Holmes.json", rows)


def _tomato(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: one file a type of motion, ids from 0 in each, an index from 0."""
    for at, video in enumerate(videos):
        row = {"question": TEXTS[at], "options": list(OPTIONS[at]), "answer": RIGHT[at], "key": video}
        more = {"video_source_url": "", "motion_type": "count", "demonstration_type": "human", "note": ""}
        _dump(home / f"{('count', 'direction')[at]}.json", {"0": {**row, **more}})


def _vsi(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval and VLMEvalKit: questions for a number have no options."""
    rows = [
        {
            "id": at,
            "dataset": "arkitscenes",
            "scene_name": video,
            "question_type": "route_planning",
            "question": TEXTS[at],
            "ground_truth": _letter(at),
            "options": _labelled(at),
        }
        for at, video in enumerate(videos)
    ]
    number = {"id": 9, "question_type": "object_counting", "ground_truth": "4", "options": None}
    _lines(home / "test.jsonl", [*rows, {**rows[0], **number}])


def _worldsense(home: Path, videos: Sequence[str]) -> None:
    """VLMEvalKit: `worldsense_qa.json` has the questions as `task0`, `task1`, ... of a video."""
    held = {
        video: {
            "video_duration": 60,
            "duration": "<1min",
            "domain": "Music",
            "sub_category": "Piano",
            "audio_class": ["Music"],
            "video_caption": "A lamp.",
            "task0": {
                "task_domain": "Recognition",
                "task_type": "Audio Recognition",
                "question": TEXTS[at],
                "candidates": _labelled(at),
                "answer": _letter(at),
            },
        }
        for at, video in enumerate(videos)
    }
    _dump(home / "worldsense_qa.json", held)


def _omnivideo(home: Path, videos: Sequence[str]) -> None:
    """The benchmark's repository: `data.json`."""
    rows = [
        {
            "video": video,
            "video_type": "Vlog",
            "duration": "03:28",
            "questions": [
                {
                    "question": TEXTS[at],
                    "question_type": "counting",
                    "audio_type": "Speech",
                    "reasoning_steps": [{"modality": "audio", "evidence": "At 1:39", "inference": "It is."}],
                    "answer": _right(at),
                    "options": _labelled(at, "{}."),
                    "correct_option": _letter(at),
                }
            ],
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "data.json", rows)


def _videoeval_pro(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval."""
    rows = [
        {"video": f"{video}.mp4", "question": TEXTS[at], "options": _labelled(at), "answer": _letter(at)}
        | {"answer_text": _right(at), "qa_type": "Local Perception"}
        for at, video in enumerate(videos)
    ]
    _parquet(home / "test-00000-of-00001.parquet", rows)


def _infinibench(home: Path, videos: Sequence[str]) -> None:
    """The scripts of the benchmark's repository: an index from 0, options that are lists, paths from /."""
    held = {
        f"/friends/season_1/{video}.mp4": [
            {
                "answer_idx": RIGHT[at],
                "options": [[part] for part in OPTIONS[at]],
                "question": TEXTS[at],
                "show": "friends",
                "season": "season_1",
                "episode": video,
                "source": "tvqa",
                "video_path_mp4": f"/friends/season_1/{video}.mp4",
                "video_subtitles": f"/friends/season_1/{video}.srt",
            }
        ]
        for at, video in enumerate(videos)
    }
    _dump(home / "global_appearance.json", held)


def _mvbench_tsv(home: Path, videos: Sequence[str]) -> None:
    """VLMEvalKit: a table with the folder of each video apart."""
    rows = [
        {
            "task_type": "Action Count",
            "prefix": "video/perception/videos/",
            "data_type": "video",
            "bound": False,
            "start": "",
            "end": "",
            "video": f"{video}.mp4",
            "question": TEXTS[at],
            "answer": _right(at),
            "candidates": str(list(OPTIONS[at])),
            "index": at,
        }
        for at, video in enumerate(videos)
    ]
    _table(home / "MVBench.tsv", rows, "\t")


def _how2qa(home: Path, videos: Sequence[str]) -> None:
    """FrozenBiLM: the index counts from 0, and -1 is in place of a hidden one."""
    rows = [
        {"video_id": video, "start": 1, "end": 9, "question": TEXTS[at], "answer_id": RIGHT[at]}
        | {f"a{place}": text for place, text in enumerate(OPTIONS[at])}
        for at, video in enumerate(videos)
    ]
    _table(home / "public_val.csv", [*rows, {**rows[0], "answer_id": -1}])


def _neptune(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: columns `answer_choice_0`, ..."""
    rows = [
        {"key": f"k{at}", "video_path": f"{video}.mp4", "question": TEXTS[at], "answer_id": RIGHT[at]}
        | {"question_type": "Counting"}
        | {f"answer_choice_{place}": text for place, text in enumerate(OPTIONS[at])}
        for at, video in enumerate(videos)
    ]
    _parquet(home / "test.parquet", rows)


def _mmou(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: options as JSON in a text."""
    rows = [
        {
            "question_id": f"m{at}",
            "video_id": video,
            "video_url": f"https://www.youtube.com/watch?v={video}",
            "question_type": ["Counting"],
            "question": TEXTS[at],
            "options": json.dumps(_lettered(at)),
            "correct_option_letter": _letter(at),
            "is_test": False,
        }
        for at, video in enumerate(videos)
    ]
    _parquet(home / "test.parquet", rows)


def _mvu_eval(home: Path, videos: Sequence[str]) -> None:
    """VLMEvalKit: questions about several videos."""
    held = {
        str(at): {
            "video_paths": [f"{video}.mp4"],
            "question": TEXTS[at],
            "options": _labelled(at),
            "ground_truth": _letter(at),
            "task": "OR",
        }
        for at, video in enumerate(videos)
    }
    held["2"] = {**held["0"], "video_paths": [f"{video}.mp4" for video in videos]}
    _dump(home / "MVU_Eval_QAs.json", held)


def _video_r1(home: Path, videos: Sequence[str]) -> None:
    """Video-R1: files of its evaluation over other benchmarks."""
    rows = [
        {
            "problem_id": at,
            "problem": TEXTS[at],
            "data_type": "video",
            "problem_type": "multiple choice",
            "options": _labelled(at),
            "process": "",
            "solution": f"<answer>{_letter(at)}</answer>",
            "path": f"./MVBench/{video}.mp4",
            "data_source": "MVBench",
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "eval_mvbench.json", rows)


def _vue_plot(home: Path, videos: Sequence[str]) -> None:
    """Vidi: VUE-PLOT, reasoning."""
    rows = [
        {
            "problem_id": at,
            "video_id": video,
            "data_source": f"https://www.youtube.com/watch?v={video}",
            "problem": TEXTS[at],
            "options": _labelled(at),
            "answer": _letter(at),
            "task_type": "Counting",
        }
        for at, video in enumerate(videos)
    ]
    _dump(home / "VUE-PLOT_Reasoning_VQA.json", rows)


def _perception_test_lmms_eval(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval: the id counts the questions of a video."""
    rows = [
        {"video_name": video, "question_id": "0", "question": TEXTS[at], "options": list(OPTIONS[at])}
        | {"answer_id": str(RIGHT[at]), "area": "Memory", "reasoning": "Descriptive", "tag": ["counting"]}
        for at, video in enumerate(videos)
    ]
    _parquet(home / "validation-00000-of-00001.parquet", rows)


def _videomme_v2(home: Path, videos: Sequence[str]) -> None:
    """lmms-eval and VLMEvalKit: options as lines of one text."""
    rows = [
        {
            "video_id": video,
            "url": f"https://www.youtube.com/watch?v={video}",
            "group_type": "logic",
            "group_structure": "[1, 2, 3, 4]",
            "question_id": f"{video}-1",
            "question": TEXTS[at],
            "options": "\n".join(_labelled(at)),
            "answer": _letter(at),
            "level": "1",
            "second_head": "Counting",
            "third_head": "Objects",
        }
        for at, video in enumerate(videos)
    ]
    _parquet(home / "test.parquet", rows)


BENCHMARKS = (
    Layout("MMVU", _mmvu, "multiple-choice", ("no options",)),
    Layout("Video-MMMU", _video_mmmu, "multiple-choice", ("no options",)),
    Layout("CinePile", _cinepile, "Temporal"),
    Layout("HourVideo", _hourvideo, "perception/tracking"),
    Layout("EgoPlan-Bench", _egoplan),
    Layout("EgoLifeQA", _egolife, "multiple-choice", ("no video", "no options")),
    Layout("HD-EPIC", _hd_epic, unusable=("several inputs", "several inputs")),
    Layout("HD-EPIC, lmms-eval", _hd_epic_lmms_eval, "gaze", ("several inputs",)),
    Layout("QAEgo4D", _qa_ego4d),
    Layout("OVO-Bench", _ovo, "EPM", ("no options",)),
    Layout("StreamingBench", _streaming, "Object Recognition", ("labels out of order",)),
    Layout("MotionBench", _motionbench, "Motion Recognition", ("no answer",)),
    Layout("Video-Holmes", _video_holmes, "SR"),
    Layout("TOMATO", _tomato, "count"),
    Layout("VSI-Bench", _vsi, "route_planning", ("no options",)),
    Layout("WorldSense", _worldsense, "Audio Recognition"),
    Layout("OmniVideoBench", _omnivideo, "counting"),
    Layout("VideoEval-Pro", _videoeval_pro, "Local Perception"),
    Layout("InfiniBench", _infinibench),
    Layout("MVBench, TSV", _mvbench_tsv, "Action Count"),
    Layout("How2QA", _how2qa, unusable=("no answer",)),
    Layout("Neptune", _neptune, "Counting"),
    Layout("MMOU", _mmou, "Counting"),
    Layout("MVU-Eval", _mvu_eval, "OR", ("several inputs",)),
    Layout("Video-R1", _video_r1),
    Layout("VUE-PLOT", _vue_plot, "Counting"),
    Layout("Perception Test, lmms-eval", _perception_test_lmms_eval),
    Layout("VideoMME v2", _videomme_v2),
)
