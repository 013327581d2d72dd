"""Windows by text spans, against a fine sweep over all starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localization.spans import CERTAIN, covering_window, fused_similarity, rasterised
from localization.windows import best_window

TENTH = 0.1


@st.composite
def spans(draw: st.DrawFn) -> list[tuple[float, float, float]]:
    count = draw(st.integers(0, 8))
    rows = []
    for _ in range(count):
        begin = draw(st.integers(-20, 300))
        size = draw(st.integers(1, 100))
        rows.append((begin * TENTH, (begin + size) * TENTH, draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))))
    return rows


def covered(rows: list[tuple[float, float, float]], at: float, width: float, end: float) -> float:
    total = 0.0
    for begin, stop, relevance in rows:
        begin, stop = max(begin, 0.0), min(stop, end)
        if stop - begin > 1e-6:
            overlap = max(0.0, min(at + width, stop) - max(at, begin))
            total += relevance / (1 - min(relevance, CERTAIN)) * overlap / min(width, stop - begin)
    return total / (1 + total)


@given(spans(), st.integers(5, 320), st.integers(5, 100))
def test_no_window_covers_more(rows: list[tuple[float, float, float]], ticks: int, length: int) -> None:
    end, width = ticks * TENTH, min(length, ticks) * TENTH
    start, stop, score = covering_window(
        [row[:2] for row in rows], [row[2] for row in rows], start=0.0, end=end, length=length * TENTH
    )
    assert start >= 0
    assert stop <= end
    assert stop - start == pytest.approx(width)
    sweep = np.linspace(0.0, end - width, 400)
    best = max(covered(rows, float(at), width, end) for at in sweep)
    assert score >= best - 1e-5
    assert score == pytest.approx(covered(rows, start, width, end), abs=1e-5)


def test_a_short_span_is_in_the_middle_of_its_window() -> None:
    assert covering_window([(10.0, 12.0)], [0.9], start=0.0, end=30.0, length=5.0) == (8.5, 13.5, 0.9)


def test_a_line_quoted_word_for_word_wins_over_one_beside_it_that_shares_words() -> None:
    """The lines of a real video, by their relevance to the last of them."""
    lines = [(15.0, 18.0), (18.5, 22.5), (23.0, 28.0)]
    found = covering_window(lines, [0.475, 0.969, 0.99997], start=0.0, end=36.0, length=5.0)
    assert found == (23.0, 28.0, 0.99997)


def test_several_relevant_lines_win_over_one_a_little_more_relevant() -> None:
    lines = [(2.0, 4.0), (20.0, 22.0), (22.0, 24.0)]
    start, end, score = covering_window(lines, [0.6, 0.5, 0.55], start=0.0, end=30.0, length=5.0)
    assert (start, end) == (20.0, 25.0)
    assert score == pytest.approx(20 / 29, abs=1e-6)


def test_no_spans_give_the_first_window() -> None:
    assert covering_window([], [], start=30.0, end=60.0, length=5.0) == (30.0, 35.0, 0.0)


def test_raster_is_half_open_and_takes_the_greatest() -> None:
    raster = rasterised([(1.0, 2.0), (1.5, 3.0)], [0.2, 0.7], [0.5, 1.0, 1.5, 2.0, 3.0])
    assert raster.tolist() == [0.0, 0.2, 0.7, 0.7, 0.0]


def test_words_decide_where_images_are_flat_and_images_where_words_are_silent() -> None:
    times = np.arange(60) / 2
    flat = 0.25 + 0.001 * np.sin(np.arange(60))
    by_words = fused_similarity(flat, times, [(18.0, 21.0)], [1.0])
    span = best_window(times, by_words, start=0.0, end=30.0, length=5.0)
    assert span.start <= 18.0
    assert span.end >= 21.0
    clear = np.where((times >= 5) & (times < 10), 0.35, 0.2)
    by_images = fused_similarity(clear, times, [], [])
    assert best_window(times, by_images, start=0.0, end=30.0, length=5.0).start == 5.0


@pytest.mark.parametrize("seed", range(5))
def test_a_line_that_is_near_to_certain_wins_over_the_noise_of_images(seed: int) -> None:
    times = np.arange(240) / 2
    noise = 0.2 + 0.05 * np.random.default_rng(seed).standard_normal(240)
    fused = fused_similarity(noise, times, [(80.0, 84.0), (20.0, 24.0)], [0.99, 0.05])
    found = best_window(times, fused, start=0.0, end=120.0, length=5.0)
    assert found.start <= 80.0
    assert found.end >= 84.0


def test_text_counts_as_its_odds_in_a_noisy_or() -> None:
    """-5 ln(1 - r) of an r of one half and of none; of certainty, a finite number."""
    spans = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]
    found = fused_similarity(np.zeros(3), [0.0, 1.0, 2.0], spans, [0.5, 0.0, 1.0])
    assert found[:2] == pytest.approx([5 * np.log(2), 0.0])
    assert 50 < found[2] < 100
