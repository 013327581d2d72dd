"""Coverage: how much of the gold event is inside the window found in the gold clip.

|window and event| / |event|, in [0, 1]. Unlike IoU it does not punish a window
for being longer than the event, so it says whether the event can be seen at
all; a whole clip covers everything, so it is read beside the window's length.
The share with at least 0.8 is reported. A query without a window counts 0 in a
run that localizes.
"""

from __future__ import annotations

from eval.metrics.scored import Scored

ENOUGH = 0.8


def covered(window: tuple[float, float], event: tuple[float, float]) -> float:
    """Share of `event` inside `window`. Raises `ValueError` for an empty event."""
    if not event[1] > event[0]:
        raise ValueError(f"no interval: [{event[0]}, {event[1]})")
    return max(0.0, min(window[1], event[1]) - max(window[0], event[0])) / (event[1] - event[0])


def covers_event(scored: Scored) -> float | None:
    """1 where at least `ENOUGH` of the gold event is covered, a hair of rounding forgiven."""
    if not scored.localizes or not scored.query.has_window:
        return None
    window = scored.sample.gold_window_found
    return 0.0 if window is None else float(covered(window, scored.query.window) >= ENOUGH - 1e-9)
