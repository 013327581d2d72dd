"""A synthetic web of three videos, indexed and measured: the shots, their tone, and a search by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval.runs.runner import run_solver
from eval.task import Prepared
from eval.tasks.shotfinder.construction import MINI
from eval.tasks.shotfinder.task import ShotFinderTask
from eval.tasks.web_task import WebEnvironment
from eval.workbench.video import Render
from tests.fakes.settings import FIXED_BACKEND
from tests.fakes.web_tasks import answers

TINY = replace(
    MINI, seed=5, families={"color": 1}, sides=(0, 0, 1), shots=2, noise=0, render=Render(height=360, fps=2)
)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> ShotFinderTask:
    return ShotFinderTask("shotfinder-tiny", "", tmp_path_factory.mktemp("rendered"), TINY)


@pytest.fixture(scope="module")
def data(task: ShotFinderTask) -> Prepared[WebEnvironment]:
    return task.prepare(FIXED_BACKEND)


def test_measurements_are_as_rendered(data: Prepared[WebEnvironment]) -> None:
    coloured = [query for query in data.gold.values() if query.task == "color"]
    assert [query.value for query in coloured] == ["warm", "cold"]
    for query in coloured:
        shots = data.environment.library.shots(query.gold.video_id)
        assert [shot.tone for shot in shots] == [query.value] * len(shots)
        (held,) = [shot for shot in shots if shot.start <= query.frame < shot.end]
        assert held.start == pytest.approx(query.gold.start, abs=0.6)
        assert held.end == pytest.approx(query.gold.end, abs=0.6)
    temporal = [query for query in data.gold.values() if query.task == "temporal"]
    assert len({query.description for query in temporal}) == 1
    assert len({query.constraint for query in temporal}) == 2


def test_a_search_gives_only_what_meets_the_constraint(
    task: ShotFinderTask, data: Prepared[WebEnvironment], tmp_path: Path
) -> None:
    done = run_solver(task, data, "shotfinder", 0, tmp_path / "once")
    assert done.asked == len(data.queries) == 4
    again = run_solver(task, data, "shotfinder", 0, tmp_path / "again")
    assert again.right == done.right
    samples = [(tmp_path / name / "samples.jsonl").read_bytes() for name in ("once", "again")]
    assert samples[0] == samples[1]
    for sample in answers(task, data, "shotfinder", [query.query_id for query in data.queries[:2]]):
        shot = sample.evidence["shot"]
        assert shot is None or all(check["holds"] for check in shot["checks"])
