"""All measures of a set of samples by name, over families and over right and wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from eval.metrics.calibration import brier
from eval.metrics.intervals import Estimate, Quantity, cluster_interval
from eval.metrics.localization import (
    THRESHOLDS,
    corpus_iou,
    covers_event,
    event_shown,
    found_iou,
    judged,
    recall_at_one,
)
from eval.metrics.scored import (
    CLIPS_AT,
    PASSAGES_AT,
    Measure,
    Scored,
    correct,
    parse_failure,
    unscored_reason,
)


def _clip_found(scored: Scored) -> float | None:
    return None if scored.clip_found is None else float(scored.clip_found)


def _passage_found(scored: Scored) -> float | None:
    return None if scored.passage_found is None else float(scored.passage_found)


MEASURES: Mapping[str, Measure] = {
    "accuracy": correct,
    f"clip success@{CLIPS_AT}": _clip_found,
    f"passage success@{PASSAGES_AT}": _passage_found,
    **{f"R@1 IoU>={threshold}": recall_at_one(threshold) for threshold in THRESHOLDS},
    "mIoU": found_iou,
    "event coverage>=0.8": covers_event,
    **{f"corpus R@1 IoU>={threshold}": recall_at_one(threshold, corpus_iou) for threshold in THRESHOLDS},
    "corpus mIoU": corpus_iou,
    "understanding, judged": judged,
    "understanding, event shown": event_shown,
    "Brier score": brier,
    "parse failures": parse_failure,
}

CASES: Mapping[str, Callable[[Scored], bool]] = {
    "all": lambda scored: True,  # noqa: ARG005 (one shape for the three)
    "right": lambda scored: scored.sample.correct,
    "wrong": lambda scored: not scored.sample.correct and not unscored_reason(scored),
}
"""The three groups of the paper's figures 3 to 5: all queries, answered right, answered wrong."""


def estimate(measure: Measure, samples: Iterable[Scored], quantity: Quantity = "share") -> Estimate | None:
    """The mean of a measure where it applies; None where it applies nowhere."""
    values, clusters = [], []
    for scored in samples:
        value = measure(scored)
        if value is not None:
            values.append(value)
            clusters.append(scored.query.cluster)
    return cluster_interval(values, clusters, quantity)


def measure_slices(measure: Measure, samples: Sequence[Scored]) -> dict[str, Estimate | None]:
    """A measure overall, by family, and over right and wrong answers."""
    slices = {"overall": estimate(measure, samples)}
    for family in sorted({each.query.family for each in samples}):
        slices[family] = estimate(measure, [each for each in samples if each.query.family == family])
    for name in ("right", "wrong"):
        slices[name] = estimate(measure, [each for each in samples if CASES[name](each)])
    return slices
