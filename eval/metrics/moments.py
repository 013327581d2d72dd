"""Moment retrieval and highlight detection of one query, as the field's evaluation code computes them.

An interval is [start, end) in seconds. Windows that were found come best first. The mean of each value over
queries is the figure: R@k, IoU >= m of `recall`; mAP of `average_precision`; mIoU of `top_iou`.

Gao et al., TALL, ICCV 2017 (R@n, IoU = m); Lei et al., QVHighlights, arXiv:2107.09609, and its
`standalone_eval/eval.py` (mAP, saliency).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.metrics.localization import temporal_iou

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Interval = tuple[float, float]
AP_THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
"""0.5, 0.55, ... 0.95: of the average mAP."""
MAX_WINDOWS = 10
"""Windows of a query that count for mAP (QVHighlights)."""
RANGES = {"short": (0.0, 10.0), "middle": (10.0, 30.0), "long": (30.0, 150.0)}
"""Seconds (least, most] of the gold windows that a range of QVHighlights keeps."""


def top_iou(found: Sequence[Interval], gold: Sequence[Interval], first: int = 1) -> float:
    """The highest IoU of the `first` windows found with any gold window; 0.0 where nothing was found."""
    return max((temporal_iou(window, one) for window in found[:first] for one in gold), default=0.0)


def recall(found: Sequence[Interval], gold: Sequence[Interval], first: int, threshold: float) -> float:
    """1.0 where one of the `first` windows reaches IoU >= `threshold` with a gold window, else 0.0."""
    return float(top_iou(found, gold, first) >= threshold)


def average_precision(found: Sequence[Interval], gold: Sequence[Interval], threshold: float) -> float:
    """Average precision over the first `MAX_WINDOWS` windows, interpolated at all points (Pascal VOC 2011).

    A window is right where its IoU with a gold window that no earlier one has taken is at least `threshold`;
    the gold window of the highest IoU is taken.
    """
    free, precision = list(gold), list[float]()
    for rank, window in enumerate(found[:MAX_WINDOWS], start=1):
        best = max(free, key=lambda one: temporal_iou(window, one), default=None)
        if best is not None and temporal_iou(window, best) >= threshold:
            free.remove(best)
            precision.append((len(precision) + 1) / rank)
    return sum(max(precision[at:]) for at in range(len(precision))) / len(gold)


def mean_average_precision(found: Sequence[Interval], gold: Sequence[Interval]) -> float:
    """Average precision, averaged over `AP_THRESHOLDS`."""
    return sum(average_precision(found, gold, each) for each in AP_THRESHOLDS) / len(AP_THRESHOLDS)


def inside_range(gold: Sequence[Interval], name: str) -> list[Interval]:
    """The gold windows of a range of `RANGES`; of a query without one the range has no figure."""
    least, most = RANGES[name]
    return [(start, end) for start, end in gold if least < end - start <= most]


def saliency_hit(scores: ArrayLike, gold: ArrayLike, least: int) -> float:
    """HIT@1: 1.0 where an annotator gave the clip with the highest score at least `least`.

    `scores`: float64 (n,) of the video's clips in time order; `gold`: int64 (m, annotators), 0 to 4.
    """
    import numpy as np

    given, first = np.asarray(gold), int(np.argmax(scores))
    return float(first < len(given) and bool((given[first] >= least).any()))


def saliency_ap(scores: ArrayLike, gold: ArrayLike, least: int) -> float:
    """Average precision of the clips by score, mean over annotators; a clip of at least `least` is right.

    `scores`: float64 (n,); `gold`: int64 (m, annotators), 0 to 4. Scores beyond m clips are left out, missing
    ones are 0. Precision is interpolated, and its mean is over the distinct scores of right clips; 0.0 for an
    annotator who gave no clip that much.
    """
    import numpy as np

    given = np.asarray(gold) >= least
    padded = np.zeros(len(given))
    held = np.asarray(scores, np.float64)[: len(given)]
    padded[: len(held)] = held
    order = np.argsort(-padded, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(padded[order])), len(order) - 1)
    values = [_interpolated(right[order], ends) for right in given.T]
    return float(np.mean(values))


def _interpolated(right: ArrayLike, ends: ArrayLike) -> float:
    """`right`: bool (n,), best first; `ends`: int64 (k,), the last clip of each distinct score."""
    import numpy as np

    if np.all(right):
        return 1.0
    at = np.asarray(ends)
    found = np.cumsum(right)[at]
    precision = found / (at + 1)
    interpolated = np.maximum.accumulate(precision[::-1])[::-1]
    rises = np.diff(found, prepend=0) > 0
    return float(interpolated[rises].mean()) if rises.any() else 0.0
