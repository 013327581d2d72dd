"""Video-BrowseComp's published rows in a whole run: without a video or a reasoner, or damaged."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from corpora.records import Frames
from eval.runs.folder import read_run_folder
from eval.runs.records import ClipScore, ClipWindow
from eval.runs.results import score_run
from eval.runs.runner import run_system
from eval.tasks.browsecomp.benchmark import BrowseCompBenchmark
from eval.tasks.browsecomp.published import read_published
from eval.tasks.browsecomp.records import BrowseQuestion
from eval.tasks.browsecomp.solvers import VideoBrowserSolver, query_of
from eval.tasks.browsecomp.systems import settings_of
from rag.errors import ReasonerUnreachable, UsageError
from tests.fakes.browser_world import RuleReasoner, frame_source, make_web
from tests.fakes.toy_benchmark import Player, ToyTask

ROW = {"question": "What color?", "answer": "red", "difficulty": "level1"}
QUESTION = BrowseQuestion(
    "q1", "Which word is the secret of the kettle film?", ("PLUM",), "level1", "kitchen"
)


@dataclasses.dataclass(frozen=True)
class Finder(Player):
    """Retrieves clips of every question, whether its gold one is known or not."""

    def answer(self, query):
        sample = super().answer(replace(query, video=query.video or "clip00"))
        return replace(sample, video=query.video, clips=(*sample.clips, ClipScore("more", 0.01)))


class Benchmark(ToyTask):
    def __init__(self):
        super().__init__()
        self.queries = (replace(self.queries[0], video=""), *self.queries[1:])

    def open_system(self, name, seed):
        return Finder(name, seed)


def test_a_question_without_a_known_video_is_scored(tmp_path: Path) -> None:
    run_system(Benchmark(), "localized", 0, tmp_path / "run", limit=4)
    first, *others = score_run(read_run_folder(tmp_path / "run"))
    assert first.clip_found is None
    assert all(isinstance(other.clip_found, bool) for other in others)
    assert len((tmp_path / "run" / "clips.qrels").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        (json.dumps({**ROW, "answer": float("nan")}), "answer.*no number"),
        (json.dumps({**ROW, "question": "  "}), "question: .*blank"),
        (json.dumps({**ROW, "answer": ["red", " "]}), "answer.1: .*blank"),
        (json.dumps({**ROW, "difficulty": 4}), "difficulty"),
    ],
)
def test_damaged_rows_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(UsageError, match=rf"rows\.jsonl:1: .*{message}"):
        list(read_published(path))


def test_a_level_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**ROW, "difficulty": 2}) + "\n")
    assert [question.level for question in read_published(path)] == ["level2"]


class Silent(RuleReasoner):
    """Goes away when it is to answer, or to judge."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.gone = role

    def answer_open(self, reading):
        if self.gone == "answer":
            raise ReasonerUnreachable("gone")
        return super().answer_open(reading)

    def judge(self, _):
        raise ReasonerUnreachable("gone")


@pytest.mark.parametrize("role", ["answer", "judge"])
def test_an_outage_is_no_wrong_answer(tmp_path: Path, role: str) -> None:
    web = make_web(tmp_path)
    system = VideoBrowserSolver(
        "x", settings_of("video-browser"), {"q1": QUESTION}, web, Silent(role), frame_source()
    )
    with pytest.raises(ReasonerUnreachable):
        system.answer(query_of(QUESTION))


def test_windows_of_videos_that_nobody_has_are_shown_empty() -> None:
    benchmark = BrowseCompBenchmark("browsecomp", None, None)
    seen = Frames(np.zeros(2), np.zeros((2, 4, 4, 3), np.uint8))
    reader = SimpleNamespace(videos=lambda: [SimpleNamespace(video_id="held")], paths=lambda _: ["film.mp4"])
    benchmark.__dict__["questions"] = {"q1": QUESTION}
    benchmark.__dict__["library"] = SimpleNamespace(
        engine=SimpleNamespace(reader=reader, read_frames=lambda _path, _times: seen)
    )
    windows = [ClipWindow("https://v.example/1", 0.0, 0.0, 0.0), ClipWindow("held", 0.0, 2.0, 1.0)]
    shown = benchmark.explain("q1", windows, 2)
    assert [len(frames.images) for frames in shown.frames] == [0, 2]
    assert shown.paths == ("", "film.mp4")
