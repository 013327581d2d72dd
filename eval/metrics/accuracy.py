"""Accuracy: the share of queries whose right option was chosen (EgoFact, 4.1). No answer is a wrong one.

What could not be judged is neither: `unjudged` in the evidence of such a sample says why.
"""

from __future__ import annotations

from eval.metrics.scored import Scored


def correct(scored: Scored) -> float | None:
    """None for a sample that could not be judged."""
    return None if unjudged(scored) else float(scored.sample.correct)


def unjudged(scored: Scored) -> str:
    """Why the sample could not be judged; empty where it was judged."""
    return str(scored.sample.evidence.get("unjudged", ""))


def parse_failure(scored: Scored) -> float:
    """1 where a reply could not be read: a score that parsing alone lowers must show it."""
    return float(scored.sample.parse_failure)
