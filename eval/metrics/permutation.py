"""The paired permutation test by video, exact: could the difference be chance?

If two systems were alike, swapping their answers on all questions of a video
would change nothing. Under every such swap the summed difference keeps its
size and takes either sign, so its distribution is that of sum of +-D_c over the
videos c, each sign as likely. For whole numbers D_c that distribution is built
by convolution, not sampled: p is exact, needs no seed, and is two-sided.

Fisher, The Design of Experiments, 1935, 21; clustered as in Winkler et al.,
NeuroImage 123, 2015 (whole-block sign flips).
"""

from __future__ import annotations

from collections.abc import Iterable


def sign_flip_p(cluster_differences: Iterable[int]) -> float:
    """P(|sum of +-D_c| >= |sum of D_c|) over all signs; 1.0 where no cluster differs.

    `cluster_differences`: for each cluster, how many more questions the one
    system got right than the other.
    """
    import numpy as np

    differences = [int(difference) for difference in cluster_differences if difference]
    sizes = [abs(difference) for difference in differences]
    observed = abs(sum(differences))
    total = sum(sizes)
    # chances[total + s] is the chance of the sum s of the clusters so far.
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for size in sizes:
        flipped = np.zeros_like(chances)
        flipped[size:] += 0.5 * chances[:-size]
        flipped[:-size] += 0.5 * chances[size:]
        chances = flipped
    sums = np.arange(-total, total + 1)
    return float(min(1.0, chances[np.abs(sums) >= observed].sum()))
