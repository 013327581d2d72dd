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


def resumed(
    run: Callable[[Path, str, Path], Done], place: Path, name: str, folder: Path
) -> tuple[Done, list[str]]:
    """A run of `place` that was stopped half-way and goes on in `folder`: what was done, and the names of the
    files whose bytes differ from those of the whole run."""
    whole = place / "runs" / f"{name}-seed0"
    shutil.copytree(whole, folder)
    samples = folder / "samples.jsonl"
    samples.write_bytes(samples.read_bytes()[: samples.stat().st_size // 2])
    done = run(place / "web", name, folder)
    files = ("samples.jsonl", "results.json", "queries.jsonl")
    return done, [file for file in files if (folder / file).read_bytes() != (whole / file).read_bytes()]


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
