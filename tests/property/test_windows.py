"""Windows of any length, events and text spans, against the definition tried on every stretch."""

import math
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localization.methods import (
    REACH,
    SHIFT_SECONDS,
    SLACK,
    Side,
    best_windows,
    event_windows,
    most_salient_windows,
    paired_event,
    shifted_window,
)
from localization.settings import LocalizeSettings
from localization.spans import CERTAIN, covering_window, fused_similarity, rasterised
from localization.windows import MIN_FILL, best_window, mean_inside, standardised, window_scores

EIGHTH = 0.125
"""Times are eighths of a second and lengths too: exact in binary, so the oracle needs no tolerance."""


@dataclass(frozen=True)
class Case:
    times: list[float]
    similarity: list[float]
    start: float
    end: float
    length: float


@st.composite
def cases(draw: st.DrawFn) -> Case:
    offset = draw(st.integers(0, 40)) * EIGHTH
    ticks = draw(st.integers(1, 240))
    at = draw(st.sets(st.integers(0, ticks - 1), min_size=1, max_size=40))
    values = st.one_of(
        st.sampled_from([-0.5, 0.0, 0.25, 0.25, 0.5]),
        st.integers(-1000, 1000).map(lambda n: n / 1000),
        st.floats(-1, 1, allow_nan=False),
    )
    similarity = draw(st.lists(values, min_size=len(at), max_size=len(at)))
    length = draw(st.integers(1, 80)) * EIGHTH
    return Case(
        times=[offset + tick * EIGHTH for tick in sorted(at)],
        similarity=similarity,
        start=offset,
        end=offset + ticks * EIGHTH,
        length=length,
    )


def brute(case: Case) -> list[tuple[float, float, Fraction, list[int]]]:
    """All candidates that the rules allow, in time order, by trying every one of them."""
    if case.end - case.start <= case.length:
        spans = [(case.start, case.end)]
    else:
        starts = {t for t in case.times if t + case.length <= case.end} | {case.end - case.length}
        spans = [(s, s + case.length) for s in sorted(starts)]
    held = [[i for i, t in enumerate(case.times) if a <= t < b] for a, b in spans]
    fullest = max(len(frames) for frames in held)
    least = max(1, ceil(MIN_FILL * fullest))
    found = []
    for (a, b), frames in zip(spans, held, strict=True):
        if len(frames) >= least:
            exact = sum((Fraction(round(case.similarity[i] * 10**9), 10**9) for i in frames), Fraction(0))
            micro = floor(exact / len(frames) * 10**6 + Fraction(1, 2))
            found.append((a, b, Fraction(micro, 10**6), frames))
    return found


@given(cases())
def test_all_candidates_are_the_brute_force_ones(case: Case) -> None:
    scores = window_scores(case.times, case.similarity, start=case.start, end=case.end, length=case.length)
    assert [(s, int(m)) for s, m in zip(scores.starts, scores.micro, strict=True)] == [
        (s, int(score * 10**6)) for s, _, score, _ in brute(case)
    ]


@given(cases(), st.integers(1, 6))
def test_several_windows_are_greedy_and_share_no_time(case: Case, count: int) -> None:
    expected: list[tuple[float, float, Fraction, list[int]]] = []
    left = brute(case)
    while left and len(expected) < count:
        top = max(score for _, _, score, _ in left)
        taken = next(c for c in left if c[2] == top)
        expected.append(taken)
        left = [c for c in left if c[1] <= taken[0] or c[0] >= taken[1]]
    settings = LocalizeSettings(window_seconds=case.length)
    spans = best_windows(case.times, case.similarity, settings, (case.start, case.end), count)
    assert [(s.start, s.end, s.score) for s in spans] == [(a, b, float(m)) for a, b, m, _ in expected]


@given(cases(), st.sampled_from(["before", "after"]))
def test_the_papers_window_moves_by_a_second_and_stays_in_the_clip(case: Case, position: Side) -> None:
    anchor = best_window(case.times, case.similarity, start=case.start, end=case.end, length=case.length)
    settings = LocalizeSettings(window_seconds=case.length)
    found = shifted_window(case.times, case.similarity, settings, (case.start, case.end), position)
    assert case.start <= found.start < found.end <= case.end
    assert found.end - found.start == anchor.end - anchor.start
    moved = found.start - anchor.start
    room = anchor.start - case.start if position == "before" else case.end - anchor.end
    assert moved == min(SHIFT_SECONDS, room) * (-1 if position == "before" else 1)


def test_a_similarity_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        best_window([0.0, 1.0], [0.0, float("nan")], start=0.0, end=5.0, length=2.0)


def test_the_mean_inside_is_none_where_there_is_no_frame() -> None:
    assert mean_inside([0.0, 9.0], [1.0, 1.0], start=3.0, end=6.0) is None
    assert mean_inside([0.0, 9.0], [1.0, 0.5], start=0.0, end=9.0) == 1.0


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


@pytest.mark.parametrize(
    ("lines", "relevance", "found"),
    [
        ([(10.0, 12.0)], [0.9], (8.5, 13.5, 0.9)),
        # The lines of a real video, by their relevance to the last of them, which was quoted word for word.
        ([(15.0, 18.0), (18.5, 22.5), (23.0, 28.0)], [0.475, 0.969, 0.99997], (23.0, 28.0, 0.99997)),
        # Two win over one that is a little more relevant than each.
        ([(2.0, 4.0), (20.0, 22.0), (22.0, 24.0)], [0.6, 0.5, 0.55], (20.0, 25.0, 0.689655)),
        ([], [], (0.0, 5.0, 0.0)),
    ],
)
def test_the_window_over_some_lines(
    lines: list[tuple[float, float]], relevance: list[float], found: tuple[float, float, float]
) -> None:
    window = covering_window(lines, relevance, start=0.0, end=36.0, length=5.0)
    assert window == pytest.approx(found, abs=1e-6)


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
