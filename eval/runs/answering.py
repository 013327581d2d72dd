"""Queries answered in order, several in flight, and a failure of the model kept to its query.

A question without a usable answer (`Unanswered`: an unreadable reply, a spent budget, a prompt that is too
large) is one wrong sample; of the judge, one sample that is not scored. A server that is down stops the run.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from eval.runs.records import (
    VIDEO_UNREADABLE,
    Output,
    Query,
    Sample,
    Score,
    TaskInput,
    check_sample,
    make_sample,
    skipped_sample,
    token_counts,
)
from eval.task import LocalizingSolver, Prepared, Scorer, ScorerOptions, Solver, SolverSpec, Task
from rag.errors import FileProblem, ReplyInvalid, Unanswered
from rag.reasoners.turns import taking_turns
from rag.records import Usage

AHEAD = 4
"""Queries in flight or answered, for each worker, beyond the one that is due to be written."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One query's sample, and what it cost."""

    sample: Sample
    seconds: float
    usage: Usage


def answer_queries(
    task: Task[Any],
    prepared: Prepared[Any],
    spec: SolverSpec[Any],
    seed: int,
    opened: tuple[Solver, Scorer],
    queries: Sequence[Query],
    concurrency: int = 1,
) -> Generator[Answered]:
    """The queries' samples, in their order. `opened`: the first worker's; the others open their own.

    At most `concurrency` queries are in flight: one computes while the others wait for a model
    (`rag.reasoners.turns`). Raises what stops the run, once the queries before it are given.
    Closed early, it asks the model nothing further.
    """
    lock, stopped, own, spare = threading.Lock(), threading.Event(), threading.local(), [opened]

    def answer(query: Query) -> Answered:
        with taking_turns(lock, stopped) as turn:
            started = time.perf_counter()
            if not hasattr(own, "opened"):
                own.opened = (
                    spare.pop()
                    if spare
                    else (spec.open(prepared.environment, seed), task.open_scorer(prepared, ScorerOptions()))
                )
            solver, scorer = own.opened
            sample = answer_query(prepared, spec, solver, scorer, query)
            return Answered(sample, time.perf_counter() - started, turn.spent())

    if concurrency == 1:
        yield from map(answer, queries)
        return
    from threadpoolctl import threadpool_limits  # sets an environment variable when it is imported

    # OpenMP's limit is a thread's own: with another one sums could differ in their last digits.
    pool = ThreadPoolExecutor(concurrency, initializer=partial(threadpool_limits, limits=1))
    try:
        pending: deque[Future[Answered]] = deque()
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
