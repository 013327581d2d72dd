"""Temporal intersection over union, R@1 at IoU thresholds, and its mean.

IoU of [a, b) and [c, d) is the length of what they share over the length of
what they span together. R@1, IoU >= m is the share of queries whose first window
reaches m; mIoU is the mean. Within the gold clip, the window found in it
counts whether or not the clip was retrieved; over the corpus, the window of the
first clip counts, and is 0 where that is another clip. A query without a window
counts 0 in a run that has windows.

Gao et al., TALL, ICCV 2017 (R@n, IoU=m); over a corpus: Escorcia et al.,
arXiv:1907.12763.
"""

from __future__ import annotations

from collections.abc import Callable

from eval.metrics.scored import Measure, Scored

THRESHOLDS = (0.3, 0.5, 0.7)
_HAIR = 1e-9


def temporal_iou(first: tuple[float, float], second: tuple[float, float]) -> float:
    """0.0 where they do not meet. Raises `ValueError` for an empty or reversed interval."""
    for start, end in (first, second):
        if not end > start:
            raise ValueError(f"no interval: [{start}, {end})")
    shared = min(first[1], second[1]) - max(first[0], second[0])
    if shared <= 0:
        return 0.0
    return shared / (max(first[1], second[1]) - min(first[0], second[0]))


def found_iou(scored: Scored) -> float | None:
    """Within the gold clip."""
    if not scored.localizes or not scored.query.has_window:
        return None
    window = scored.sample.gold_window_found
    return 0.0 if window is None else temporal_iou(window, scored.query.window)


def corpus_iou(scored: Scored) -> float | None:
    """Of the window of the first clip retrieved."""
    if not scored.ranks_windows or not scored.query.has_window:
        return None
    sample = scored.sample
    if not sample.clips or sample.clips[0].clip_id != scored.query.video:
        return 0.0
    for window in sample.windows:
        if window.clip_id == scored.query.video:
            return temporal_iou((window.start, window.end), scored.query.window)
    return 0.0


def recall_at_one(threshold: float, iou: Callable[[Scored], float | None] = found_iou) -> Measure:
    """The measure R@1, IoU >= `threshold`; a hair of rounding is forgiven."""

    def reaches(scored: Scored) -> float | None:
        value = iou(scored)
        return None if value is None else float(value >= threshold - _HAIR)

    return reaches
