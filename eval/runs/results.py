"""From the samples of a complete run to its TREC files and `results.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpora.outputs import atomic_write_text
from eval.metrics.calibration import expected_calibration_error, reliability
from eval.metrics.scored import CLIPS_AT, PASSAGES_AT, Measure, Scored, score_samples, success
from eval.metrics.tables import MEASURES, measure_slices
from eval.runs.folder import Run
from eval.runs.records import Query, Sample, canonical
from eval.trec import escape_id, read_run, run_lines
from rag.errors import UsageError

SCHEMA = "rag.eval.results/1"


def write_retrieval(folder: Path, tag: str, queries: Sequence[Query], samples: Sequence[Sample]) -> None:
    """`clips.run.trec`, `passages.run.trec`, and the qrels of both, in the order of the queries."""
    for file, text in _retrieval(tag, samples).items():
        atomic_write_text(folder / file, text)
    # A question may come without a known video: then nothing is to be found for it.
    clips = ((query.query_id, query.video) for query in queries if query.video)
    _write_qrels(folder / "clips.qrels", clips)
    two_hop = ((query.query_id, query.passage) for query in queries if query.passage is not None)
    _write_qrels(folder / "passages.qrels", two_hop)


def check_retrieval(run: Run) -> None:
    """Raises `UsageError` where a ranking on disk is not the samples', or the run is not scored yet."""
    if not (run.folder / "results.json").is_file():
        raise UsageError(f"{run.folder}: answered and not scored yet; 'rag eval run' goes on there")
    for file, text in _retrieval(run.identity["system"], run.samples).items():
        path = run.folder / file
        try:
            found = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; 'rag eval run' writes it again") from error
        if found != text.encode():
            raise UsageError(f"{path}: not the ranking in samples.jsonl; 'rag eval run' writes it again")


def write_results(
    run: Run, measures: Mapping[str, Measure], further: Callable[[Sequence[Scored]], Mapping[str, Any]]
) -> dict[str, Any]:
    """Write `results.json` and return it. The retrieval files must exist.

    `measures`: the task's own, beside those of all tasks. `further`: from samples to further entries.
    """
    samples = score_run(run)
    identity = run.identity
    shape = {
        "schema": SCHEMA,
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
        **further(samples),
    }
    plain: dict[str, Any] = canonical(shape)
    atomic_write_text(run.folder / "results.json", json.dumps(plain, indent=1, allow_nan=False) + "\n")
    return plain


def score_run(run: Run) -> list[Scored]:
    """Every sample with its retrieval scored from the TREC files on disk."""
    clips = {query.query_id: query.video for query in run.queries if query.video}
    passages = {query.query_id: query.passage for query in run.queries if query.passage is not None}
    return score_samples(
        list(zip(run.queries, run.samples, strict=True)),
        success(clips, read_run(run.folder / "clips.run.trec"), CLIPS_AT),
        success(passages, read_run(run.folder / "passages.run.trec"), PASSAGES_AT),
    )


def _levelled(sample: Sample) -> Iterator[tuple[str, float]]:
    """Clips in the order given. Lists fused of two kinds may rise in score: held level."""
    level = float("inf")
    for clip in sample.clips:
        level = min(level, clip.score)
        yield clip.clip_id, level


def _ranked(sample: Sample) -> list[tuple[str, float]]:
    """Passages of all options in one ranking by score, equal scores by id."""
    return sorted(
        ((found.passage_id, found.score) for found in sample.passages), key=lambda each: (-each[1], each[0])
    )


def _retrieval(tag: str, samples: Sequence[Sample]) -> dict[str, str]:
    """File name to its whole text."""
    clips = ((sample.query_id, _levelled(sample)) for sample in samples)
    passages = ((sample.query_id, _ranked(sample)) for sample in samples)
    return {"clips.run.trec": _run_text(clips, tag), "passages.run.trec": _run_text(passages, tag)}


def _run_text(rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]], tag: str) -> str:
    lines = (line for query_id, ranking in rankings for line in run_lines(query_id, ranking, tag))
    return "".join(f"{line}\n" for line in lines)


def _write_qrels(path: Path, gold: Iterable[tuple[str, str]]) -> None:
    atomic_write_text(
        path, "".join(f"{escape_id(query_id)} 0 {escape_id(doc_id)} 1\n" for query_id, doc_id in gold)
    )
