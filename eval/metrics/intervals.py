"""Intervals clustered by video: the percentile bootstrap over whole videos.

Questions on one video depend on each other, so videos are resampled, with all
their questions, and the mean is computed again: 5,000 times, with one seed. Nothing
is assumed about the distribution, the interval stays inside the range of the
values, and the same values give the same interval. With fewer than about 20
videos it is somewhat too narrow, as every such interval.

Where there is one video, or all videos have the same mean, no draw differs from
another. There the exact binomial interval for as many trials as there are videos
is taken (for a mean that no whole number of them has, by the same formula; Korn and
Graubard, 1998), which is wider than it need be, and says what no failure in 30 videos
is worth. As wide as without a failure it is on both sides of a difference. Of an
amount, which has no least and no greatest value, nothing is.

Davison and Hinkley, Bootstrap Methods and their Application, 1997, 3.8 (resampling of
groups); Clopper and Pearson, Biometrika 26, 1934. Cluster-robust standard errors, which
other harnesses report, agree in large samples; a test compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval and n."""

    value: float
    n: int
    """Values that it is the mean of, or was computed from."""
    clusters: int
    """Videos that they come from."""
    low: float | None
    """95 % interval; None for an amount of one video."""
    high: float | None


LEVEL = 0.95
RESAMPLES = 5000
SEED = 20_250_926

Quantity = Literal["share", "difference", "amount"]
"""What the values are: in [0, 1], in [-1, 1], or anything else, such as a count."""


def cluster_interval(
    values: Sequence[float], clusters: Sequence[str], quantity: Quantity = "share"
) -> Estimate | None:
    """The mean of `values` with its interval; None where there are no values.

    `values`: (n,) floats. `clusters`: (n,) ids of the video of each. The
    order of the values does not matter.
    """
    import numpy as np

    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values of {len(clusters)} clusters")
    if not values:
        return None
    places, count = cluster_places(clusters)
    data = np.asarray(values, np.float64)
    mean = float(data.mean())
    if np.all(data == data[0]):
        return Estimate(mean, len(values), count, *_without_spread(float(data[0]), count, quantity))
    sums = np.bincount(places, data, minlength=count)
    sizes = np.bincount(places, minlength=count).astype(np.float64)
    if count == 1 and quantity == "amount":
        return Estimate(mean, len(values), 1, None, None)
    if np.allclose(sums / sizes, mean, rtol=0, atol=1e-12):
        return Estimate(mean, len(values), count, *_without_spread(mean, count, quantity))
    low, high = _bounds(sums.tobytes(), sizes.tobytes())
    return Estimate(mean, len(values), count, low, high)


@lru_cache(maxsize=4096)
def _bounds(sums: bytes, sizes: bytes) -> tuple[float, float]:
    """Bounds of the mean, from (clusters,) float64 sums and sizes: a report asks for many of them again."""
    import numpy as np

    totals = resampled_totals(np.stack([np.frombuffer(sums), np.frombuffer(sizes)]))
    return percentiles(totals[:, 0] / totals[:, 1])


def resampled_totals(by_cluster: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64 (RESAMPLES, k): the sums of float64 (k, clusters) values over the clusters of each draw.

    No BLAS: its order of summing changes with threads and machines, and its
    threads wait for each other where the machine is busy.
    """
    import numpy as np

    counts = draws(by_cluster.shape[1])
    totals: NDArray[np.float64] = np.einsum("rc,kc->rk", counts, by_cluster, optimize=False)
    return totals


def cluster_places(clusters: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """int64 (n,) index of each value's cluster among the sorted cluster ids, and the number of clusters."""
    import numpy as np

    names = sorted(set(clusters))
    index = {name: place for place, name in enumerate(names)}
    return np.array([index[name] for name in clusters], np.int64), len(names)


@lru_cache(maxsize=64)
def draws(clusters: int) -> NDArray[np.uint8]:
    """uint8 (RESAMPLES, clusters): how often each cluster was taken; every row sums to `clusters`."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    picks = generator.integers(clusters, size=(RESAMPLES, clusters))
    rows = np.arange(RESAMPLES)[:, None] * clusters
    counts = np.bincount((picks + rows).ravel(), minlength=RESAMPLES * clusters)
    return counts.reshape(RESAMPLES, clusters).astype(np.uint8)


def percentiles(statistics: NDArray[np.float64]) -> tuple[float, float]:
    """Lower and upper bound of the middle `LEVEL` of `statistics`, float64 (RESAMPLES,)."""
    import numpy as np

    tail = (1 - LEVEL) / 2
    low, high = np.quantile(statistics, [tail, 1 - tail])
    return float(low), float(high)


def _without_spread(value: float, clusters: int, quantity: Quantity) -> tuple[float, float]:
    """Bounds of a mean that all clusters share."""
    if quantity == "share" and 0.0 <= value <= 1.0:
        return binomial_interval(value * clusters, clusters)
    if quantity == "difference" and -1.0 <= value <= 1.0:
        bound = binomial_interval(0.0, clusters)[1]
        return max(-1.0, value - bound), min(1.0, value + bound)
    return value, value


def binomial_interval(hits: float, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's interval; `hits` need be no whole number."""
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    low = 0.0 if hits <= 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits >= trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high
