"""How often a video shows an event."""

from __future__ import annotations

import numpy as np

from rag.retrieval.events import occurrences

TIMES = np.arange(0.0, 120.0, 0.5)


def scores(*stretches: tuple[float, float, float]) -> np.ndarray:
    found = np.zeros(len(TIMES))
    for start, end, value in stretches:
        found[(start <= TIMES) & (end >= TIMES)] = value
    return found


def test_stretches_apart_are_counted_one_by_one() -> None:
    shown = scores((10, 13, 6.0), (40, 44, 5.0), (90, 92, 4.0))
    assert occurrences(TIMES, shown, 2.5) == [(10.0, 13.0), (40.0, 44.0), (90.0, 92.0)]


def test_a_short_gap_is_no_end_and_a_flash_no_event() -> None:
    shown = scores((10, 13, 6.0), (18, 20, 6.0), (60, 60, 6.0))
    assert occurrences(TIMES, shown, 2.5) == [(10.0, 20.0)]


def test_what_is_far_less_like_the_event_is_another() -> None:
    assert occurrences(TIMES, scores((10, 13, 6.0), (40, 44, 3.0)), 2.5) == [(10.0, 13.0)]
    assert occurrences(TIMES, scores((10, 13, 2.0)), 2.5) == []
    assert occurrences([], [], 2.5) == []
