"""The hard world in small, end to end: rendered coarsely, built, indexed, answered with and without video."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.runs.runner import run_solver
from eval.tasks.egofact.construction import build
from eval.tasks.egofact.construction.records import FactPassage, Shape
from eval.tasks.egofact.construction.sources import workbench_passages
from eval.tasks.egofact.dataset import HARD
from eval.tasks.egofact.task import EgoFactTask
from eval.workbench.families import Families
from tests.fakes.settings import FIXED_BACKEND

NAME = "egofact-workbench-hard-mini"


def few(twins: bool = False) -> list[FactPassage]:
    """A few passages and their twins: encoding all 756 is most of the work of a small library."""
    return workbench_passages(twins=twins)[:12]


@pytest.mark.slow
def test_clips_are_found_among_their_likes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "workbench_passages", few)
    world = replace(HARD, clips=3, shape=Shape(2, 2, 0, 0, 0), fps=2, families=Families(size=2, longest=30.0))
    task = EgoFactTask(NAME, "coarse", tmp_path / "data", world)
    prepared = task.prepare(FIXED_BACKEND)
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["described_by"] == 2
    asked = {query.video for query in prepared.queries}
    # Clips that nothing is asked about stay, to be found by mistake.
    assert len(prepared.environment.corpus.clips) > len(asked)
    assert not prepared.skipped
    for name in ("localized", "clip-vectors"):
        run_solver(task, prepared, name, 0, tmp_path / name, data=str(tmp_path / "data"))
        lines = (tmp_path / name / "samples.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(lines) == len(prepared.queries)
        assert {json.loads(line)["choice"] for line in lines} <= set("ABCDEF")
