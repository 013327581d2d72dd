"""Localization by text: spans of text evidence with a relevance each.

A library may have no image encoder, and subtitles may say what a clip does not show. Spans and windows are
half-open [start, end) in seconds. Nothing here is from a paper: EgoFact localizes by images alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localization.windows import TIME_STEP, standardised

LEAST_DEVIATION = 0.02
"""A standard deviation below this means that image similarity does not separate the frames."""

CERTAIN = 1 - 1e-6
"""Relevance of finite odds."""

TEXT_WEIGHT = 5.0
"""Standard deviations of image similarity for each unit of -ln(1 - relevance) of a text; chosen on real
footage, without the video that is asked about (docs/design/localization.md)."""


def covering_window(
    spans: ArrayLike, relevance: ArrayLike, *, start: float, end: float, length: float
) -> tuple[float, float, float]:
    """The window of `length` seconds in [start, end) that covers the relevant spans best.

    `spans`: float64 (m, 2) seconds; parts outside the clip do not count. `relevance`: float64 (m,) in [0, 1].
    Returns (start, end, score) with score = o / (1 + o) in [0, 1) of the odds covered,

        o(s) = sum of r_i / (1 - r_i) * |[s, s + w) and span_i| / min(w, |span_i|)

    each span counting fully when as much of it is inside as possible: the score of one span is its relevance.
    As odds, because two somewhat relevant spans do not outweigh one that is near to certain. The odds are
    piecewise linear in s, so their maximum is at a breakpoint, and all breakpoints are tried. Of equal ones
    (to 1e-6) the window whose middle is nearest to the middle of the covered odds wins, then the
    earliest. Spans with no time inside the clip, or none at all: the clip's first window, score 0.
    """
    clipped = np.clip(np.asarray(spans, np.float64).reshape(-1, 2), start, end)
    keep = clipped[:, 1] - clipped[:, 0] > TIME_STEP
    inside, weights = clipped[keep], np.asarray(relevance, np.float64).reshape(-1)[keep]
    weights = weights / (1 - np.minimum(weights, CERTAIN))
    width = min(length, end - start)
    if len(inside) == 0:
        return start, start + width, 0.0
    begins, ends = inside[:, 0], inside[:, 1]
    middle = (begins + ends) / 2
    weighted = float((weights * middle).sum() / weights.sum()) if weights.sum() > 0 else float(middle[0])
    breaks = np.concatenate(
        [begins, ends, begins - width, ends - width, middle - width / 2, [weighted - width / 2]]
    )
    starts = np.unique(np.round(np.clip(breaks, start, end - width), 9))
    overlap = np.minimum(starts[:, None] + width, ends) - np.maximum(starts[:, None], begins)
    share = np.maximum(overlap, 0.0) / np.minimum(width, ends - begins)
    covered = share * weights
    odds = np.round(covered.sum(axis=1), 6)
    best = np.flatnonzero(odds == odds.max())
    heart = (covered[best] * middle).sum(axis=1) / np.maximum(covered[best].sum(axis=1), TIME_STEP)
    off = np.round(np.abs(starts[best] + width / 2 - heart), 6)
    chosen = best[int(np.argmin(off))]
    at, most = float(starts[chosen]), float(odds[chosen])
    return at, min(at + width, end), round(most / (1 + most), 6)


def rasterised(spans: ArrayLike, relevance: ArrayLike, times: ArrayLike) -> NDArray[np.float64]:
    """float64 (n,): for each time the greatest relevance of the spans that contain it, else 0.

    `spans`: float64 (m, 2) seconds, `relevance`: float64 (m,), `times`: float64 (n,) seconds.
    """
    bounds = np.asarray(spans, np.float64).reshape(-1, 2)
    weights = np.asarray(relevance, np.float64)
    at = np.asarray(times, np.float64)
    if len(bounds) == 0:
        return np.zeros(len(at))
    held = (at[:, None] >= bounds[:, 0] - TIME_STEP / 2) & (at[:, None] < bounds[:, 1] - TIME_STEP / 2)
    return np.asarray(np.where(held, weights, 0.0).max(axis=1), np.float64)


def fused_similarity(
    similarity: ArrayLike, times: ArrayLike, spans: ArrayLike, relevance: ArrayLike
) -> NDArray[np.float64]:
    """Images and text on one grid, float64 (n,): z(similarity) - 5 ln(1 - rasterised relevance).

    z subtracts the clip's mean and divides by its standard deviation, but by no less than 0.02, so that
    noise between similar frames does not outweigh the text. The order is that of a noisy-or,
    1 - (1 - a)(1 - r), in which the relevance r of a text counts with its whole certainty: a line of 0.99 is
    worth 23 standard deviations, one of 0.5 is worth 3.5, and an irrelevant one nothing. Without text the
    order is that of the similarity. `similarity`, `times`: float64 (n,); `spans`: float64 (m, 2) seconds;
    `relevance`: float64 (m,) in [0, 1].
    """
    values = np.asarray(similarity, np.float64)
    if len(values) == 0:
        return values
    said = np.minimum(rasterised(spans, relevance, times), CERTAIN)
    return standardised(values, LEAST_DEVIATION) - TEXT_WEIGHT * np.log1p(-said)
