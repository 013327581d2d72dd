"""Passages into vectors, told of while they are encoded, so that whoever watches sees them pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Passage
from indexers.protocol import ByParts, TextEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encode_passages(
    encoder: TextEncoder, passages: Sequence[Passage], told: Callable[[int], None]
) -> NDArray[np.float32]:
    """Unit rows, float32 (n, dim), in the order of `passages`.

    `told` is given the place of each passage once its row is there: batch by batch where the encoder
    gives its batches, else all at the end. It is one call either way, because an encoder fills more
    batches out of many texts than out of few.
    """
    rows = np.empty((len(passages), encoder.dim), np.float32)
    if not passages:
        return rows
    texts = [f"{passage.title}\n{passage.text}" for passage in passages]
    whole = list(range(len(texts)))
    parts = (
        encoder.encode_parts(texts) if isinstance(encoder, ByParts) else [(whole, encoder.encode_text(texts))]
    )
    for places, part in parts:
        rows[places] = part
        for place in places:
            told(place)
    return rows
