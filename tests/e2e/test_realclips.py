"""`realclips` over photographs that a camera moves on, with the default encoders and their real weights."""

import json
from pathlib import Path

import pytest

from corpora.outputs import OverwritePolicy
from eval.demo import copy_corpus
from eval.runs.records import ClipWindow, Output, ranked_clips
from eval.tasks.realclips.cases import read_cases
from eval.tasks.realclips.task import ClipScore, ClipScorer
from rag._cli.main import main
from rag.errors import UsageError

CASES = {
    "queries": [{"id": "cat", "query": "a cat", "relevant": ["IMG_0412.mp4"]}],
    "moments": [
        {"id": "rocket", "query": "a rocket", "video": "IMG_0413.mp4", "start": 5, "end": 17},
        {"id": "pilot", "query": "Eileen Collins", "video": "IMG_0414.mp4", "start": 8, "end": 18},
    ],
    "no_match": [{"id": "submarine", "query": "a submarine under the ice", "relevant": []}],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("realclips")
    copy_corpus(folder / "clips", OverwritePolicy())
    (folder / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
    return folder


def test_search_moments_and_absent_things_are_scored_by_system(
    data: Path, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["eval", "run", "realclips", "--data", str(data)]) == 0
    runs = {run["system"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert runs["rag"]["right"] >= 3
    assert main(["eval", "report", "runs", "--out", "page"]) == 0
    page = Path("page/report.md").read_text(encoding="utf-8")
    retrieval, moments, matched = (
        part for part in page.split("\n## ") if part.startswith(("Which video", "When it", "Whether any"))
    )
    assert "| rag | 100.0" in retrieval
    assert "| names-alone | 0.0" in retrieval
    # A search of text alone finds videos, and says nothing about seconds.
    assert "| rag |" in moments
    assert "| text-alone |" not in moments
    # The cosine of a frame does not say whether anything matches.
    assert "| rag | 100.0" in matched
    assert "| images-alone |" not in matched


def test_the_rank_of_the_first_relevant_video_and_the_iou_of_the_first_window_are_scored(data: Path) -> None:
    _, cases = read_cases(data)
    scorer = ClipScorer({case.id: case for case in cases.queries})
    asked = {case.id: case.asked(family) for family, held in cases.by_family.items() for case in held}
    videos = Output(clips=ranked_clips(["IMG_0413.mp4", "IMG_0412.mp4"]))
    assert scorer.score(asked["cat"], videos) == ClipScore(correct=False, rank=2)
    assert scorer.score(asked["cat"], Output()) == ClipScore(correct=False, rank=0)
    window = Output(windows=(ClipWindow("IMG_0413.mp4", 5.0, 13.0, 1.0),))
    assert scorer.score(asked["rocket"], window) == ClipScore(correct=True, iou=round(8 / 12, 6))
    for matched in (True, False):
        scored = scorer.score(asked["submarine"], Output(evidence={"matched": matched}))
        assert scored.correct is not matched


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "no queries, moments or no_match"),
        ('{"queries": [{"id": "a", "query": "b"}]}', "query a: relevant names no video"),
        ('{"moments": [{"id": "a", "query": "b", "video": "c.mp4", "start": 2, "end": 1}]}', "moment a"),
        ('{"no_match": [{"id": "a", "query": "b"}, {"id": "a", "query": "c"}]}', "two queries have the id a"),
    ],
)
def test_a_file_without_gold_is_refused_with_its_reason(tmp_path, text: str, reason: str) -> None:
    (tmp_path / "cases.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=reason):
        read_cases(tmp_path)
