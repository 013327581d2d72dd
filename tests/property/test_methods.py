"""Events at their own length, against the definition tried on every stretch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localization.methods import REACH, SLACK, event_windows, most_salient_windows, paired_event
from localization.settings import LocalizeSettings
from localization.windows import standardised, window_scores

CLIP = 30.0
TIMES = np.arange(60) / 2
similarities = st.lists(
    st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=len(TIMES), max_size=len(TIMES)
)
LENGTHS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
SALIENT = LocalizeSettings(lengths=LENGTHS)
positions = st.sampled_from(["before", "after"])


@given(similarities, st.sampled_from([1.5, 2.5, 4.0]))
def test_the_window_is_around_the_best_stretch_and_inside_the_clip(values: list[float], event: float) -> None:
    chosen = LocalizeSettings(event_seconds=event)
    (found,) = event_windows(TIMES, values, chosen, (0.0, CLIP), 1)
    scores = window_scores(TIMES, values, start=0.0, end=CLIP, length=event)
    best = scores.span(int(np.argmax(scores.micro)))
    assert found.score == best.score
    assert found.end - found.start == pytest.approx(5.0)
    assert 0.0 <= found.start <= best.start
    assert best.end <= found.end <= CLIP
    middle = (best.start + best.end) / 2
    if 2.5 <= middle <= CLIP - 2.5:
        assert (found.start + found.end) / 2 == pytest.approx(middle)


@pytest.mark.slow
@settings(max_examples=40)
@given(similarities, similarities, positions)
def test_no_other_allowed_pair_has_a_greater_sum(
    anchor: list[float], target: list[float], position: str
) -> None:
    first, second = paired_event(
        TIMES, anchor, target, start=0.0, end=CLIP, position=position, event_seconds=2.5
    )
    anchors = window_scores(TIMES, standardised(anchor), start=0.0, end=CLIP, length=2.5)
    targets = window_scores(TIMES, standardised(target), start=0.0, end=CLIP, length=2.5)

    def gap(a_start: float, a_end: float, t_start: float, t_end: float) -> float:
        return t_start - a_end if position == "after" else a_start - t_end

    best = -math.inf
    for a in range(len(anchors.starts)):
        for t in range(len(targets.starts)):
            apart = gap(anchors.starts[a], anchors.ends[a], targets.starts[t], targets.ends[t])
            if -SLACK - 1e-9 <= apart <= REACH + SLACK + 1e-9:
                best = max(best, int(anchors.micro[a]) + int(targets.micro[t]))
    assert round((first.score + second.score) * 1e6) == best
    assert -SLACK - 1e-6 <= gap(first.start, first.end, second.start, second.end) <= REACH + SLACK + 1e-6


def test_a_clip_without_room_for_two_gives_the_best_of_each() -> None:
    times = np.array([0.0, 0.5, 1.0, 1.5])
    anchor, target = paired_event(
        times, [1, 0, 0, 0], [0, 0, 0, 1], start=0.0, end=2.0, position="after", event_seconds=2.5
    )
    assert (anchor.start, anchor.end, target.start, target.end) == (0.0, 2.0, 0.0, 2.0)


@given(st.sampled_from(LENGTHS), st.integers(2, 50))
def test_the_length_of_a_clear_event_is_found(length: float, first: int) -> None:
    start = first / 2
    values = np.where((start <= TIMES) & (start + length > TIMES), 1.0, 0.0)
    (found,) = most_salient_windows(TIMES, values, SALIENT, (0.0, CLIP), 1)
    assert (found.start, found.end) == (start, start + length)


@given(similarities)
def test_no_length_is_more_salient(values: list[float]) -> None:
    (found,) = most_salient_windows(TIMES, values, SALIENT, (0.0, CLIP), 1)
    z = standardised(values)
    strengths = []
    for length in LENGTHS:
        scores = window_scores(TIMES, z, start=0.0, end=CLIP, length=length)
        strengths.append(max(scores.micro * np.sqrt(scores.last - scores.first)))
    inside = np.sum((found.start - 1e-7 <= TIMES) & (found.end - 1e-7 > TIMES))
    assert found.score * 1e6 * math.sqrt(inside) == pytest.approx(max(strengths), abs=2.0)
