"""Web tasks over the small web of `tests.fakes.browser_world`, prepared without files or a library."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from eval.runs.answering import answer_query
from eval.runs.records import Sample
from eval.runs.runner import Done
from eval.task import Prepared, ScorerOptions
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


def check_resumed(run: Callable[[Path, str, Path], Done], place: Path, name: str, folder: Path) -> None:
    """A run of `place` that was stopped half-way goes on to the bytes of the whole one."""
    whole = place / "runs" / f"{name}-seed0"
    shutil.copytree(whole, folder)
    samples = folder / "samples.jsonl"
    samples.write_bytes(samples.read_bytes()[: samples.stat().st_size // 2])
    done = run(place / "web", name, folder)
    assert done.asked
    assert done.kept
    for file in ("samples.jsonl", "results.json", "queries.jsonl"):
        assert (folder / file).read_bytes() == (whole / file).read_bytes()


def answers(
    task: WebTask[Any, Any], prepared: Prepared[WebEnvironment], name: str, ids: Iterable[str] = ()
) -> list[Sample]:
    """The samples of these queries, or all."""
    spec = task.solver(name)
    solver = spec.open(prepared.environment, 0)
    scorer = task.open_scorer(prepared, ScorerOptions())
    wanted = set(ids) or {query.query_id for query in prepared.queries}
    chosen = [query for query in prepared.queries if query.query_id in wanted]
    return [answer_query(prepared, spec, solver, scorer, query) for query in chosen]
