"""One rule for the window of a clip and for the windows of a whole video, under every setting."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from localization.events import event_windows, most_salient_windows
from localization.localizer import LocalizationQuery, localize_clip, localize_video
from localization.settings import LocalizeSettings
from localization.spans import fused_similarity
from localization.windows import best_window

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
    LocalizeSettings(method=method, length=length, window_seconds=seconds, event_seconds=event)
    for method, length, seconds, event in itertools.product(
        ("event", "window"), ("fixed", "per-query"), (5.0, 90.0), (2.0, 2.5)
    )
]


@pytest.mark.parametrize("settings", EVERY, ids=lambda one: f"{one.method}-{one.length}-{one.window_seconds}")
@pytest.mark.parametrize("query", [QUERY, WORDS], ids=["frames", "text"])
def test_the_first_window_of_a_video_is_that_of_a_clip(
    query: LocalizationQuery, settings: LocalizeSettings
) -> None:
    first, *rest = localize_video("v", query, settings, **INSIDE, count=4)
    assert first == localize_clip("v", query, settings, **INSIDE)
    found = [first, *rest]
    assert all(0.0 <= window.start < window.end <= 60.0 for window in found)
    assert all(a.end <= b.start or b.end <= a.start for a, b in itertools.combinations(found, 2))
    assert [window.score for window in found] == sorted((w.score for w in found), reverse=True) or (
        settings.length == "per-query"
    )


def test_every_setting_is_honoured() -> None:
    fused = fused_similarity(SIMILARITY, TIMES, SPANS, RELEVANCE)
    expected = {
        ("window", "fixed"): best_window(TIMES, fused, **INSIDE, length=5.0),
        ("event", "fixed"): event_windows(TIMES, fused, **INSIDE, length=5.0, event_seconds=1.5, count=1)[0],
        ("event", "per-query"): most_salient_windows(TIMES, fused, **INSIDE, count=1)[0],
    }
    found = {
        (method, length): localize_video(
            "v", QUERY, LocalizeSettings(method=method, length=length, event_seconds=1.5), **INSIDE, count=1
        )[0]
        for method, length in expected
    }
    assert {key: (window.start, window.end) for key, window in found.items()} == {
        key: (round(span.start, 6), round(span.end, 6)) for key, span in expected.items()
    }
    assert len({(window.start, window.end) for window in found.values()}) == 3


def test_without_frames_and_text_a_video_has_no_window_and_a_clip_its_first() -> None:
    nothing = LocalizationQuery()
    assert localize_video("v", nothing, LocalizeSettings(), **INSIDE, count=3) == []
    window = localize_clip("v", nothing, LocalizeSettings(), **INSIDE)
    assert (window.start, window.end, window.score) == (0.0, 5.0, 0.0)


def test_frames_outside_the_interval_do_not_count() -> None:
    window = localize_clip("v", QUERY, LocalizeSettings(), start=30.0, end=60.0)
    assert window.start <= TIMES[101] < window.end
