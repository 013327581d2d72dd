"""Video-BrowseComp: the published rows, the drafted questions, and how a run is reported."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.reports.page import write_report
from eval.runs.records import Sample, record_line
from eval.runs.runner import run_solver
from eval.tasks.browsecomp.dataset import BrowseQuestion, Source
from eval.tasks.browsecomp.scorer import evidence_recall
from eval.tasks.browsecomp.task import BrowseCompTask, open_folder
from rag.errors import ReasonerUnreachable
from tests.fakes.browser_world import HOST, RuleReasoner, answers, environment_of, make_web, prepare_records

OFFLINE = {
    "id": 12,
    "question": "What colour is the pen?",
    "answer": "red",
    "category": "LabelledVideo",
    "difficulty": "level2",
    "evidence_chain": ["find the video", "look at the pocket"],
    "mode": "offline",
    "source_file": "a.json",
    "source_desc": "",
    "why_multi_video": "",
    "self_check": {"unique": True},
    "videos": [
        {
            "url": "https://youtube.com/watch?v=a",
            "title": "A",
            "role": "source",
            "video_id": "a",
            "local_path": "",
        },
        {"url": "https://youtube.com/watch?v=b", "title": "B", "role": "negative", "video_id": "b"},
    ],
}
ONLINE = {
    "row_id": 12,
    "question": "How many?",
    "answer": 6,
    "category": "Sports",
    "difficulty": "level1",
    "evidence_chain": "watch it",
    "source": ["https://youtube.com/watch?v=c", "a book"],
    "image": None,
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_both_kinds_of_published_row(tmp_path) -> None:
    first, second = (
        open_folder().load_rows([written(tmp_path / "rows.jsonl", OFFLINE, ONLINE)]).records.values()
    )
    assert (first.question_id, first.level, first.genre, first.answers) == (
        "offline-12",
        "level2",
        "LabelledVideo",
        ("red",),
    )
    assert [source.role for source in first.sources] == ["source", "negative"]
    assert [source.video_id for source in first.evidence] == ["a"]
    assert (second.question_id, second.mode, second.answers) == ("online-12", "online", ("6",))
    assert [source.urls for source in second.sources] == [("https://youtube.com/watch?v=c",)]
    assert second.evidence_chain == ("watch it",)


SYSTEMS = (
    *("direct", "summarization", "pyramidal", "full", "wo-stage1", "transcript-only"),
    *("videos@1", "videos@2"),
)
QUESTION = BrowseQuestion(
    "q1",
    "Which word is the secret of the kettle video?",
    ("PLUM",),
    "level1",
    "kitchen",
    sources=(Source((f"{HOST}video07",), video_id="", start=40.0, end=43.0),),
)


def browsed(folder: Path, reasoner: RuleReasoner) -> Sample:
    task = BrowseCompTask("browsecomp", "", folder)
    records = {QUESTION.question_id: QUESTION}
    prepared = prepare_records(task, records, environment_of(make_web(folder), reasoner))
    (sample,) = answers(task, prepared, "video-browser")
    return sample


def test_a_run_becomes_a_judged_sample(tmp_path) -> None:
    sample = browsed(tmp_path, RuleReasoner())
    assert (sample.correct, sample.choice, sample.evidence["answer"]) == (True, None, "PLUM")
    assert sample.evidence["evidence_recall"] == 1.0
    assert sample.evidence["judge"]["rule"] == "exact"
    # Every question is the web's first visitor.
    assert record_line(sample) == record_line(browsed(tmp_path, RuleReasoner()))


def test_any_upload_of_a_video_counts_as_watched() -> None:
    chain = replace(
        QUESTION, sources=(Source(("https://a.example/watch?v=1", "https://a.example/watch?v=2")),)
    )
    assert evidence_recall(chain, ["https://www.a.example/watch?v=2&t=10"]) == [True]
    assert evidence_recall(chain, ["https://a.example/watch?v=3"]) == [False]


@pytest.mark.parametrize("role", ["answer_open", "judge"])
def test_an_outage_is_no_wrong_answer(tmp_path, role: str) -> None:
    with pytest.raises(ReasonerUnreachable):
        browsed(tmp_path, RuleReasoner(fails=(role,), error=ReasonerUnreachable))


@pytest.mark.slow
def test_open_questions_are_scored_and_the_report_has_the_papers_tables(tmp_path) -> None:
    records = {
        f"q{number}": replace(
            QUESTION,
            question_id=f"q{number}",
            text=f"Which word is the secret of the kettle video, asked for the {number}th time?",
            answers=("PLUM",) if number != 2 else ("FIG",),
            level=f"level{1 + number % 3}",
            genre=("garden", "kitchen")[number % 2],
            kind="speech",
        )
        for number in range(6)
    }
    task, folders = BrowseCompTask("browsecomp-kettle", "", tmp_path), []
    for name in SYSTEMS:
        prepared = prepare_records(task, records, environment_of(make_web(tmp_path / "web"), RuleReasoner()))
        folders.append(tmp_path / "runs" / f"{name}-seed0")
        done = run_solver(task, prepared, name, 0, folders[-1], factory="browsecomp")
        assert name != "pyramidal" or (done.asked, done.right) == (6, 5)
    write_report(folders, tmp_path / "page")
    text = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    for title in ("Table 1: accuracy", "Table 2: three paradigms", "Table 3: without a stage", "Figure 3"):
        assert title in text
    assert "| paper, other data: pyramidal | 26.19 | 38.10 | 32,627 | 11,198 |" in text
    made = {path.name for path in (tmp_path / "page" / "browsecomp-kettle").iterdir()}
    assert {"by_genre.png", "table2_paradigms.png", "figure3_scaling.png", "table3_ablations.csv"} <= made
