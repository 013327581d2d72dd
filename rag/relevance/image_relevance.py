"""Relevance of an image to a text: calibrated cosines of an image encoder.

Cosines of image encoders have no common scale (0.2 is high for one, low for another), so each is
standardized over a fixed background of everyday sentences against the same image:

    z = (q . v - mean_b(b . v)) / max(std_b(b . v), FLOOR)

which needs no other weights, no training and no other video.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rag.relevance.texts import logistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextTower

BACKGROUND = (
    "A video that shows a person walking on a street.",
    "A video that shows a dog in a garden.",
    "A video that shows hands preparing food.",
    "A video that shows a computer screen with text.",
    "A video that shows a car on a road.",
    "A video that shows mountains and a lake.",
    "A video that shows a man talking to the camera.",
    "A video that shows a woman reading in a room.",
    "A video that shows a crowd at a concert.",
    "A video that shows tools on a workbench.",
    "A video that shows children playing football.",
    "A video that shows an aeroplane in the sky.",
    "A video that shows a cartoon animal.",
    "A video that shows a doctor with a patient.",
    "A video that shows a map or a diagram.",
    "A video that shows a boat on the sea.",
)
FLOOR = 0.01
MIDDLE = 2.5
SLOPE = 2.0


class ImageScoreCalibrator:
    """Calibrated scores of one tower; the background is encoded once, on first use."""

    def __init__(self, tower: TextTower) -> None:
        self._tower = tower

    @cached_property
    def background(self) -> NDArray[np.float32]:
        """Unit rows, float32 (16, dim)."""
        return self._tower.encode_text(BACKGROUND)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        return self._tower.encode_text(texts) if texts else np.empty((0, self._tower.dim), np.float32)

    def z(self, queries: NDArray[np.float32], images: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 (q, p) standard scores of unit rows `queries` (q, dim) and `images` (p, dim)."""
        ground = self.background.astype(np.float64) @ images.astype(np.float64).T
        raw = queries.astype(np.float64) @ images.astype(np.float64).T
        return np.asarray((raw - ground.mean(axis=0)) / np.maximum(ground.std(axis=0), FLOOR), np.float64)

    def level_z(self, queries: NDArray[np.float32], images: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 (q, p) as `z`, with one spread for all images, so that frames of a clip compare.

        Where the background scores of one frame hardly differ, its own spread would amplify noise.
        """
        ground = self.background.astype(np.float64) @ images.astype(np.float64).T
        raw = queries.astype(np.float64) @ images.astype(np.float64).T
        spread = max(float(ground.std(axis=0).mean()), FLOOR)
        return np.asarray((raw - ground.mean(axis=0)) / spread, np.float64)

    def relevance(self, query: NDArray[np.float32], image: NDArray[np.float32]) -> float:
        """Relevance in [0, 1] of one image vector, float32 (dim,): logistic(2 (z - 2.5)), to 6 decimals."""
        z = float(self.z(query.reshape(1, -1), image.reshape(1, -1))[0, 0])
        return round(logistic(SLOPE * (z - MIDDLE)), 6)
