"""Runs on a web of videos from first question to report, which has the paper's tables."""

from __future__ import annotations

from pathlib import Path

from eval.reports.page import write_report
from eval.runs.runner import Done, run_solver
from eval.tasks.browsecomp.dataset import BrowseQuestion, Source
from eval.tasks.browsecomp.task import BrowseCompTask
from tests.fakes.browser_world import HOST, RuleReasoner, make_web
from tests.fakes.web_tasks import environment_of, prepare_records

NAMES = (
    "direct",
    "summarization",
    "pyramidal",
    "full",
    "wo-stage1",
    "transcript-only",
    "videos@1",
    "videos@2",
)
QUESTIONS = tuple(
    BrowseQuestion(
        f"q{number}",
        f"Which word is the secret of the kettle video, asked for the {number}th time?",
        ("PLUM",) if number != 2 else ("FIG",),
        ("level1", "level2", "level3")[number % 3],
        ("garden", "kitchen")[number % 2],
        kind="speech",
        sources=(Source((f"{HOST}video07",), video_id=f"gold{number}", start=40.0, end=43.0),),
    )
    for number in range(6)
)


def run(web: Path, name: str, folder: Path) -> Done:
    task = BrowseCompTask("browsecomp-kettle", "", web)
    records = {question.question_id: question for question in QUESTIONS}
    prepared = prepare_records(task, records, environment_of(make_web(web), RuleReasoner()))
    return run_solver(task, prepared, name, 0, folder, factory="browsecomp")


def test_open_questions_are_scored_and_the_report_has_the_papers_tables(tmp_path: Path) -> None:
    folders = {name: tmp_path / "runs" / f"{name}-seed0" for name in NAMES}
    done = {name: run(tmp_path / "web", name, folder) for name, folder in folders.items()}
    assert (done["pyramidal"].asked, done["pyramidal"].right) == (6, 5)
    write_report(list(folders.values()), tmp_path / "page")
    text = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    for title in ("Table 1: accuracy", "Table 2: three paradigms", "Table 3: without a stage", "Figure 3"):
        assert title in text
    assert "| paper, other data: pyramidal | 26.19 | 38.10 | 32,627 | 11,198 |" in text
    made = {path.name for path in (tmp_path / "page" / "browsecomp-kettle").iterdir()}
    assert {"by_genre.png", "table2_paradigms.png", "figure3_scaling.png", "table3_ablations.csv"} <= made
