"""Fusion of several rankings of the same items.

Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009):

    RRF(d) = sum over rankings r that hold d of 1 / (k + rank_r(d)),   rank from 1, k = 60

given here as a share of its maximum, which first place in every ranking has, so that 1.0 means the
same for two rankings as for three.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Fused(Generic[Key]):
    """One item of a fused ranking."""

    key: Key
    score: float
    """In (0, 1], rounded to 6 decimals."""


def fuse(
    rankings: Sequence[Sequence[Key]], k: int = 60, judges: Callable[[Key], int] | None = None
) -> list[Fused[Key]]:
    """Best first; equal scores in the order of the keys' text.

    `rankings`: each best first; a key that comes twice in one counts where it comes first.
    `judges`: in how many of the rankings a key can appear (a passage has no images to be ranked by);
    default, all of them, empty ones too. Raises `ValueError` for `k` below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    sums: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            sums[key] = sums.get(key, 0.0) + 1.0 / (k + rank)
    fused = []
    for key, total in sums.items():
        most = (judges(key) if judges else len(rankings)) / (k + 1)
        fused.append(Fused(key, round(total / most, 6)))
    return sorted(fused, key=lambda item: (-item.score, str(item.key)))
