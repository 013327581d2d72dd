"""An image encoder without weights: the mean colour of an image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import ImageEncoder, unit_rows


class MeanColors(ImageEncoder):
    """Every text has one and the same vector."""

    name, dim, fingerprint, batch, backend, weights = "mean", 3, "2" * 32, 4, "", ""

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.asarray(images.mean(axis=(1, 2)) + 1, np.float32)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit_rows(np.ones((len(texts), 3), np.float32))
