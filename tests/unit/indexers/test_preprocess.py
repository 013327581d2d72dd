"""Images into a model's input: what it sees of them, and what that takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from indexers.preprocess import Preprocessing

WHOLE = Preprocessing(shortest=292, crop=(260, 260))


@pytest.mark.parametrize("size", [(2, 4000), (4000, 2), (1, 1), (1, 3000)])
def test_a_strip_takes_no_more_memory_than_a_frame(size: tuple[int, int]) -> None:
    images = np.full((4, *size, 3), 200, np.uint8)
    tracemalloc.start()
    seen = WHOLE(images)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen.shape == (4, 3, 260, 260)
    assert np.ptp(seen, axis=(0, 2, 3)).max() == 0
    assert most < 50_000_000


@pytest.mark.parametrize("size", [(40, 100), (100, 40), (37, 37), (20, 159)])
def test_the_middle_is_what_is_cut_from_the_whole_resized_image(size: tuple[int, int]) -> None:
    images = np.random.default_rng(0).integers(0, 255, (1, *size, 3), dtype=np.uint8)
    short = min(size)
    height, width = (int(64 * side / short) for side in size)
    resized = Preprocessing(exact=(height, width))(images)
    top, left = (height - 50) // 2, (width - 50) // 2
    seen = Preprocessing(shortest=64, crop=(50, 50))(images)
    np.testing.assert_array_equal(seen, resized[:, :, top : top + 50, left : left + 50])
