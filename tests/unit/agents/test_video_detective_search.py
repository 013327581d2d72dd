"""The looks of a question as an object of its own: made whole, bounded, and heedful of what goes wrong."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import cast

import pytest

from rag.agents.video_detective import agent as video_detective
from rag.agents.video_detective import search as video_detective_search
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.search import ErrorLog
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable
from rag.library import Library
from rag.reasoners.protocol import Reasoner
from tests.fakes.detective_world import RuleReasoner, open_world, question


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_world(tmp_path_factory.mktemp("search")) as opened:
        yield opened


def test_what_goes_wrong_ends_only_what_it_must() -> None:
    errors = ErrorLog()
    errors.note("timeline", ReasonerError("no timeline today"))
    assert errors == ErrorLog(["timeline: no timeline today"])
    errors.record(BudgetSpent("spent"))
    assert (errors.spent, errors.gone, len(errors.problems)) == (True, False, 1)
    gone = ErrorLog()
    gone.record(ReasonerUnreachable("away"))
    assert (gone.spent, gone.gone) == (True, True)


def test_an_unreachable_reasoner_is_not_called_again(library: Library) -> None:
    reasoner = RuleReasoner(fails=["timeline"], error=ReasonerUnreachable)
    found = VideoDetective(library, reasoner=cast("Reasoner", reasoner)).investigate("workshop", question())
    assert found.looks == ()
    assert reasoner.asked == ["timeline", "answer_choice"]
    assert found.plan.problems == ("timeline: no timeline today",)


@pytest.mark.parametrize("module", [video_detective, video_detective_search])
def test_attributes_are_set_where_an_object_is_made(module: object) -> None:
    tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]  # a module
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
        made = {name for method in methods if method.name == "__init__" for name in _set(method)}
        fields = {
            node.target.id
            for node in kind.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        later = {name for method in methods if method.name != "__init__" for name in _set(method)}
        assert later <= made | fields, kind.name


def _set(method: ast.FunctionDef) -> set[str]:
    return {
        node.attr
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
