"""Queries and samples as JSON lines: the same record, the same bytes.

Floats are rounded to 6 decimals, keys of free mappings are sorted, output is
ASCII. A record that was written and read again is written alike, so a resumed
run cannot differ from an undisturbed one.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from eval.resumable import whole_lines
from eval.runs.records import LETTERS, Query, Sample, option_index
from rag.errors import UsageError

Record = TypeVar("Record", Query, Sample)

DECIMALS = 6


def canonical(value: Any) -> Any:
    """Records, mappings and sequences as JSON, floats rounded. Raises `ValueError` for NaN and infinities."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: canonical(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written")
        return round(float(value), DECIMALS) + 0.0
    if isinstance(value, Sequence):
        return [canonical(inner) for inner in value]
    raise ValueError(f"no JSON for {type(value).__name__}")


def query_line(query: Query) -> str:
    """A query as one line of canonical JSON."""
    return _line(canonical(query))


def sample_line(sample: Sample) -> str:
    """Without its timings, which differ from run to run."""
    shape = canonical(sample)
    del shape["timings"]
    return _line(shape)


def _line(shape: Mapping[str, Any]) -> str:
    return json.dumps(shape, ensure_ascii=True, allow_nan=False) + "\n"


def read_queries(path: Path) -> list[Query]:
    """Read queries from JSON lines."""
    return list(read_records(path, Query))


def read_samples(path: Path) -> list[Sample]:
    """Read samples from JSON lines."""
    return list(read_records(path, Sample))


def read_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Of all whole lines. Raises `UsageError` naming the line that holds no such record."""
    from pydantic import TypeAdapter, ValidationError

    try:
        path.stat()  # a missing file is no empty one
        lines = whole_lines(path).splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    adapter = TypeAdapter(kind)
    for number, line in enumerate(lines, 1):
        try:
            yield adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            raise UsageError(
                f"{path}:{number}: no {kind.__name__.lower()}: {place}: {first['msg']}"
            ) from error


def check_sample(query: Query, sample: Sample) -> None:
    """Raises `ValueError` where a sample contradicts its query or itself.

    Whether the answer to an open question is right was judged: there is no letter to compare.
    """
    shown = option_index(query, sample.choice) if sample.choice is not None else None
    unshuffled = LETTERS[query.order[shown]] if shown is not None and query.order else None
    judged = bool(query.options) and not sample.evidence.get("unjudged")
    claims = {
        "query_id": (sample.query_id, query.query_id),
        "family": (sample.family, query.family),
        "video": (sample.video, query.video),
        "cluster": (sample.cluster, query.cluster),
        "correct": (sample.correct, sample.choice == query.answer if judged else sample.correct),
        "unshuffled_choice": (sample.unshuffled_choice, unshuffled),
    }
    for name, (stated, expected) in claims.items():
        if stated != expected:
            raise ValueError(f"query {query.query_id}: {name} is {stated!r}, expected {expected!r}")
    if sample.scores and len(sample.scores) != len(query.options):
        raise ValueError(
            f"query {query.query_id}: {len(sample.scores)} scores of {len(query.options)} options"
        )
    if not 0.0 <= sample.confidence <= 1.0:
        raise ValueError(f"query {query.query_id}: confidence {sample.confidence}")
