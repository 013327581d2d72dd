"""Temporal localization in the gold clip and over the corpus, and what the frames read there show.

IoU of [a, b) and [c, d) is the length of what they share over the length of what they span together.
R@1, IoU >= m is the share of queries whose first window reaches m; mIoU is the mean. Within the gold
clip, the window found in it counts whether or not the clip was retrieved; over the corpus, the window of
the first clip counts, and is 0 where that is another clip. A query without a window counts 0 in a run
that has windows.

Gao et al., TALL, ICCV 2017 (R@n, IoU=m); over a corpus: Escorcia et al., arXiv:1907.12763."""

from __future__ import annotations

from collections.abc import Callable

from eval.metrics.scored import Measure, Scored

THRESHOLDS = (0.3, 0.5, 0.7)
Span = tuple[float, float]
_HAIR = 1e-9


def temporal_iou(first: Span, second: Span) -> float:
    """0.0 where they do not meet, as an empty interval meets none."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    if shared <= 0:
        return 0.0
    return shared / (max(first[1], second[1]) - min(first[0], second[0]))


def _of_found(scored: Scored, value: Callable[[Span, Span], float]) -> float | None:
    """`value` of the window found in the gold clip and the gold event; 0 where none was found."""
    if not scored.localizes or not scored.query.has_window:
        return None
    window = scored.sample.gold_window_found
    return 0.0 if window is None else value(window, scored.query.window)


def found_iou(scored: Scored) -> float | None:
    """Within the gold clip."""
    return _of_found(scored, temporal_iou)


def corpus_iou(scored: Scored) -> float | None:
    """Compute the IoU of the first retrieved clip's window with the gold one."""
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


ENOUGH = 0.8


def covered(window: Span, event: Span) -> float:
    """Share of `event`, which is not empty, inside `window`, in [0, 1].

    Unlike IoU it does not punish a window for being longer than the event, so it says whether the event can
    be seen at all; it is read beside the window's length.
    """
    return max(0.0, min(window[1], event[1]) - max(window[0], event[0])) / (event[1] - event[0])


def covers_event(scored: Scored) -> float | None:
    """1 where at least `ENOUGH` of the gold event is covered, a hair of rounding forgiven."""
    return _of_found(scored, lambda window, event: float(covered(window, event) >= ENOUGH - _HAIR))


def judged(scored: Scored) -> float | None:
    """Video understanding, where the gold clip was retrieved: 1 where it was judged right, else 0.

    Given the question and what was read of the gold clip, a judge says whether that is enough to answer
    (EgoFact, 3.3 and D.1).
    """
    if not scored.clip_found or scored.sample.understood is None:
        return None
    return float(scored.sample.understood)


def event_shown(scored: Scored) -> float | None:
    """Understanding without a judge, where the gold clip was retrieved and a frame of it was read.

    1 where such a frame is within the time in which the deciding object shows in use (`seen`; the whole
    event where that is not known).
    """
    if not scored.clip_found or not scored.sample.gold_frames:
        return None
    start, end = scored.query.seen or scored.query.window
    return float(any(start <= time < end for time in scored.sample.gold_frames))
