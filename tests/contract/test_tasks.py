"""What holds for every task, solver and scorer, those of the guides too; what breaks it is refused."""

import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from corpora import entry_points
from eval import tasks
from eval.contract import check_scorer, check_solver, check_task
from eval.runs.records import Output, Query, Score, TaskInput
from eval.task import Prepared, Scorer, SolverSpec
from rag._cli.main import main
from rag.settings import Settings
from tests.fakes.pages import blocks
from tests.fakes.toy_benchmark import SKILL, ToyTask, make_queries


@pytest.mark.parametrize("name", list(SKILL))
def test_the_toy(name: str) -> None:
    task = ToyTask(count=3)
    prepared = check_task(task, Settings())
    assert [query.query_id for query in prepared.queries] == ["q000", "q001", "q002"]
    output = check_solver(task, prepared, name)
    assert output.choice in {*"ABCDEF", None}
    check_scorer(task, prepared, output)
    score = task.open_scorer(prepared).score(prepared.queries[0], output)
    assert score.correct == (output.choice == prepared.queries[0].answer)


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
    def open_scorer(self, prepared: Prepared[None]) -> Scorer:
        del prepared
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


GUIDES = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.fixture
def colours(tmp_path, monkeypatch) -> ModuleType:
    """The module of the task guide, importable as a user's own."""
    (tmp_path / "colours.py").write_text(blocks(GUIDES / "task.md", "python")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "colours", None)
    del sys.modules["colours"]  # and what is imported now goes with the test
    return importlib.import_module("colours")


@pytest.mark.slow
def test_the_task_over_a_folder_of_the_guide_asks_the_product(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("notes_task.py").write_text(blocks(GUIDES / "task.md", "python")[2], encoding="utf-8")
    Path("notes").mkdir()
    Path("notes/bolts.md").write_text("# Wheels\n\nTighten the wheel bolts to 120 Nm.\n", encoding="utf-8")
    assert main(["eval", "run", "notes_task:open_notes"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["right"] == 1
    manifest = json.loads(Path("runs/notes/rag-ask-seed0/manifest.json").read_text(encoding="utf-8"))[
        "identity"
    ]
    assert set(manifest["encoders"]) == {"image", "reasoner", "screen text", "text"}


def test_the_solver_of_the_guide_is_registered_for_a_task(colours: ModuleType, capsys, monkeypatch) -> None:
    Path("my_package.py").write_text("\n".join(blocks(GUIDES / "solver.md", "python")), encoding="utf-8")
    entry = EntryPoint("colours.always-first", "my_package:ALWAYS_FIRST", tasks.SOLVERS)
    for module in (tasks, entry_points):
        monkeypatch.setattr(
            module, "all_entry_points", lambda group: {entry.name: entry} if group == tasks.SOLVERS else {}
        )
    assert tasks.solver_names(colours.open_colours()) == ["longest", "always-first"]
    assert main(["eval", "run", "colours:open_colours", "--system", "always-first"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["right"] == 1
