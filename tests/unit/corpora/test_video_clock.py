"""A false time in a damaged file is left out; a true pause is kept."""

from __future__ import annotations

import pytest

from corpora.video.containers import LeapFilter


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]),
        ([0.0, 1.0, 3000.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]),
        ([0.0, 30.0, 95.0, 96.0, 400.0], [0.0, 30.0, 95.0, 96.0, 400.0]),
        ([0.0, 0.1, 143280.0], [0.0, 0.1]),
        ([0.0, 2.0, 1.0, 3.0], [0.0, 2.0, 1.0, 3.0]),
        ([5000.0, 5001.0], [5000.0, 5001.0]),
    ],
)
def test_leaps(times: list[float], kept: list[float]) -> None:
    clock: LeapFilter[str] = LeapFilter()
    passed = [pair for time in times for pair in clock.push(time, f"{time}")] + clock.finish()
    assert passed == [(time, f"{time}") for time in kept]
    assert sorted(clock.dropped) == sorted(set(times) - set(kept))
