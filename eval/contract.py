"""What holds for every task, solver and scorer; to be called from a test of your own package.

    task = open_mine()
    prepared = check_task(task, Settings())
    output = check_solver(task, prepared, "my-solver")
    check_scorer(task, prepared, output)

Each raises `AssertionError` with one line for the first rule that does not hold.
"""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from eval.runs.records import Output, Query, TaskInput, canonical, check_sample, make_sample, output_of
from eval.task import LocalizingSolver, Prepared, Task
from rag.errors import UsageError
from rag.settings import Settings

ASKED = 2
"""Queries that a solver is asked."""


def check_task(task: Task[Any], settings: Settings) -> Prepared[Any]:
    """Name, solvers and data; gives the task prepared, for the other checks."""
    _require(bool(task.name), "a task has a name")
    _require(bool(task.about), f"{task.name}: `about` says in one line what it is")
    _require(bool(task.solvers), f"{task.name}: it has a solver")
    for name, spec in task.solvers.items():
        _require(bool(spec.about), f"{task.name}: solver {name} has a line about it")
        _require(task.solver(name) is not None, f"{task.name}: solver({name!r}) gives it")
    try:
        task.solver("no such solver")
    except UsageError:
        pass
    else:
        raise AssertionError(f"{task.name}: solver() raises UsageError for an unknown name")
    prepared = task.prepare(settings)
    ids = [query.query_id for query in prepared.queries]
    _require(bool(ids), f"{task.name}: it has queries")
    _require(len(set(ids)) == len(ids), f"{task.name}: ids of queries are unique")
    for query in prepared.queries:
        asked = prepared.inputs.get(query.query_id)
        _require(isinstance(asked, TaskInput), f"{query.query_id}: `inputs` has a TaskInput for it")
        assert asked is not None
        _require(asked.query_id == query.query_id, f"{query.query_id}: its input has its id")
        _require(asked.options == query.options, f"{query.query_id}: its input has its options")
        _refuse_gold(asked, prepared, f"the input of {query.query_id}")
    _refuse_gold(prepared.environment, prepared, "the environment")
    _require_json({"dataset": prepared.dataset, "encoders": prepared.encoders}, task.name)
    return prepared


def check_solver(task: Task[Any], prepared: Prepared[Any], name: str, seed: int = 0) -> Output:
    """The same output twice, valid, by a solver that holds no gold; gives the output of the first query."""
    spec = task.solver(name)
    first, second = (spec.open(prepared.environment, seed) for _ in range(2))
    _require_json(first.settings, name)
    _require(
        dict(first.settings) == dict(second.settings), f"{name}: settings are the same when opened again"
    )
    _refuse_gold(first, prepared, f"solver {name}")
    outputs = []
    for query in prepared.queries[:ASKED]:
        asked = prepared.inputs[query.query_id]
        if spec.given is not None:
            asked = spec.given(query, asked)
        output = first.solve(asked)
        again = second.solve(asked)
        _require(isinstance(output, Output), f"{name}: solve() gives an Output")
        _require(
            canonical(output) == canonical(again), f"{name}: the same seed and input give the same output"
        )
        scorer = task.open_scorer(prepared)
        check_sample(query, make_sample(query, output, scorer.score(query, output)))
        if isinstance(first, LocalizingSolver) and query.video:
            window = first.localize(asked, query.video)
            _require(window is None or window[0] < window[1], f"{name}: a window ends after it starts")
        if spec.given is None:
            _refuse_gold(first, prepared, f"solver {name}, after a question,")
        outputs.append(output)
    return outputs[0]


def check_scorer(task: Task[Any], prepared: Prepared[Any], output: Output) -> None:
    """The same score twice, and again from the stored sample; `output`: of the first query."""
    query, scorer = prepared.queries[0], task.open_scorer(prepared)
    _require_json(scorer.settings, f"scorer of {task.name}")
    score = scorer.score(query, output)
    _require(isinstance(score, task.score_type), f"{task.name}: score() gives a {task.score_type.__name__}")
    _require(scorer.score(query, output) == score, f"{task.name}: the same output gets the same score")
    sample = make_sample(query, output, score)
    stored = output_of(sample, task.score_type)
    again = make_sample(query, stored, scorer.score(query, stored))
    _require(canonical(again) == canonical(sample), f"{task.name}: the stored output gets the same score")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)


def _require_json(value: Any, where: str) -> None:
    try:
        json.dumps(canonical(value), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{where}: not JSON: {error}") from error


def _refuse_gold(held: object, prepared: Prepared[Any], what: str) -> None:
    gold = {id(record) for record in prepared.gold.values()}
    gold |= {id(prepared), id(prepared.queries), id(prepared.gold)}
    for each in _reachable(held):
        if isinstance(each, Query) or id(each) in gold:
            raise AssertionError(f"{what} leads to gold")


def _reachable(root: object) -> Iterator[object]:
    """What attributes, items, closures and bound arguments lead to; not through modules and classes."""
    seen: set[int] = set()
    waiting: list[object] = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, str | bytes | int | float | type | types.ModuleType):
            continue
        seen.add(id(each))
        yield each
        waiting += _parts(each)


def _parts(each: Any) -> list[object]:
    if isinstance(each, Mapping):
        return [*each.values()]
    if isinstance(each, list | tuple | set | frozenset):
        return [*each]
    if isinstance(each, functools.partial):
        return [each.func, *each.args, *each.keywords.values()]
    if isinstance(each, types.MethodType):
        return [each.__self__]
    if isinstance(each, types.FunctionType):
        return [cell.cell_contents for cell in each.__closure__ or ()]
    if is_dataclass(each):
        return [getattr(each, one.name, None) for one in fields(each)] + [
            *getattr(each, "__dict__", {}).values()
        ]
    return [*getattr(each, "__dict__", {}).values()]
