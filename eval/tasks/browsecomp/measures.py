"""Measures of a browsing run beside accuracy, each of one sample: read from its evidence and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eval.metrics.estimate import Estimate
from eval.metrics.intervals import Quantity, cluster_interval
from eval.metrics.scored import Scored

BINS = 5
"""Of the calibration error (equation 5)."""


def told(scored: Scored, name: str, default: Any = None) -> Any:
    """A field of the sample's evidence."""
    return scored.sample.evidence.get(name, default)


def tokens(scored: Scored) -> float:
    """All tokens of the question: scanning, filtering and reasoning (table 2)."""
    return float(sum(scored.sample.tokens.values()))


def context(scored: Scored) -> float:
    """Tokens of the final prompt (table 2)."""
    return float(told(scored, "context", 0))


def searches(scored: Scored) -> float:
    return float(told(scored, "searches", 0))


def evidence_recall(scored: Scored) -> float | None:
    """Share of the videos of the evidence chain that were watched; None where the chain is not known."""
    value = told(scored, "evidence_recall")
    return None if value is None else float(value)


def by_match(scored: Scored) -> float:
    """Right by exact or normalized match alone, without a judge."""
    return float(bool(told(scored, "judge", {}).get("by_match")))


def failed(scored: Scored) -> float:
    """1 where the run ended with the name of an error in place of an answer."""
    return float(bool(told(scored, "failure", "")))


def mean_of(
    measure: Callable[[Scored], float | None], samples: Sequence[Scored], quantity: Quantity = "share"
) -> Estimate | None:
    """The mean where the measure applies, its interval by video."""
    pairs = [(value, scored.query.cluster) for scored in samples if (value := measure(scored)) is not None]
    return cluster_interval([value for value, _ in pairs], [cluster for _, cluster in pairs], quantity)
