"""Moment retrieval as a task: published annotations, solvers over a small library, scores, submission."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.contract import check_scorer, check_solver, check_task
from eval.runs.records import ClipWindow, Output
from eval.runs.runner import score_again
from eval.task import Prepared, ProgressCallback
from eval.tasks.moments.dataset import FORMATS, query_of, read_annotations
from eval.tasks.moments.scorer import MomentScorer
from eval.tasks.moments.solvers import SOLVERS, MomentEnvironment
from eval.tasks.moments.task import MomentsTask
from eval.tasks.videos import IndexedVideos
from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings
from tests.fakes.answer_world import BagOfWords, ImageWords, build_library
from tests.fakes.layouts import MOMENTS, Layout, lines, qvhighlights
from tests.fakes.toy_benchmark import run_task

VIDEOS = ("v_0.0_60.0", "v_60.0_120.0")


@pytest.mark.parametrize(("form", "layout"), MOMENTS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("given", [True, False], ids=["named", "recognized"])
def test_published_annotations(form: str, layout: Layout, given: bool, tmp_path) -> None:
    held = read_annotations(layout.write(tmp_path / "annotations").parent, form.upper() if given else "")
    queries = [query_of(moment, held.format) for moment in held.moments]
    found = [
        (one.query_id, one.text, one.cluster, one.family, moment.windows)
        for one, moment in zip(queries, held.moments, strict=True)
    ]
    assert (held.format, json.loads(json.dumps(found))) == (form, layout.moments)
    assert held.unusable == ()


def test_rows_that_cannot_be_used_are_named(tmp_path) -> None:
    good = qvhighlights(["a_0.0_60.0"])[0]
    bad: list[Any] = [
        {**good, "qid": 1, "relevant_windows": [[30, 30]]},
        {**good, "qid": 2, "query": ""},
        {**good, "qid": 3, "query": "  "},
        {**good, "qid": 4, "relevant_windows": [["x", 3]]},
        {**good, "qid": 5, "saliency_scores": [[4, 4, 4]]},
        {**good, "qid": 6, "duration": -1},
        good,
        "a line",
        {**good, "qid": 9, "duration": 1e12},
        {**good, "qid": " "},
    ]
    text = lines({"qid": 0}) + lines(good) + "{\n" + lines(*bad)
    (tmp_path / "val.jsonl").write_text(text, encoding="utf-8")
    held = read_annotations(tmp_path)
    assert [moment.query_id for moment in held.moments] == ["7"]
    found = {row.place: row.reason for row in held.unusable}
    assert list(found) == [f"val.jsonl:{number}" for number in (1, *range(3, 14))]
    assert found["val.jsonl:1"] == "query: Field required"
    assert found["val.jsonl:4"] == "window: ends before it starts: 30 to 30"
    assert found["val.jsonl:6"] == "query: empty"
    assert found["val.jsonl:7"].startswith("windows.0.0: ")
    assert found["val.jsonl:10"] == "id: an earlier row has it: '7'"
    assert found["val.jsonl:11"] == "not a line of qvhighlights"
    assert found["val.jsonl:12"] == "duration: Input should be less than or equal to 86400"
    assert found["val.jsonl:13"] == "id: empty"


def test_one_file_is_read_and_a_doubt_is_an_error(tmp_path) -> None:
    with pytest.raises(UsageError, match="no annotation file of a known format"):
        read_annotations(tmp_path)
    gold, hidden = qvhighlights(["a_0.0_60.0"]), qvhighlights(["b_0.0_60.0"])
    keys = ("qid", "query", "duration", "vid")
    texts = {"train": lines(*gold), "val": lines(*gold), "test": lines({key: hidden[0][key] for key in keys})}
    for split, text in texts.items():
        (tmp_path / f"highlight_{split}_release.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "README.txt").write_text("The videos are elsewhere.\n", encoding="utf-8")
    (tmp_path / "LICENSE.txt").write_bytes(b"\xff\xfe\x00 no UTF-8\n")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert read_annotations(tmp_path).path.name == "highlight_val_release.jsonl"
    assert read_annotations(tmp_path, split="test").moments[0].windows == ()
    assert read_annotations(tmp_path, split="train").path.name == "highlight_train_release.jsonl"
    dict(MOMENTS)["tvr"].write(tmp_path)
    with pytest.raises(UsageError, match=r"lights\), tvr_val_release.jsonl \(tvr\)"):
        read_annotations(tmp_path)
    assert read_annotations(tmp_path, "tvr").path.name == "tvr_val_release.jsonl"
    with pytest.raises(UsageError, match="with 'dev' in its name"):
        read_annotations(tmp_path, split="dev")
    with pytest.raises(UsageError, match="no format 'msrvtt'; there are qvhighlights, "):
        read_annotations(tmp_path, "msrvtt")


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Library:
    """Two videos of a minute: a lamp, the drill from 20 to 40 s, a kettle."""
    rows = [(0.0, 20.0, "lamp", ""), (20.0, 40.0, "drill", ""), (40.0, 60.0, "kettle", "")]
    folder = build_library(
        tmp_path_factory.mktemp("moments") / "library", dict.fromkeys(VIDEOS, rows), {}, ImageWords()
    )
    opened = Library.open(folder, settings=Settings())
    opened.engine.__dict__["text_encoder"] = BagOfWords()
    opened.engine.__dict__["tower"] = ImageWords()
    return opened


class Ready(MomentsTask):
    """Over the library of these tests."""

    def __init__(self, library: Library, file: Path, **asked: Any) -> None:
        super().__init__("moments-ready", "annotations of a small library", file.parent, **asked)
        self.library = library

    def prepare(
        self, settings: Settings, progress: ProgressCallback | None = None
    ) -> Prepared[MomentEnvironment]:
        assert self.folder is not None
        del settings, progress
        held = read_annotations(self.folder, self.format, self.split)
        paths = {name: f"/videos/{name}.mp4" for name in VIDEOS}
        gone = {one.video: f"video missing: {one.video}" for one in held.moments if one.video not in paths}
        return self.prepared(held, IndexedVideos(self.library, paths, gone))


def ready(library: Library, folder: Path, *rows: Mapping[str, Any]) -> Ready:
    (folder / "val.jsonl").write_text(lines(*rows), encoding="utf-8")
    return Ready(library, folder / "val.jsonl")


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_obeys_the_contract(name: str, library: Library, tmp_path) -> None:
    task = ready(library, tmp_path, *qvhighlights(VIDEOS))
    prepared = check_task(task, Settings())
    output = check_solver(task, prepared, name)
    check_scorer(task, prepared, output)
    assert output.windows


def test_windows_of_each_solver(library: Library, tmp_path) -> None:
    task = ready(library, tmp_path, *qvhighlights(VIDEOS[:1]))
    prepared = task.prepare(Settings())
    asked = prepared.inputs["7"]

    def windows(name: str, seed: int = 0) -> list[tuple[float, float, float]]:
        found = SOLVERS[name].open(prepared.environment, seed).solve(asked).windows
        assert all(one.clip_id == VIDEOS[0] for one in found)
        return [one[1:] for one in found]

    for name, length in {"localized": 16.0, "localized-fixed": 5.0}.items():
        start, end, _ = windows(name)[0]
        assert end - start == length, "of the lengths that are tried, 16 s is the longest inside the gold"
        assert 17.5 <= start < end <= 42.5
        scores = [score for _, _, score in windows(name)]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) > 8
    assert windows("whole-video") == [(0.0, 60.0, 1.0)]
    assert windows("middle") == [(15.0, 45.0, 1.0)]
    assert windows("random") == windows("random") != windows("random", 1)
    assert all(0.0 <= start < end <= 60.0 for start, end, _ in windows("random"))


def test_a_run_has_the_figures_and_the_submission(library: Library, tmp_path) -> None:
    rows = [*qvhighlights([*VIDEOS, "gone_0.0_60.0"])]
    task = ready(library, tmp_path, *rows)
    done = run_task(task, "localized", 0, tmp_path / "run")
    figures = json.loads((done.folder / "results.json").read_text())["figures"]
    found = {name: part["overall"] for name, part in figures.items() if part["overall"] is not None}
    assert (done.right, done.skipped) == (2, 1)
    assert found["R@1 IoU>=0.7"]["value"] == 1.0
    assert (found["mIoU"]["value"], found["mIoU"]["n"], found["mIoU"]["clusters"]) == (0.8, 2, 1)
    assert found["mAP@0.75"]["value"] == 1.0
    assert found["mAP"]["value"] == 0.7, "right up to IoU 0.8"
    assert found["mAP middle"]["value"] == 0.7
    assert "mAP short" not in found
    assert found["HIT@1 Very Good"]["n"] == 2
    assert {"corpus mIoU", "clip success@5", "R@5 IoU>=0.5"}.isdisjoint(found)
    submitted = [json.loads(line) for line in (done.folder / "submission.jsonl").read_text().splitlines()]
    assert [(one["qid"], one["query"], one["vid"]) for one in submitted] == [
        (7, "The drill is used.", VIDEOS[0]),
        (8, "The drill is used.", VIDEOS[1]),
    ]
    for one in submitted:
        start, end, _ = one["pred_relevant_windows"][0]
        assert 20.0 <= start < end <= 40.0
        assert len(one["pred_relevant_windows"]) == 10
        assert len(one["pred_saliency_scores"]) == 30
        assert min(one["pred_saliency_scores"][10:20]) > max(one["pred_saliency_scores"][:10])
    assert run_task(task, "localized", 0, tmp_path / "run").asked == 0
    first = (done.folder / "results.json").read_bytes()
    score_again(task, task.prepare(Settings()), done.folder)
    assert (done.folder / "results.json").read_bytes() == first


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_measures(name: str, tmp_path) -> None:
    """The gold itself is right; no answer reaches nothing."""
    moment = read_annotations(dict(MOMENTS)[name].write(tmp_path)).moments[0]
    query, scorer = query_of(moment, name), MomentScorer({moment.query_id: moment}, FORMATS[name])
    windows = tuple(ClipWindow(moment.video, *window, 1.0) for window in dict.fromkeys(moment.windows))
    gold, nothing = (scorer.score(query, Output(windows=found)) for found in (windows, ()))
    names = {f"R@{first} IoU>={threshold}" for first, threshold in FORMATS[name].recalls}
    names |= {"mIoU", "mAP", "mAP@0.5", "mAP@0.75"}
    names |= {"mAP middle"} if name == "qvhighlights" else set()
    assert gold.measures.keys() == nothing.measures.keys() == names
    assert gold.correct
    assert set(nothing.measures.values()) == {0.0}
    assert gold.measures == dict.fromkeys(names, 1.0)
