"""Score of one sentence: every measure of its benchmark, and the file that QVHighlights' server takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from eval.metrics import moments
from eval.metrics.scored import Measure, Scored
from eval.runs.records import NO_GOLD, Output, Query, Score
from eval.task import ExactScorer
from eval.tasks.moments.dataset import FORMATS, Format, Moment

RIGHT_IOU = 0.5
"""IoU at which the first window is right, in the summary of a run."""
SALIENCY_LEVELS = {"Fair": 2, "Good": 3, "Very Good": 4}
"""Saliency from which on a clip is right."""
PRECISIONS = (0.5, 0.75)


def recall_name(first: int, threshold: float) -> str:
    """`R@1 IoU>=0.5`."""
    return f"R@{first} IoU>={threshold}"


RECALLS = tuple(
    recall_name(*each) for each in sorted({each for one in FORMATS.values() for each in one.recalls})
)
PRECISION = (
    "mAP",
    *(f"mAP@{threshold}" for threshold in PRECISIONS),
    *(f"mAP {name}" for name in moments.RANGES),
)
SALIENCY = tuple(f"{what} {name}" for name in SALIENCY_LEVELS for what in ("HL mAP", "HIT@1"))
MIOU = "mIoU"
NAMES = (*RECALLS, MIOU, *PRECISION, *SALIENCY)
"""The names of all measures; a benchmark has some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentScore(Score):
    """Right: the first window reaches IoU 0.5."""

    measures: Mapping[str, float] = field(default_factory=dict)
    """By name, of `NAMES`."""


@dataclass(frozen=True)
class MomentScorer(ExactScorer):
    """Exact; needs no judge."""

    gold: Mapping[str, Moment]
    format: Format

    def score(self, query: Query, output: Output) -> Score:
        """Compare the windows of one output with the gold windows."""
        moment = self.gold[query.query_id]
        if not moment.windows:
            return MomentScore(False, f"{NO_GOLD}: the benchmark's server has it")
        measures = dict(self._measures(moment, output))
        return MomentScore(correct=bool(measures[recall_name(1, RIGHT_IOU)]), measures=measures)

    def _measures(self, moment: Moment, output: Output) -> Iterator[tuple[str, float]]:
        found = [(window.start, window.end) for window in output.windows]
        for first, threshold in self.format.recalls:
            yield recall_name(first, threshold), moments.recall(found, moment.windows, first, threshold)
        yield MIOU, moments.top_iou(found, moment.windows)
        yield PRECISION[0], moments.mean_average_precision(found, moment.windows)
        for threshold in PRECISIONS:
            yield f"mAP@{threshold}", moments.average_precision(found, moment.windows, threshold)
        if self.format.highlights:
            for name in moments.RANGES:
                if kept := moments.inside_range(moment.windows, name):
                    yield f"mAP {name}", moments.mean_average_precision(found, kept)
            yield from _saliency(moment, output.evidence.get("saliency", ()))


def _saliency(moment: Moment, scores: Sequence[float]) -> Iterator[tuple[str, float]]:
    """None where the solver gives the clips no saliency, or the split has none."""
    if not len(scores) or not (levels := moment.levels):
        return
    for name, least in SALIENCY_LEVELS.items():
        yield f"HL mAP {name}", moments.saliency_ap(scores, levels, least)
        yield f"HIT@1 {name}", moments.saliency_hit(scores, levels, least)


def _measure(scored: Scored, name: str) -> float | None:
    value: float | None = scored.sample.evidence.get("measures", {}).get(name)
    return value


MEASURES: Mapping[str, Measure] = {name: partial(_measure, name=name) for name in NAMES}


def submission_lines(samples: Sequence[Scored]) -> str:
    """JSON lines as QVHighlights' evaluation takes them, one for each sample that has a window.

    `{"qid", "query", "vid", "pred_relevant_windows": [[start, end, score], ...], "pred_saliency_scores"}`;
    the last is left out where the solver gives none.
    """
    lines = []
    for scored in samples:
        query, sample = scored.query, scored.sample
        if not sample.windows:
            continue
        row = {
            "qid": int(query.query_id) if query.query_id.isdecimal() else query.query_id,
            "query": query.text,
            "vid": query.video,
            "pred_relevant_windows": [[each.start, each.end, each.score] for each in sample.windows],
        }
        if saliency := sample.evidence.get("saliency"):
            row["pred_saliency_scores"] = saliency
        lines.append(json.dumps(row) + "\n")
    return "".join(lines)
