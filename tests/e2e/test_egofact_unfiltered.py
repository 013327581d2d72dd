"""The controls on questions before the non-triviality filter: two small worlds, pooled, nothing rendered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.contract import check_scorer, check_solver, check_task
from eval.runs.runner import run_solver
from eval.task import Prepared
from eval.tasks.egofact.construction import build
from eval.tasks.egofact.construction.records import Shape
from eval.tasks.egofact.dataset import Workbench, read_worlds
from eval.tasks.egofact.solvers.registry import Environment
from eval.tasks.egofact.task import UnfilteredTask
from rag.errors import UsageError
from rag.settings import Settings
from tests.fakes.egofact_world import few_passages

NAME = "egofact-workbench-unfiltered"
SMALL = Workbench(NAME, 4, Shape(3, 1, 1, 1, 1))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> UnfilteredTask:
    return UnfilteredTask(NAME, "two small worlds", tmp_path_factory.mktemp("unfiltered"), SMALL, worlds=2)


@pytest.fixture(scope="module")
def benchmark(task: UnfilteredTask) -> Prepared[Environment]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "workbench_passages", few_passages)
        return check_task(task, Settings())


def test_two_worlds_are_pooled_and_none_of_their_questions_is_the_same(
    benchmark: Prepared[Environment],
) -> None:
    worlds = {query.query_id.split("-")[0] for query in benchmark.queries}
    assert worlds == {"7", "8"}
    assert len({query.query_id for query in benchmark.queries}) == len(benchmark.queries)
    assert {query.cluster.split("-")[0] for query in benchmark.queries} == worlds
    asked = [
        {(q.text, q.options) for q in benchmark.queries if q.query_id.startswith(world)} for world in worlds
    ]
    assert not asked[0] & asked[1]


def test_it_holds_questions_that_the_filter_takes_away(
    task: UnfilteredTask, benchmark: Prepared[Environment]
) -> None:
    assert task.folder is not None
    worlds = read_worlds(NAME, task.folder, SMALL, 2)
    kept = {(query.text, query.options) for world in worlds for query in world.queries}
    assert kept < {(query.text, query.options) for query in benchmark.queries}


@pytest.mark.parametrize("name", ["blind", "passages-only", "random"])
def test_the_controls_answer_without_any_video(
    task: UnfilteredTask, benchmark: Prepared[Environment], name: str, tmp_path: Path
) -> None:
    assert list(task.solvers) == ["blind", "passages-only", "random"]
    output = check_solver(task, benchmark, name)
    assert output.choice in set("ABCDEF")
    check_scorer(task, benchmark, output)
    done = run_solver(task, benchmark, name, 0, tmp_path / name)
    assert done.asked == len(benchmark.queries)
    assert json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8"))
    assert task.folder is not None
    assert not list(task.folder.rglob("*.mp4"))


def test_what_needs_videos_is_refused(task: UnfilteredTask) -> None:
    with pytest.raises(UsageError, match="renders no videos; it has blind, passages-only, random"):
        task.solver("localized")
