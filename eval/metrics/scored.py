"""A sample beside its query and what the retrieval measures said of it: what every other measure reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Query, Sample


@dataclass(frozen=True, slots=True)
class Scored:
    """A sample beside its query, with what was derived from the two."""

    query: Query
    sample: Sample
    clip_found: bool | None
    """The gold clip is among the first retrieved; None where it is unknown, or the run retrieves no clips."""
    passage_found: bool | None
    """The gold passage is; None for one hop, and where the run retrieves no passages."""
    localizes: bool
    """The run finds windows in gold clips, so that a sample without one has missed it."""
    ranks_windows: bool
    """The run gives windows to the clips it retrieves."""


Measure = Callable[[Scored], float | None]
"""A measure of one sample; None where it does not apply, and then it counts nowhere."""


def sample_field(scored: Scored, name: str, default: Any = None) -> Any:
    """A field of the sample's evidence; `default` where it is missing."""
    return scored.sample.evidence.get(name, default)


def flag(name: str) -> Measure:
    """1 or 0 by a field of the evidence; None where the field is missing or None."""

    def measure(scored: Scored) -> float | None:
        value = sample_field(scored, name)
        return None if value is None else float(bool(value))

    return measure


def number(name: str) -> Measure:
    """A field of the evidence as a number; None where the field is missing or None."""

    def measure(scored: Scored) -> float | None:
        value = sample_field(scored, name)
        return None if value is None else float(value)

    return measure


def restricted(measure: Measure, applies: Callable[[Scored], bool]) -> Measure:
    """The measure of the samples for which `applies` holds; None for the others."""
    return lambda scored: measure(scored) if applies(scored) else None


def tokens(scored: Scored) -> float:
    """All tokens of the query."""
    return float(sum(scored.sample.tokens.values()))


def score_samples(
    pairs: Sequence[tuple[Query, Sample]],
    clip_success: Mapping[str, float],
    passage_success: Mapping[str, float],
) -> list[Scored]:
    """`pairs`: all samples of one run. The success measures by query id, of `eval.metrics.success`."""
    clips = any(sample.clips for _, sample in pairs)
    passages = any(sample.passages for _, sample in pairs)
    localizes = any(sample.gold_window_found is not None for _, sample in pairs)
    ranks = any(sample.windows for _, sample in pairs)
    return [
        Scored(
            query,
            sample,
            clip_success[query.query_id] >= 1 if clips and query.video else None,
            passage_success[query.query_id] >= 1 if passages and query.passage is not None else None,
            localizes,
            ranks,
        )
        for query, sample in pairs
    ]
