"""Where the right answer stands among all answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ranks"]


def ranks(scores: NDArray[np.float32], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the others score at least as high as the right one."""
    own = scores[np.arange(len(scores)), right]
    return np.asarray((scores >= own[:, None]).sum(axis=1) - 1)
