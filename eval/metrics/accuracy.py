"""Accuracy: the share of queries whose right option was chosen (EgoFact, 4.1). No answer is a wrong one."""

from __future__ import annotations

from eval.metrics.scored import Scored

__all__ = ["correct", "parse_failure"]


def correct(scored: Scored) -> float:
    return float(scored.sample.correct)


def parse_failure(scored: Scored) -> float:
    """1 where a reply could not be read: a score that parsing alone lowers must show it."""
    return float(scored.sample.parse_failure)
