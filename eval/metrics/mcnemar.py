"""McNemar's exact test: of the questions that only one of two systems got right, how uneven is the split?

Two-sided p of a fair coin, p = min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2),
where b questions are right with the first system only and c with the second only.
Questions count as independent here, which those on one video are not: the test
by video (`eval.metrics.permutation`) is the one to go by, this one is what
others report.

McNemar, Psychometrika 12, 1947; the exact form, e.g. Fagerland et al., BMC
Medical Research Methodology 13, 2013.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb


def mcnemar_p(only_first: int, only_second: int) -> float:
    """1.0 where no question distinguishes the two. Raises `ValueError` for a negative count."""
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts {only_first} and {only_second}")
    trials = only_first + only_second
    tail = sum(comb(trials, wins) for wins in range(min(only_first, only_second) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**trials)))
