"""How often a video shows an event: the stretches of its frames that stand out about alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LEAST_SHARE = 0.6
"""Of the greatest score, that a frame must reach to show the same event."""
SAME_SECONDS = 10.0
"""Between two frames that show one occurrence, at most."""
LEAST_SECONDS = 1.0
"""From the first to the last frame of an occurrence."""


def occurrences(times: ArrayLike, scores: ArrayLike, least: float) -> list[tuple[float, float]]:
    """Times of the first and the last frame of each occurrence, in seconds, rising.

    `times`: float (n,) seconds, rising; `scores`: float (n,), how well each frame shows the event. A frame
    shows it from the greater of `least` and 0.6 of the greatest score on: how high scores are where an
    event is seen differs from event to event.
    """
    at, values = np.asarray(times, np.float64), np.asarray(scores, np.float64)
    if not len(at):
        return []
    seen = at[values >= max(least, LEAST_SHARE * float(values.max()))]
    stretches = np.split(seen, np.flatnonzero(np.diff(seen) > SAME_SECONDS) + 1)
    ends = [(float(one[0]), float(one[-1])) for one in stretches if len(one)]
    return [(start, end) for start, end in ends if end - start >= LEAST_SECONDS]
