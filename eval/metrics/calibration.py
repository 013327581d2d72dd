"""Calibration: does an answer given with confidence 0.7 come out right seven times in ten?

Expected calibration error: confidences are sorted into 10 bins of equal width (as many as asked for),
[0, 0.1), ..., [0.9, 1]; ECE = sum over bins of n_b / n * |accuracy_b - mean confidence_b|.
It is biased upwards for few samples, the more the more bins. The interval resamples
videos as every other here. The Brier score beside it, the mean of
(confidence - correct)^2, needs no bins.

Naeini et al., AAAI 2015; Guo et al., ICML 2017 (with 15 bins); Brier, Mon. Wea.
Rev. 78, 1950.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.metrics.intervals import Estimate, cluster_interval, cluster_places, percentiles, resampled_totals
from eval.metrics.scored import Scored

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Samples with a confidence in [low, high); the last bin holds 1.0 too."""

    low: float
    high: float
    confidence: float
    """Mean of its samples."""
    accuracy: Estimate


def brier(scored: Scored) -> float:
    """Squared difference of confidence and correctness (Brier 1950)."""
    return (scored.sample.confidence - float(scored.sample.correct)) ** 2


def reliability(samples: Sequence[Scored]) -> list[Bin]:
    """The bins that hold samples, lowest first."""
    filled: list[Bin] = []
    for index in range(BINS):
        inside = [scored for scored in samples if _bin(scored.sample.confidence) == index]
        accuracy = cluster_interval(
            [float(scored.sample.correct) for scored in inside], [scored.query.cluster for scored in inside]
        )
        if accuracy is not None:
            mean = sum(scored.sample.confidence for scored in inside) / len(inside)
            filled.append(Bin(index / BINS, (index + 1) / BINS, mean, accuracy))
    return filled


def expected_calibration_error(samples: Sequence[Scored], bins: int = BINS) -> Estimate | None:
    """Compute the ECE; None without samples. With 5 bins it is equation 5 of Video-Browser."""
    import numpy as np

    if not samples:
        return None
    places, count = cluster_places([scored.query.cluster for scored in samples])
    places_in = np.array([_bin(scored.sample.confidence, bins) for scored in samples])
    gaps = np.array([float(scored.sample.correct) - scored.sample.confidence for scored in samples])
    # gap[c, b]: summed accuracy less confidence of cluster c in bin b; ECE = sum_b |sum_c gap| / n.
    gap = np.zeros((count, bins))
    np.add.at(gap, (places, places_in), gaps)
    sizes = np.bincount(places, minlength=count).astype(np.float64)
    value = float(np.abs(gap.sum(axis=0)).sum() / sizes.sum())
    if count == 1:
        return Estimate(value, len(samples), 1, None, None)
    totals = resampled_totals(np.vstack([gap.T, sizes]))
    low, high = percentiles(np.abs(totals[:, :-1]).sum(axis=1) / totals[:, -1])
    return Estimate(value, len(samples), count, low, high)


def _bin(confidence: float, bins: int = BINS) -> int:
    # Written confidences have 6 decimals: 0.3 belongs to its own bin although 0.3 * 10 is a hair below 3.
    return min(bins - 1, int(confidence * bins + 1e-9))
