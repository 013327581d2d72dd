"""Which frames of a clip ImageBind looks at."""

from __future__ import annotations

import numpy as np

from indexers.imagebind import clip_pairs, moments


def test_moments_span_the_clip_and_coincide_in_a_short_one() -> None:
    assert moments(30.0, 5) == (0.0, 7.0, 14.0, 21.0, 28.0)
    assert moments(1.5, 3) == (0.0,)


def test_pairs_are_the_first_and_last_frame_of_each_moment() -> None:
    assert clip_pairs(np.arange(61) / 2) == ((0, 3), (14, 17), (28, 31), (42, 45), (56, 59))
    assert clip_pairs(np.array([4.0])) == ((0, 0),)
    # A gap: the moments that fall into it take the nearest frame.
    assert clip_pairs(np.array([0.0, 0.5, 20.0])) == ((0, 1), (1, 1), (2, 2))
