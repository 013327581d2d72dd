"""Two systems on the same queries: the difference of their accuracies, and whether it could be chance.

The difference is the mean over queries of right minus right, with its interval
by video; the tests are the exact permutation by video and McNemar's. Systems
run under several seeds count with their mean over the seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from eval.metrics.estimate import Estimate
from eval.metrics.intervals import cluster_interval
from eval.metrics.mcnemar import mcnemar_p
from eval.metrics.permutation import sign_flip_p
from eval.metrics.scored import Scored


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired difference of two systems, with its p-value."""

    difference: Estimate
    """System minus baseline."""
    p: float
    """Exact permutation test by video."""
    p_mcnemar: float | None
    """None where a system was run under several seeds: it knows only right and wrong."""


def compare(system: Sequence[Scored], baseline: Sequence[Scored]) -> Paired | None:
    """None where both are without samples. Raises `ValueError` where they answer different queries."""
    ours, theirs = _by_query(system), _by_query(baseline)
    if ours.keys() != theirs.keys():
        raise ValueError("the two systems were asked different queries")
    clusters = {scored.query.query_id: scored.query.cluster for scored in system}
    order = sorted(ours)
    differences = {query_id: _mean(ours[query_id]) - _mean(theirs[query_id]) for query_id in order}
    difference = cluster_interval(
        [float(differences[query_id]) for query_id in order],
        [clusters[query_id] for query_id in order],
        "difference",
    )
    if difference is None:
        return None
    by_cluster: defaultdict[str, Fraction] = defaultdict(Fraction)
    for query_id, value in differences.items():
        by_cluster[clusters[query_id]] += value
    whole = lcm(*(value.denominator for value in by_cluster.values()))
    p = sign_flip_p(int(value * whole) for value in by_cluster.values())
    once = all(len(votes) == 1 for votes in (*ours.values(), *theirs.values()))
    return Paired(difference, p, _mcnemar(differences.values()) if once else None)


def _by_query(samples: Iterable[Scored]) -> dict[str, list[bool]]:
    votes: defaultdict[str, list[bool]] = defaultdict(list)
    for scored in samples:
        votes[scored.query.query_id].append(scored.sample.correct)
    return dict(votes)


def _mean(votes: Sequence[bool]) -> Fraction:
    return Fraction(sum(votes), len(votes))


def _mcnemar(differences: Iterable[Fraction]) -> float:
    signs = list(differences)
    return mcnemar_p(sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs))
