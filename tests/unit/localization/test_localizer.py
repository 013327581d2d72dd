"""One rule for the window of a clip and for the windows of a whole video, under every setting."""

import itertools
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from eval.metrics.localization import temporal_iou
from localization.interaction import FRAMES, late_interaction
from localization.localizer import LocalizationQuery, localize_clip, localize_video, window_salience
from localization.methods import METHODS, best_windows, event_windows, most_salient_windows
from localization.sampling import frames_inside, midpoints, nearest_frames
from localization.settings import LocalizeSettings, MethodName
from localization.spans import fused_similarity
from localization.windows import greedy_nms

TIMES = np.arange(0.0, 60.0, 0.5)
SIMILARITY = np.random.default_rng(7).normal(size=len(TIMES)).round(6)
SIMILARITY[40:44] += 3.0
SIMILARITY[100:103] += 2.5
SPANS = np.array([[8.0, 11.0], [33.0, 36.0]])
RELEVANCE = np.array([0.9, 0.4])
QUERY = LocalizationQuery(TIMES, SIMILARITY, None, SPANS, RELEVANCE)
WORDS = LocalizationQuery(spans=SPANS, relevance=RELEVANCE)
INSIDE: dict[str, Any] = {"start": 0.0, "end": 60.0}
EVERY = [
    LocalizeSettings(method=method, window_seconds=seconds, event_seconds=event)
    for method, seconds, event in itertools.product(METHODS, (5.0, 90.0), (2.0, 2.5))
]


@pytest.mark.parametrize("settings", EVERY, ids=lambda one: f"{one.method}-{one.window_seconds}")
@pytest.mark.parametrize("query", [QUERY, WORDS], ids=["frames", "text"])
def test_the_first_window_of_a_video_is_that_of_a_clip(
    query: LocalizationQuery, settings: LocalizeSettings
) -> None:
    first, *rest = localize_video("v", query, settings, **INSIDE, count=4)
    assert first == localize_clip("v", query, settings, **INSIDE)
    found = [first, *rest]
    assert all(0.0 <= window.start < window.end <= 60.0 for window in found)
    assert all(a.end <= b.start or b.end <= a.start for a, b in itertools.combinations(found, 2))
    scores = [window.score for window in found]
    if settings.method == "salient" and len(query.times):
        scores = window_salience(query, [(one.start, one.end) for one in found], **INSIDE).tolist()
    assert scores == sorted(scores, reverse=True)


def test_a_method_goes_by_the_name_that_is_set() -> None:
    assert set(METHODS) == set(get_args(MethodName))
    fused = fused_similarity(SIMILARITY, TIMES, SPANS, RELEVANCE)
    expected = {"event": event_windows, "egofact": best_windows, "salient": most_salient_windows}
    found = {}
    for name, within in expected.items():
        settings = LocalizeSettings(method=name, event_seconds=1.5, lengths=(2.0, 4.0))
        (window,) = localize_video("v", QUERY, settings, **INSIDE, count=1)
        (span,) = within(TIMES, fused, settings, (0.0, 60.0), 1)
        found[window.start, window.end] = name
        assert (window.start, window.end) == (round(span.start, 6), round(span.end, 6))
    assert [*found.values()] == [*expected]


AFTER = LocalizationQuery(
    TIMES,
    np.where((TIMES >= 20.0) & (TIMES < 22.5), 1.0, 0.0),
    np.where((TIMES >= 26.0) & (TIMES < 28.5), 1.0, 0.0),
    position="after",
)


@pytest.mark.parametrize(
    ("method", "target", "start"),
    [("event", True, 24.75), ("event", False, 18.5), ("egofact", True, 18.5), ("salient", True, 24.75)],
)
def test_after_is_around_the_event_asked_for_or_a_second_after_the_anchor(
    method: MethodName, target: bool, start: float
) -> None:
    """The anchor's window is [17.5, 22.5), the earliest that holds all of its frames."""
    query = AFTER if target else replace(AFTER, target=None)
    window = localize_clip("v", query, LocalizeSettings(method=method), **INSIDE)
    assert (window.start, window.end) == (start, start + 5.0)


def test_without_frames_and_text_a_video_has_no_window_and_a_clip_its_first() -> None:
    nothing = LocalizationQuery()
    assert localize_video("v", nothing, LocalizeSettings(), **INSIDE, count=3) == []
    window = localize_clip("v", nothing, LocalizeSettings(), **INSIDE)
    assert (window.start, window.end, window.score) == (0.0, 5.0, 0.0)


PLATEAU = LocalizationQuery(TIMES, np.where((TIMES >= 20.0) & (TIMES < 36.0), 1.0, 0.0))


@pytest.mark.parametrize("method", METHODS)
def test_windows_overlap_as_much_as_is_set(method: MethodName) -> None:
    settings = LocalizeSettings(method=method, lengths=(4.0, 8.0), overlap=0.5)
    found = localize_video("v", QUERY, settings, **INSIDE, count=6)
    spans = [(one.start, one.end) for one in found]
    ious = [temporal_iou(one, other) for one, other in itertools.combinations(spans, 2)]
    assert len(found) == 6
    assert 0 < max(ious) <= 0.5


def test_suppression_by_hand() -> None:
    """IoU of the second with the first is 1/3; the third touches the first and no more."""
    scores, starts, ends = [3, 2, 1], [0.0, 5.0, 10.0], [10.0, 15.0, 20.0]
    assert greedy_nms(scores, starts, ends, 3) == [0, 2]
    assert greedy_nms(scores, starts, ends, 3, overlap=0.3) == [0, 2]
    assert greedy_nms(scores, starts, ends, 3, overlap=0.34) == [0, 1, 2]


def test_given_windows_stand_out_by_what_is_in_them() -> None:
    """The plateau itself is above its half, the video and what is beside it; the last has no frame."""
    windows = [(20.0, 36.0), (20.0, 28.0), (0.0, 60.0), (40.0, 56.0), (60.0, 61.0)]
    found = window_salience(PLATEAU, windows, **INSIDE)
    assert sorted(range(5), key=lambda at: -found[at]) == [0, 1, 2, 4, 3]
    assert found[2] == found[4] == 0.0
    # 16 of 60 s are one, so z = (1 - 16/60) / sqrt(16/60 * 44/60) inside, over 32 frames.
    assert found[0] == pytest.approx((44 / 60) / (16 / 60 * 44 / 60) ** 0.5 * 32**0.5, abs=1e-4)


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


def _rows(*indices: int) -> np.ndarray:
    return np.eye(4, dtype=np.float32)[list(indices)]


def _scores(clips: list[np.ndarray], texts: int) -> list[float]:
    named = [(str(at), rows) for at, rows in enumerate(clips)]
    return list(late_interaction(named, np.eye(4, dtype=np.float32)[:texts]).values())


def test_a_clip_with_both_events_beats_clips_that_show_more_of_one() -> None:
    both = _rows(*[0] * FRAMES, *[3] * 12, *[1] * FRAMES)
    first = _rows(*[0] * 10, *[3] * 10)
    second = _rows(*[3] * 10, *[1] * 10)
    scores = _scores([first, both, second], 2)
    assert max(scores) == scores[1]
    # The mean of its frames is the least like the two texts.
    assert both[:, :2].mean() < first[:, :2].mean()


def test_one_frame_is_no_event_and_a_clip_of_one_frame_counts_with_it() -> None:
    flash, steady, short = _rows(3, 0, *[3] * 18), _rows(*[3] * 16, *[0] * FRAMES), _rows(0)
    scores = _scores([flash, steady, short], 1)
    assert scores[0] < scores[1] == pytest.approx(scores[2])


def test_frames_that_are_all_alike_score_nothing() -> None:
    assert _scores([_rows(2, 2), _rows(2)], 3) == [0.0, 0.0]
