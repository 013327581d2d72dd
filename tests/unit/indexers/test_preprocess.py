"""Images into a model's input: what it sees of them, what that takes, and which frames of a clip."""

import tracemalloc

import numpy as np
import pytest

from indexers.imagebind import clip_pairs, moments
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


def test_moments_span_the_clip_and_coincide_in_a_short_one() -> None:
    assert moments(30.0, 5) == (0.0, 7.0, 14.0, 21.0, 28.0)
    assert moments(1.5, 3) == (0.0,)


def test_pairs_are_the_first_and_last_frame_of_each_moment() -> None:
    assert clip_pairs(np.arange(61) / 2) == ((0, 3), (14, 17), (28, 31), (42, 45), (56, 59))
    assert clip_pairs(np.array([4.0])) == ((0, 0),)
    # A gap: the moments that fall into it take the nearest frame.
    assert clip_pairs(np.array([0.0, 0.5, 20.0])) == ((0, 1), (1, 1), (2, 2))
