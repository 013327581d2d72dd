"""The IoU that a window of fixed length could have reached at best.

A window of length w, placed as well as possible on an event of length d, has
an IoU of min(w, d) / max(w, d): 5 s on an event of 2.5 s reach 0.5, and no
method lifts R@1 at IoU 0.7 there. The oracle of w seconds is what a figure of
mIoU or R@1 with that window is to be read against. It follows from the
definition of IoU, and holds while the clip is at least as long as the window.
"""

from __future__ import annotations

from eval.metrics.scored import Scored

ORACLE_SECONDS = 5.0
"""The paper's window (4.1)."""


def best_iou(event: tuple[float, float], length: float) -> float:
    """The highest IoU of `event` with any window of `length` seconds."""
    duration = event[1] - event[0]
    if not (duration > 0 and length > 0):
        raise ValueError(f"event of {duration} s, window of {length} s")
    return min(duration, length) / max(duration, length)


def oracle_iou(scored: Scored) -> float | None:
    """Of a 5-second window: it depends on the query alone."""
    if not scored.query.has_window:
        return None
    return best_iou(scored.query.window, ORACLE_SECONDS)


def own_ceiling(scored: Scored) -> float | None:
    """Of a window as long as the one found; for lengths chosen by query too."""
    if not scored.localizes or not scored.query.has_window:
        return None
    window = scored.sample.gold_window_found
    return 0.0 if window is None else best_iou(scored.query.window, window[1] - window[0])
