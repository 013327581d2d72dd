"""Video-BrowseComp's published rows through the evaluation: without a video or reasoner, or damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from corpora.records import Frames
from eval.metrics.scored import score_samples
from eval.runs.records import ClipScore, ClipWindow, Output, Score, make_sample
from eval.runs.runner import write_retrieval
from eval.tasks.browsecomp.dataset import BrowseQuestion, load_rows
from eval.tasks.browsecomp.task import BrowseCompTask
from rag.errors import ReasonerUnreachable, UsageError
from rag.settings import Settings
from tests.fakes.browser_world import RuleReasoner, make_web
from tests.fakes.toy_benchmark import ToyTask
from tests.fakes.web_tasks import answers, environment_of, prepare_records

ROW = {"question": "What color?", "answer": "red", "difficulty": "level1"}
QUESTION = BrowseQuestion(
    "q1", "Which word is the secret of the kettle video?", ("PLUM",), "level1", "kitchen"
)


def test_a_question_without_a_known_video_is_scored(tmp_path: Path) -> None:
    first, *others = ToyTask().prepare(Settings()).queries
    queries = (replace(first, video=""), *others)[:4]
    found = Output(clips=(ClipScore("clip00", 1.0), ClipScore("more", 0.01)))
    samples = [make_sample(query, found, Score(correct=False)) for query in queries]
    write_retrieval(tmp_path, "finder", queries, samples)
    assert len((tmp_path / "clips.qrels").read_text().splitlines()) == 3
    hits = {query.query_id: 0.0 for query in queries}
    unknown, *known = score_samples(list(zip(queries, samples, strict=True)), hits, {})
    assert unknown.clip_found is None
    assert all(isinstance(other.clip_found, bool) for other in known)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": ' + "[" * 100_000, "maximum recursion"),
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
        load_rows([path])


def test_a_level_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**ROW, "difficulty": 2}) + "\n")
    assert [question.level for question in load_rows([path]).records.values()] == ["level2"]


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
    task = BrowseCompTask("browsecomp", "", tmp_path)
    environment = environment_of(make_web(tmp_path), Silent(role))
    with pytest.raises(ReasonerUnreachable):
        answers(task, prepare_records(task, {"q1": QUESTION}, environment), "video-browser")


def test_windows_of_videos_without_a_file_are_shown_empty(tmp_path: Path) -> None:
    seen = Frames(np.zeros(2), np.zeros((2, 4, 4, 3), np.uint8))
    files = {"held": "video.mp4"}
    reader = SimpleNamespace(files_of=lambda _: ())
    engine = SimpleNamespace(read_frames=lambda _path, _times: seen, reader=reader)
    library = SimpleNamespace(path_of=files.__getitem__, engine=engine)
    task = BrowseCompTask("browsecomp", "", tmp_path)
    environment = environment_of(make_web(tmp_path), RuleReasoner(), library)
    prepared = prepare_records(task, {"q1": QUESTION}, environment)
    windows = [ClipWindow("https://v.example/1", 0.0, 0.0, 0.0), ClipWindow("held", 0.0, 2.0, 1.0)]
    shown = task.explain(prepared, prepared.queries[0], windows, 2)
    assert [len(frames.images) for frames in shown.frames] == [0, 2]
