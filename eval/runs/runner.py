"""One solver over the queries of a task, into a run folder: resumed where an earlier session stopped, scored
and measured (`results.json`).

Queries are answered in order, several in flight. A question without a usable answer (`Unanswered`: an
unreadable reply, a spent budget, a prompt that is too large) is one wrong sample; of the judge, one sample
that is not scored. A server that is down stops the run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from corpora.outputs import OverwritePolicy, atomic_write_text
from eval.metrics.calibration import expected_calibration_error, reliability
from eval.metrics.scored import Measure, Scored, score_samples
from eval.metrics.tables import MEASURES, measure_slices
from eval.resumable import map_os_errors
from eval.runs.folder import (
    Run,
    RunWriter,
    known_identity,
    queries_text,
    read_run_folder,
    read_unusable,
    rewrite_samples,
    write_unusable,
)
from eval.runs.records import (
    VIDEO_UNREADABLE,
    Output,
    Query,
    Sample,
    Score,
    TaskInput,
    canonical,
    check_sample,
    make_sample,
    output_of,
    reason_counts,
    skip_reason,
    skipped_sample,
    token_counts,
    without_gold,
)
from eval.task import LocalizingSolver, Prepared, Scorer, Solver, SolverSpec, Task
from eval.tasks import find_solver
from rag.errors import FileProblem, ReplyInvalid, Unanswered, UsageError
from rag.reasoners.llm.usage import usage_of, usage_together
from rag.reasoners.turns import taking_turns
from rag.records import Usage

AHEAD = 4
"""Queries in flight or answered, for each worker, beyond the one that is due to be written."""


def answer_queries(
    task: Task[Any],
    prepared: Prepared[Any],
    spec: SolverSpec[Any],
    seed: int,
    opened: tuple[Solver, Scorer],
    queries: Sequence[Query],
    concurrency: int = 1,
) -> Generator[Sample]:
    """The queries' samples, in their order. `opened`: the first worker's; the others open their own.

    At most `concurrency` queries are in flight: one computes while the others wait for a model
    (`rag.reasoners.turns`). Raises what stops the run, once the queries before it are given.
    Closed early, it asks the model nothing further.
    """
    lock, stopped, own, spare = threading.Lock(), threading.Event(), threading.local(), [opened]

    def answer(query: Query) -> Sample:
        with taking_turns(lock, stopped) as turn:
            if not hasattr(own, "opened"):
                own.opened = (
                    spare.pop()
                    if spare
                    else (spec.open(prepared.environment, seed), task.open_scorer(prepared))
                )
            solver, scorer = own.opened
            sample = answer_query(prepared, spec, solver, scorer, query)
            return sample if skip_reason(sample) else replace(sample, usage=turn.spent().spent_by_role)

    if concurrency == 1:
        yield from map(answer, queries)
        return
    from threadpoolctl import threadpool_limits  # sets an environment variable when it is imported

    # OpenMP's limit is a thread's own: with another one sums could differ in their last digits.
    pool = ThreadPoolExecutor(concurrency, initializer=partial(threadpool_limits, limits=1))
    try:
        pending: deque[Future[Sample]] = deque()
        for query in queries:
            if len(pending) >= AHEAD * concurrency:
                yield pending.popleft().result()
            pending.append(pool.submit(answer, query))
        while pending:
            yield pending.popleft().result()
    finally:
        # What is in flight ends with the reply that it waits for, and asks nothing further.
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)


def answer_query(
    prepared: Prepared[Any], spec: SolverSpec[Any], solver: Solver, scorer: Scorer, query: Query
) -> Sample:
    """The solver's output on the input of `query`, scored. The solver never sees `query`.

    A solver that localizes is asked for its window in the gold clip where it did not read that clip,
    after its output is fixed. A query that the model gives no usable answer to (`Unanswered`) is a sample
    without a choice; any other error of the solver ends the run. Raises `ValueError` for a sample that
    contradicts its query. A query of `prepared.skipped`, or one during which a video cannot be read, is a
    skipped sample.
    """
    if reason := prepared.skipped.get(query.query_id):
        return skipped_sample(query, reason)
    asked = prepared.inputs[query.query_id]
    if spec.given is not None:
        asked = spec.given(query, asked)
    window = None
    try:
        output = solver.solve(asked)
    except Unanswered as error:
        output = unanswered_output(error)
    except FileProblem as error:
        return skipped_sample(query, f"{VIDEO_UNREADABLE}: {error}")
    else:
        window = _window(solver, asked, query, output)
    sample = make_sample(query, output, score_output(scorer, query, output), window)
    check_sample(query, sample)
    return sample


def unanswered_output(error: Unanswered) -> Output:
    """The output of a query that the model gave no usable answer to: no choice, and why."""
    return Output(
        evidence={"failure": type(error).__name__, "explanation": str(error)},
        tokens=token_counts(error.usage or Usage()),
        parse_failure=isinstance(error, ReplyInvalid),
    )


def score_output(scorer: Scorer, query: Query, output: Output) -> Score:
    """The scorer's verdict; unscored, with the reason, where the judge's reply cannot be used."""
    try:
        return scorer.score(query, output)
    except Unanswered as error:
        return Score(False, f"the judge's reply cannot be used: {type(error).__name__}")


def _window(solver: Solver, asked: TaskInput, query: Query, output: Output) -> tuple[float, float] | None:
    """What was localized in the gold clip; None where that was not tried or not possible."""
    if not isinstance(solver, LocalizingSolver) or not query.video:
        return None
    read = [(found.start, found.end) for found in output.windows if found.clip_id == query.video]
    try:
        return read[0] if read else solver.localize(asked, query.video)
    except Unanswered:
        return None


def _skipped(run: Run) -> int:
    return sum(bool(skip_reason(sample)) for sample in run.samples)


def write_results(run: Run, samples: Sequence[Scored], measures: Mapping[str, Measure]) -> None:
    """Write `results.json`, the last file of a run.

    `samples`: of `score_run`. `measures`: the task's own, beside those of all tasks.
    """
    identity = run.identity
    shape = {
        "schema": "rag.eval.results/1",
        "benchmark": identity["benchmark"],
        "system": identity["system"],
        "seed": identity["seed"],
        "figures": {
            name: measure_slices(measure, samples) for name, measure in {**MEASURES, **measures}.items()
        },
        "calibration": {
            "expected calibration error": expected_calibration_error(samples),
            "bins": reliability(samples),
        },
    }
    if held := _skipped(run):
        shape["skipped"] = {"n": held, "reasons": reason_counts(map(skip_reason, run.samples))}
    if rows := read_unusable(run.folder):
        shape["unusable rows"] = {"n": len(rows), "reasons": reason_counts(row.reason for row in rows)}
    if by_role := usage_together(usage_of(sample.usage) for sample in run.samples).by_role:
        # How replies were read, by role: what was lost to their format.
        counted = ("calls", "repairs", "unread", "reduced")
        shape["replies"] = {
            role: {key: int(row.get(key, 0)) for key in counted} for role, row in sorted(by_role.items())
        }
    text = json.dumps(canonical(shape), indent=1, allow_nan=False)
    atomic_write_text(run.folder / "results.json", text + "\n")


def score_run(run: Run) -> list[Scored]:
    """Every sample that was not skipped, with its retrieval scored."""
    return score_samples(
        [pair for pair in zip(run.queries, run.samples, strict=True) if not skip_reason(pair[1])]
    )


@dataclass(frozen=True, slots=True)
class Done:
    """What a run asked, kept and scored."""

    folder: Path
    system: str
    seed: int
    asked: int
    """Queries answered in this session."""
    kept: int
    """Queries that an earlier one had answered."""
    right: int
    skipped: int = 0
    """Queries of this session and earlier ones that were not asked; they count in no figure."""
    without_gold: int = 0
    """Queries of this session and earlier ones whose gold the benchmark keeps to itself."""


def run_solver(
    task: Task[Any],
    prepared: Prepared[Any],
    name: str,
    seed: int,
    folder: Path,
    *,
    limit: int | None = None,
    factory: str | None = None,
    data: str | None = None,
    progress: Callable[[int, int, str], object] = lambda *_: None,
    policy: OverwritePolicy | None = None,
    concurrency: int = 1,
) -> Done:
    """Ask all queries, or the first `limit`, that the folder does not answer yet; then measure them all.

    `factory` and `data`: how the user named the task and the folder of its data, for the commands that
    read the run. `concurrency`: queries in flight; the files are the same. `progress`: called with the number
    of queries done, that of all, and what is run. Raises `UsageError` where the folder holds a run of other
    settings or data. An error of the solver leaves a folder that the same call resumes.
    """
    queries = tuple(prepared.queries)[:limit]
    if not queries:
        raise UsageError(f"{task.name}: there are no queries to ask")
    if len({query.query_id for query in queries}) < len(queries):
        raise UsageError(f"{task.name}: two queries have one id")
    spec = find_solver(task, name)
    solver = spec.open(prepared.environment, seed)
    scorer = task.open_scorer(prepared)
    identity = {
        **known_identity(task.name, name, seed, limit),
        "settings": solver.settings,
        "scorer": scorer.settings,
        "dataset": prepared.dataset,
        "encoders": prepared.encoders,
        "queries": hashlib.sha256(queries_text(queries).encode()).hexdigest(),
    }
    # As it is read back, to be compared: a tuple is a list.
    identity = json.loads(json.dumps(identity, default=dict, allow_nan=False))
    opened_as = {"factory": factory or task.name, "data": data}
    with RunWriter(folder, identity, queries, opened_as, policy) as writer:
        todo = writer.due(prepared.skipped)
        write_unusable(folder, prepared.unusable)
        if todo:
            with map_os_errors(folder):
                (folder / "results.json").unlink(missing_ok=True)
        opened_both = (solver, scorer)
        answers = answer_queries(task, prepared, spec, seed, opened_both, todo, concurrency)
        _write_answers(writer, answers, lambda done: progress(done, len(todo), f"{name}, seed {seed}"))
        writer.finish()
        run = measure(task, folder)
    return done_of(run, len(todo))


def _write_answers(writer: RunWriter, answers: Generator[Sample], progress: Callable[[int], object]) -> None:
    from threadpoolctl import threadpool_limits  # sets an environment variable when it is imported

    # One question is too little work to share: more threads would only wait for each other.
    with threadpool_limits(limits=1), contextlib.closing(answers):
        progress(0)
        for done, sample in enumerate(answers, 1):
            writer.append(sample)
            progress(done)


def done_of(run: Run, asked: int) -> Done:
    """What a run came to; `asked`: its queries that were answered in this session."""
    return Done(
        run.folder,
        run.identity["system"],
        run.identity["seed"],
        asked,
        len(run.samples) - asked,
        sum(sample.correct for sample in run.samples),
        _skipped(run),
        sum(map(without_gold, run.samples)),
    )


def measure(task: Task[Any], folder: Path) -> Run:
    """Write the task's own files and `results.json` of a run; gives the run as read from disk.

    Measured as read back, so that rounding is the same for a resumed run.
    """
    run = read_run_folder(folder)
    with map_os_errors(folder):
        samples = score_run(run)
        for name, text in task.files(samples).items():
            atomic_write_text(folder / name, text)
        write_results(run, samples, task.measures)
    return run


def score_again(task: Task[Any], prepared: Prepared[Any], folder: Path) -> Run:
    """Score every stored sample of a run again, without its solver, and measure the run.

    The samples and the identity's `scorer` are replaced. Raises `UsageError` for an unfinished run.
    """
    run = read_run_folder(folder)
    if not run.complete:
        raise UsageError(
            f"{folder}: {len(run.samples)} of {len(run.queries)} queries are answered; "
            "finish it with 'rag eval run'"
        )
    scorer = task.open_scorer(prepared)
    samples = [
        _scored_again(query, sample, scorer, task)
        for query, sample in zip(run.queries, run.samples, strict=True)
    ]
    rewrite_samples(run, samples, scorer.settings)
    return measure(task, folder)


def _scored_again(query: Query, sample: Sample, scorer: Scorer, task: Task[Any]) -> Sample:
    if skip_reason(sample):
        return sample
    output = output_of(sample, task.score_type)
    again = make_sample(query, output, score_output(scorer, query, output), sample.gold_window_found)
    again = replace(again, usage=sample.usage)
    check_sample(query, again)
    return again
