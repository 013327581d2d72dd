"""Image encoders that are classifiers: an image is the sum of the vectors of what it shows.

ConSE (Norouzi et al., "Zero-shot learning by convex combination of semantic embeddings", ICLR 2014): each
vector is weighted by the probability of its class. So images are in the space of texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from indexers.digests import fingerprint
from indexers.preprocess import Preprocessing
from indexers.protocol import ImageEncoder, TextTower, unit_rows

BACKEND = "onnx-fp32"
AT_ONCE = 4
"""Images that are classified by one call: 18 ms of CPU each, with one 19 and with eight 20 to 28."""
Classifier = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""Pixels, float32 (n, 3, height, width), to shares of what they show, float32 (n, k)."""


def read_out(
    shares: NDArray[np.float32], vectors: NDArray[np.float32], *, power: float = 1.0, most: int | None = None
) -> NDArray[np.float32]:
    """Unit rows, float32 (n, d): for each row of `shares` (n, k) the sum of `vectors` (k, d), each weighted
    by its share to the `power`. Only the `most` greatest shares count; None: all."""
    weights = np.power(shares, np.float32(power))
    if most is not None:
        weights[weights < np.partition(weights, -most, axis=1)[:, [-most]]] = 0
    return unit_rows(np.asarray(weights @ vectors, np.float32))


class ClassifierEncoder(ImageEncoder):
    """A classifier whose shares are read out as vectors in the space of `tower`."""

    backend = BACKEND

    def __init__(
        self,
        tower: TextTower,
        classify: Classifier,
        vectors_of: Callable[[NDArray[np.float32]], NDArray[np.float32]],
        preprocessing: Preprocessing,
        batch: int,
    ) -> None:
        """`vectors_of`: shares, float32 (batch, k), to float32 (batch, dim)."""
        self.name, self.dim, self.weights = tower.name, tower.dim, tower.weights
        self.batch = batch
        self.short_side = preprocessing.short_side
        self.fingerprint = fingerprint({"text": tower.fingerprint, "backend": BACKEND, "batch": batch})
        self._classify = classify
        self._vectors_of = vectors_of
        self._preprocessing = preprocessing

    def _encode_batch(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        parts = [images[at : at + AT_ONCE] for at in range(0, len(images), AT_ONCE)]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            shares = list(pool.map(lambda part: self._classify(self._preprocessing(part)), parts))
        return self._vectors_of(np.concatenate(shares))
