"""Late interaction on frames along axes: events are counted where they are best seen."""

import numpy as np
import pytest

from localization.interaction import FRAMES, late_interaction


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
