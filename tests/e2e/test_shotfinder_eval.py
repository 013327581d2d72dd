"""Runs on shots from first query to report: resumable, the same bytes, the paper's tables."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from eval.reports.page import write_report
from eval.runs.records import Sample
from eval.runs.runner import Done, run_solver
from eval.task import Prepared
from eval.tasks.shotfinder.dataset import Place, ShotQuery, Task
from eval.tasks.shotfinder.scorer import NO_FRAME, NO_VERDICT, SPENT
from eval.tasks.shotfinder.solvers import METADATA
from eval.tasks.shotfinder.task import MINI, ShotFinderTask
from eval.tasks.web_task import WebEnvironment
from rag.errors import BudgetSpent, ReplyInvalid
from tests.fakes.browser_world import HOST, answers, environment_of, frame_source, make_web, prepare_records
from tests.fakes.shotfinder_world import MeasuredLibrary, ShotReasoner, frame_source_with

NAMES = ("shotfinder", "shotfinder-asked", "asked@64", "shotfinder-off", METADATA, "urls@2x1", "frames@8-8-8")
ASKED: tuple[tuple[Task, str, str, tuple[float, float]], ...] = (
    ("shot", "", "", (40.0, 50.0)),
    ("color", "Neutral tones.", "neutral", (50.0, 60.0)),
    ("style", "Pure graphics.", "graphics", (30.0, 40.0)),
    ("audio", "Background music.", "music", (50.0, 60.0)),
    ("resolution", "720P", "720p", (40.0, 50.0)),
    ("temporal", "near 25\n", "before", (30.0, 40.0)),
)


def shots(folder: Path) -> dict[str, ShotQuery]:
    ids = {entry.id: entry.content_id for entry in make_web(folder).catalogue.videos}
    return {
        f"q{number}": ShotQuery(
            f"q{number}",
            task,
            f"a kettle boils, for the {number}th time",
            constraint,
            Place(ids["video07"], (f"{HOST}video07",), *span),
            frame=sum(span) / 2,
            value=value,
            twins=(Place(ids["video07"], (f"{HOST}video07",), 40.0, 50.0),),
            cluster=f"c{number % 3}",
        )
        for number, (task, constraint, value, span) in enumerate(ASKED)
    }


def prepared(
    folder: Path,
    reasoner: ShotReasoner | None = None,
    queries: Mapping[str, ShotQuery] | None = None,
    shape: Any = MINI,
) -> tuple[ShotFinderTask, Prepared[WebEnvironment]]:
    web = make_web(folder)
    stored = MeasuredLibrary([entry.content_id for entry in web.catalogue.videos])
    environment = environment_of(
        web, reasoner or ShotReasoner(), stored, frame_source_with(stored, frame_source())
    )
    task = ShotFinderTask("shotfinder-kettle", "", folder, shape)
    return task, prepare_records(task, queries or shots(folder), environment)


def run(web: Path, name: str, folder: Path, queries: Mapping[str, ShotQuery] | None = None) -> Done:
    task, data = prepared(web, queries=queries)
    return run_solver(task, data, name, 0, folder, factory="shotfinder")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("shots")
    for name in NAMES:
        run(place / "web", name, place / "runs" / f"{name}-seed0")
    return place


def right(runs: Path, name: str) -> int:
    return run(runs / "web", name, runs / "runs" / f"{name}-seed0").right


def test_a_resolution_finds_what_the_description_alone_does_not(runs: Path) -> None:
    assert right(runs, "shotfinder") == 3
    # Of six, the plain shot and the one of 720 lines are where this reasoner looks first.
    assert right(runs, "shotfinder-off") == right(runs, "shotfinder-asked") == 2
    assert right(runs, METADATA) in (0, 1, 2)


def test_the_report_has_the_papers_tables(runs: Path, tmp_path) -> None:
    folders = [runs / "runs" / f"{name}-seed0" for name in NAMES]
    write_report(folders, tmp_path / "one")
    text = (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
    for title in (
        "Table 1: accuracy by constraint",
        "Right shots by constraint",
        "Constraints on against off",
        "Figure 4: searches",
        "Figure 6: the verifier",
        "Failures by stage",
    ):
        assert title in text
    assert "paper, other data: Gemini-3-Pro" in text
    made = {path.name for path in (tmp_path / "one" / "shotfinder-kettle").iterdir()}
    assert {"right.png", "figure4_sweeps.png", "figure5_data.png", "failures.png", "constraints.csv"} <= made


def answered(
    folder: Path, reasoner: ShotReasoner, name: str = "shotfinder-off", at: str = "q0", **changes: Any
) -> Sample:
    """One query's sample; without its times where `changes` say nothing else."""
    query = shots(folder)[at]
    query = replace(query, **{"gold": replace(query.gold, start=0.0, end=0.0), **changes})
    task, data = prepared(folder, reasoner, {at: query})
    (sample,) = answers(task, data, name)
    return sample


def test_what_could_not_be_judged_is_neither_right_nor_wrong(tmp_path) -> None:
    place = tmp_path / "images" / "q.jpg"
    place.parent.mkdir()
    Image.new("RGB", (8, 8)).save(place)
    reference = {"image": os.fspath(place)}
    spent = answered(tmp_path / "a", ShotReasoner(fails=("locate",), error=BudgetSpent), **reference)
    assert (spent.evidence["unjudged"], spent.evidence["stage"]) == (SPENT, "")
    mute = answered(tmp_path / "b", ShotReasoner(fails=("match_frame",), error=ReplyInvalid), **reference)
    assert mute.evidence["unjudged"] == NO_VERDICT
    judged = answered(tmp_path / "c", ShotReasoner(), **reference)
    assert "unjudged" not in judged.evidence
    assert (judged.correct, judged.evidence["rules"]["strict"]) == (False, False)
    nothing = answered(tmp_path / "d", ShotReasoner(), description="nothing of this world", **reference)
    assert (nothing.correct, nothing.evidence["rules"]["strict"]) == (False, False)
    timed = shots(tmp_path / "e")["q0"].gold
    known = answered(tmp_path / "e", ShotReasoner(fails=("match_frame",), error=ReplyInvalid), gold=timed)
    assert (known.correct, known.evidence["rules"]["strict"]) == (True, None)
    lost = answered(tmp_path / "f", ShotReasoner(fails=("select_candidates",), error=ReplyInvalid), METADATA)
    assert (lost.evidence["unjudged"], lost.parse_failure) == (NO_FRAME, True)
