"""Late interaction: several texts and the frames of several clips, each text where it fits a clip best.

A clip vector is the mean of its frames, in which an event of two seconds has no weight, and two clips of one
place are nearly the same. So each text is compared with all frames, and a clip counts with its best short
stretch for each of them: the sum of maxima of Khattab and Zaharia (ColBERT, SIGIR 2020), with texts for the
tokens of the query and stretches of frames for those of the document.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from localization.windows import FLAT

FRAMES = 4
"""Neighbouring frames of a stretch: 2 s at 2 a second."""


def late_interaction(
    clips: Iterable[tuple[str, NDArray[np.float32]]], texts: NDArray[np.float32]
) -> dict[str, float]:
    """Score each clip by id: the sum over texts of the best mean of `FRAMES` neighbouring frames.

    `clips`: id and unit rows, float32 (n, d), n at least 1, of the frames in the order of time, or of the
    sound; of fewer than `FRAMES` rows the mean of all counts. One that has both counts with the better, as in
    search. `texts`: unit rows, float32 (t, d). The similarities to a text are standard scores over the frames
    of all clips, so that texts count alike. To 6 decimals.
    """
    wanted = np.ascontiguousarray(texts.T)
    # A matrix of all frames would be a second copy of them.
    keys, products = [], []
    for key, rows in clips:
        keys.append(key)
        products.append(rows @ wanted)
    if not products:
        return {}
    ends = np.cumsum([len(rows) for rows in products])
    similarity = np.concatenate(products).astype(np.float64).round(6)
    similarity -= similarity.mean(axis=0)
    similarity /= np.maximum(similarity.std(axis=0), FLAT)
    scores: dict[str, float] = {}
    for key, own in zip(keys, np.split(similarity, ends[:-1]), strict=True):
        score = round(float(best_stretch(own).sum()), 6)
        scores[key] = max(score, scores.get(key, score))
    return scores


def best_stretch(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64 (t,): of each column of `values`, float64 (n, t), n at least 1, the best mean of `FRAMES`
    neighbouring rows; of fewer rows the mean of all."""
    width = min(FRAMES, len(values))
    sums = np.cumsum(np.concatenate([np.zeros((1, values.shape[1])), values]), axis=0)
    return np.asarray(((sums[width:] - sums[:-width]) / width).max(axis=0), np.float64)
