"""Two systems on the same queries: the difference of their accuracies, and whether it could be chance.

The difference is the mean over queries of right minus right, with its interval by video. Questions on
one video depend on each other, so the permutation test over whole videos is the one to go by; McNemar's
test, which counts questions as independent, is what others report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.scored import Measure, Scored, correct


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction of the tests of one table; adjusted p-values in the order given.

    The i-th smallest of m p-values is multiplied by m - i + 1, and none falls below the one before it, so
    the chance that any true null hypothesis is rejected stays below the level, however the tests depend on
    each other. Holm, Scandinavian Journal of Statistics 6, 1979.
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def mcnemar_p(only_first: int, only_second: int) -> float:
    """McNemar's exact test of the questions that only one of two systems got right.

    Two-sided p of a fair coin, p = min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2), where b questions
    are right with the first system only and c with the second only; 1.0 where no question distinguishes the
    two. Questions count as independent.

    McNemar, Psychometrika 12, 1947; the exact form, e.g. Fagerland et al., BMC Medical Research Methodology
    13, 2013.
    """
    trials = only_first + only_second
    tail = sum(comb(trials, wins) for wins in range(min(only_first, only_second) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**trials)))


def sign_flip_p(cluster_differences: Iterable[int]) -> float:
    """The exact paired permutation test by cluster: P(|sum of +-D_c| >= |sum of D_c|) over all signs.

    `cluster_differences`: D_c for each cluster, how many more questions the one system got right than the
    other; 1.0 where no cluster differs. If two systems were alike, swapping their answers on all questions
    of a video would change nothing, so either sign of D_c is as likely. The distribution of the sum is
    built by convolution, not sampled: p is exact, two-sided, and needs no seed.

    Fisher, The Design of Experiments, 1935, 21; clustered as in Winkler et al., NeuroImage 123, 2015
    (whole-block sign flips).
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


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired difference of two systems, with its p-value."""

    difference: Estimate
    """System minus baseline."""
    p: float
    """Exact permutation test by video."""
    p_mcnemar: float
    unpaired: int
    """Queries that one of the two was not asked, or that were not judged for it; they count in neither."""


def compare(
    system: Sequence[Scored], baseline: Sequence[Scored], measure: Measure = correct
) -> Paired | None:
    """Compare on the queries to which `measure` (1 or 0) applies for both; None without any."""
    ours, theirs = _by_query(system, measure), _by_query(baseline, measure)
    clusters = {scored.query.query_id: scored.query.cluster for scored in system}
    order = sorted(ours.keys() & theirs.keys())
    differences = [ours[query_id] - theirs[query_id] for query_id in order]
    named = [clusters[query_id] for query_id in order]
    difference = cluster_interval(list(map(float, differences)), named, "difference")
    if difference is None:
        return None
    by_cluster: Counter[str] = Counter()
    for cluster, value in zip(named, differences, strict=True):
        by_cluster[cluster] += value
    return Paired(
        difference,
        p=sign_flip_p(by_cluster.values()),
        p_mcnemar=mcnemar_p(differences.count(1), differences.count(-1)),
        unpaired=len(ours.keys() ^ theirs.keys()),
    )


def _by_query(samples: Iterable[Scored], measure: Measure) -> dict[str, bool]:
    found = ((scored.query.query_id, measure(scored)) for scored in samples)
    return {query_id: bool(value) for query_id, value in found if value is not None}
