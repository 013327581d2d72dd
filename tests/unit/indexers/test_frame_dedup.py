"""Still frames: what is encoded, what is reused, and that neither clips nor batches leak into one another."""

import numpy as np
import pytest
from numpy.typing import NDArray

from corpora.records import Frames
from indexers.protocol import DEDUP_THRESHOLD, encode_frames, representative_frames
from tests.fakes.mean_colors import MeanColors

SHAPE = (48, 60)


def noise(seed: int, count: int = 1, shape: tuple[int, int] = SHAPE) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(40, 200, (count, *shape, 3), dtype=np.uint8)


def frames(images: NDArray[np.uint8]) -> Frames:
    return Frames(np.arange(len(images)) / 2, images)


def still(seed: int, count: int) -> NDArray[np.uint8]:
    return np.repeat(noise(seed), count, axis=0)


def test_equal_frames_are_encoded_once() -> None:
    images = np.concatenate([still(0, 5), still(1, 3), still(0, 2)])
    assert representative_frames(images).tolist() == [0, 0, 0, 0, 0, 5, 5, 5, 8, 8]


def test_slow_drift_does_not_creep() -> None:
    """Each step is far below the threshold, yet no reused frame may be further than it from its stand-in."""
    images = np.stack([np.full((*SHAPE, 3), 100 + step // 2, np.uint8) for step in range(60)])
    chosen = representative_frames(images)
    distance = np.abs(images[chosen, 0, 0, 0].astype(int) - images[:, 0, 0, 0])
    assert distance.max() <= DEDUP_THRESHOLD
    assert len(np.unique(chosen)) > 3


@pytest.mark.parametrize("corner", [(0, 0), (47, 59), (24, 30)])
def test_a_small_change_anywhere_is_seen(corner: tuple[int, int]) -> None:
    """A spot of 4 x 4 pixels, also in the cut-off blocks of the right and lower edge."""
    images = still(0, 2)
    top, left = min(corner[0], 44), min(corner[1], 56)
    images[1, top : top + 4, left : left + 4] = 255
    assert representative_frames(images).tolist() == [0, 1]


def test_reused_frames_take_their_stand_ins_vector() -> None:
    images = np.concatenate([still(0, 3), noise(1, 2), still(2, 4)])
    rows = encode_frames(MeanColors(), frames(images))
    expected = MeanColors().encode_images(images[representative_frames(images)])
    assert np.array_equal(rows, expected)
