"""Holm's step-down correction, for a table that holds many tests.

The i-th smallest of m p-values is multiplied by m - i + 1, and none may fall
below the one before it. The chance that any true null hypothesis of the table
is rejected then stays below the level, however the tests depend on each other.

Holm, Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
