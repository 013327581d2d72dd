"""Which moments and frames of an interval are looked at."""

from __future__ import annotations

import numpy as np

from localization.sampling import frames_inside, midpoints, nearest_frames


def test_midpoints_are_the_middles_of_equal_parts() -> None:
    assert midpoints(10.0, 15.0, 5).tolist() == [10.5, 11.5, 12.5, 13.5, 14.5]
    assert midpoints(0.0, 1.0, 3).tolist() == [0.166667, 0.5, 0.833333]


def test_the_frame_that_a_rounded_window_starts_at_is_inside() -> None:
    times = np.array([0.0, 1 / 3 - 4e-7, 2 / 3, 1.0])
    assert frames_inside(times, round(1 / 3, 6), 1.0, most=9).tolist() == [1, 2]


def test_of_more_frames_than_the_budget_evenly_spread_ones_are_taken() -> None:
    times = np.arange(100) / 10
    assert frames_inside(times, 0.0, 10.0, most=4).tolist() == [0, 33, 66, 99]
    assert frames_inside(times, 20.0, 30.0, most=4).tolist() == []


def test_the_nearest_frame_is_the_earlier_of_equals() -> None:
    assert nearest_frames([0.0, 1.0, 4.0], [0.5, 0.6, -3.0, 9.0]).tolist() == [0, 1, 0, 2]
