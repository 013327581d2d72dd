"""One system over the queries of a benchmark, into a run folder, from wherever an earlier session stopped."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpora.outputs import OverwritePolicy
from eval.resumable import map_os_errors
from eval.runs.folder import RunWriter, queries_text, read_run_folder
from eval.runs.manifest import identity_of
from eval.runs.records import Benchmark, Query
from eval.runs.results import write_results, write_retrieval
from eval.runs.samples import check_sample
from rag.errors import UsageError


class Watch(Protocol):
    """Who looks on: told how many queries are to do, then of each that is done."""

    def start(self, label: str, total: int) -> None: ...
    def advance(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Done:
    folder: Path
    system: str
    seed: int
    asked: int
    """Queries answered in this session."""
    kept: int
    """Queries that an earlier one had answered."""
    right: int


def run_system(
    benchmark: Benchmark,
    name: str,
    seed: int,
    folder: Path,
    *,
    limit: int | None = None,
    factory: str | None = None,
    data: str | None = None,
    watch: Watch | None = None,
    policy: OverwritePolicy | None = None,
) -> Done:
    """Ask all queries, or the first `limit`, that the folder does not answer yet; then score them all.

    `factory` and `data`: how the user named the benchmark and the folder of
    its data, for `rag eval show`. Raises `UsageError` where the folder holds a run of other settings
    or data. An error of the system leaves a folder that the same call takes up.
    """
    queries = tuple(benchmark.queries)[:limit]
    _require_unique(benchmark.name, queries)
    opened = time.perf_counter()
    system = benchmark.open_system(name, seed)
    opened = time.perf_counter() - opened
    digest = hashlib.sha256(queries_text(queries).encode()).hexdigest()
    identity = identity_of(
        benchmark.name, name, seed, limit, system.settings, benchmark.dataset, benchmark.encoders, digest
    )
    opened_as = {"factory": factory or benchmark.name, "data": data}
    from threadpoolctl import threadpool_limits  # sets an environment variable when it is imported

    with RunWriter(folder, identity, queries, opened_as, policy) as writer:
        kept = len(writer.samples)
        if watch is not None:
            watch.start(f"{name}, seed {seed}", len(queries) - kept)
        if kept < len(queries):
            with map_os_errors(folder):
                (folder / "results.json").unlink(missing_ok=True)
            writer.time("", {"open": opened})
        # One question is too little work to share: more threads would only wait for each other.
        with threadpool_limits(limits=1):
            for query in queries[kept:]:
                begun = time.perf_counter()
                sample = system.answer(query)
                check_sample(query, sample)
                writer.append(sample, time.perf_counter() - begun)
                if watch is not None:
                    watch.advance()
        # Scored as read back from the disk, so that rounding cannot tell a resumed run from another.
        run = read_run_folder(folder)
        with map_os_errors(folder):
            write_retrieval(folder, name, run.queries, run.samples)
            write_results(run)
    right = sum(sample.correct for sample in run.samples)
    return Done(folder, name, seed, len(queries) - kept, kept, right)


def _require_unique(name: str, queries: tuple[Query, ...]) -> None:
    if not queries:
        raise UsageError(f"{name}: there are no queries to ask")
    seen: set[str] = set()
    for query in queries:
        if query.query_id in seen:
            raise UsageError(f"{name}: two queries are called {query.query_id!r}")
        seen.add(query.query_id)
