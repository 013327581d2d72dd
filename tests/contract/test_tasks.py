"""What holds for every task, solver and scorer; and that the checks refuse what breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from eval.contract import check_scorer, check_solver, check_task
from eval.runs.records import Output, Query, Score, TaskInput
from eval.task import Prepared, Scorer, SolverSpec
from eval.tasks import open_task, task_names
from rag.settings import Settings
from tests.fakes.toy_benchmark import SKILL, ToyTask, make_queries


@pytest.mark.parametrize("name", list(SKILL))
def test_the_toy(name: str) -> None:
    task = ToyTask(count=3)
    prepared = check_task(task, Settings())
    assert [query.query_id for query in prepared.queries] == ["q000", "q001", "q002"]
    output = check_solver(task, prepared, name)
    assert output.choice in {*"ABCDEF", None}
    for judge in (None, "die"):
        check_scorer(task, prepared, output, judge)
        score = task.open_scorer(prepared, judge).score(prepared.queries[0], output)
        assert score.correct == (output.choice == prepared.queries[0].answer)


@pytest.mark.parametrize("name", task_names())
def test_registered_tasks_say_what_they_are_and_read_nothing_when_opened(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = open_task(name)
    assert task.name == name
    assert all(spec.about for spec in task.solvers.values())
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True)
class Cheat:
    """Remembers the queries that its environment leads to."""

    queries: tuple[Query, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, asked: TaskInput) -> Output:
        (found,) = (each for each in self.queries if each.query_id == asked.query_id)
        return Output(choice=found.answer)


@dataclass
class Moody:
    """Another answer each time."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    times: int = 0

    def solve(self, asked: TaskInput) -> Output:  # noqa: ARG002 (the signature is the protocol's)
        Moody.times += 1
        return Output(choice="AB"[Moody.times % 2])


class Broken(ToyTask):
    def __init__(self, opening: Any) -> None:
        super().__init__(count=3)
        self.opening = opening

    def solver(self, name: str) -> SolverSpec[None]:
        return replace(super().solver(name), open=self.opening, given=None)


class Leaking(ToyTask):
    def prepare(self, settings: Settings, progress: Any = None) -> Prepared[Any]:
        prepared: Prepared[Any] = super().prepare(settings, progress)
        return replace(prepared, environment=lambda: prepared.queries)


class Unsure(ToyTask):
    def open_scorer(self, prepared: Prepared[None], judge: str | None = None) -> Scorer:
        del prepared, judge
        return Flipping()


@dataclass
class Flipping:
    settings: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0

    def score(self, query: Query, output: Output) -> Score:
        self.calls += 1
        return ToyTask.score_type(query.answer == output.choice, unjudged="" if self.calls % 2 else "tired")


def test_what_breaks_a_rule_is_refused() -> None:
    toy = ToyTask(count=3)
    prepared = check_task(toy, Settings())
    queries = make_queries(3)
    with pytest.raises(AssertionError, match="solver random leads to gold"):
        check_solver(Broken(lambda _, __: Cheat(queries)), prepared, "random")
    with pytest.raises(AssertionError, match="the same seed and input give the same output"):
        check_solver(Broken(lambda _, __: Moody()), prepared, "random")
    with pytest.raises(AssertionError, match="the environment leads to gold"):
        check_task(Leaking(count=3), Settings())
    with pytest.raises(AssertionError, match="the same output gets the same score"):
        check_scorer(Unsure(count=3), prepared, Output(choice="A"))
    with pytest.raises(AssertionError, match="`about` says in one line"):
        check_task(Nameless(count=3), Settings())


class Nameless(ToyTask):
    about = ""
