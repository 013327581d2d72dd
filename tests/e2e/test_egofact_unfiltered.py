"""The controls on questions before the non-triviality filter: two small worlds, pooled, nothing drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval.tasks.egofact.benchmark import Workbench

from eval.runs.runner import run_system
from eval.tasks.egofact.settings import MINI
from eval.tasks.egofact.unfiltered import Unfiltered
from rag.errors import UsageError


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Unfiltered:
    folder = tmp_path_factory.mktemp("unfiltered")
    return Unfiltered(folder, Workbench("egofact-workbench-unfiltered", 6, MINI), worlds=2)


def test_two_worlds_are_pooled_and_none_of_their_questions_is_the_same(benchmark: Unfiltered) -> None:
    worlds = {query.query_id.split("-")[0] for query in benchmark.queries}
    assert worlds == {"7", "8"}
    assert len({query.query_id for query in benchmark.queries}) == len(benchmark.queries)
    assert {query.cluster.split("-")[0] for query in benchmark.queries} == worlds
    asked = [
        {(q.text, q.options) for q in benchmark.queries if q.query_id.startswith(world)} for world in worlds
    ]
    assert not asked[0] & asked[1]


def test_it_holds_questions_that_the_filter_takes_away(benchmark: Unfiltered) -> None:
    kept = {(query.text, query.options) for world in benchmark.data for query in world.queries}
    assert kept < {(query.text, query.options) for query in benchmark.queries}


@pytest.mark.parametrize("name", ["blind", "passages-only", "random"])
def test_the_controls_answer_without_any_film(benchmark: Unfiltered, name: str, tmp_path: Path) -> None:
    done = run_system(benchmark, name, 0, tmp_path / name)
    assert done.asked == len(benchmark.queries)
    assert json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8"))
    assert not list(benchmark.folder.rglob("*.mp4"))


def test_what_needs_pictures_is_refused(benchmark: Unfiltered) -> None:
    with pytest.raises(UsageError, match="draws no pictures"):
        benchmark.open_system("localized", 0)
