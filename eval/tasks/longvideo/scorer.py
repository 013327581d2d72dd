"""The chosen letter against the gold one, and whether the deciding moment was shown or read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Output, Query, Score

SLACK = 1e-6
"""Seconds by which a frame may precede the gold window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongVideoScore(Score):
    """The verdict, and whether the deciding moment was among what was shown."""

    gold_shown: bool
    """A frame of the gold window was among those that the answer was given from."""
    gold_read: bool
    """Words of the gold window were."""


@dataclass(frozen=True)
class LongVideoScorer:
    """Exact match of letters; needs no judge."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON, for the identity of a run."""
        return {"scorer": "exact"}

    def score(self, query: Query, output: Output) -> Score:
        """Compare one output with the gold letter and window."""
        correct = output.choice is not None and output.choice == query.answer
        words: Sequence[tuple[float, float]] | None = output.evidence.get("words")
        if words is None:
            return Score(correct)
        start, end = query.window
        times = output.frames_read.get(query.video, ())
        return LongVideoScore(
            correct=correct,
            gold_shown=any(start - SLACK <= time < end for time in times),
            gold_read=any(first < end and last > start for first, last in words),
        )
