"""A figure with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass


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
