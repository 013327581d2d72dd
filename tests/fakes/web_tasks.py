"""Web tasks over the small web of `tests.fakes.browser_world`, prepared without files or a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from eval.runs.records import Sample
from eval.runs.runner import answer_query
from eval.task import Prepared
from eval.tasks.web_task import WebEnvironment, WebTask
from tests.fakes.browser_world import frame_source


def prepare_records(
    task: WebTask[Any, Any], records: Mapping[str, Any], environment: WebEnvironment
) -> Prepared[WebEnvironment]:
    return Prepared(
        queries=[task.query_of(record) for record in records.values()],
        inputs={name: task.input_of(record) for name, record in records.items()},
        environment=environment,
        dataset={"rows.jsonl": "0" * 64},
        encoders={"text": "none", "image": "none", "reasoner": "rules"},
        gold=records,
    )


def environment_of(web: Any, reasoner: Any, library: Any = None, source: Any = None) -> WebEnvironment:
    """The fakes have what solvers and scorers of these tests use, and no more."""
    return WebEnvironment(web, reasoner, source or frame_source(), cast(Any, library))


def answers(
    task: WebTask[Any, Any], prepared: Prepared[WebEnvironment], name: str, ids: Iterable[str] = ()
) -> list[Sample]:
    """The samples of these queries, or all."""
    spec = task.solver(name)
    solver = spec.open(prepared.environment, 0)
    scorer = task.open_scorer(prepared)
    wanted = set(ids) or {query.query_id for query in prepared.queries}
    chosen = [query for query in prepared.queries if query.query_id in wanted]
    return [answer_query(prepared, spec, solver, scorer, query) for query in chosen]
