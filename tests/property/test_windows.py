"""Windows against a brute force that uses exact fractions and no cumulative sum."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localization.methods import SHIFT_SECONDS, Side, best_windows, shifted_window
from localization.settings import LocalizeSettings
from localization.windows import MIN_FILL, best_window, mean_inside, window_scores

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
def test_best_window_is_the_brute_force_one(case: Case) -> None:
    candidates = brute(case)
    top = max(score for _, _, score, _ in candidates)
    start, end, score, _ = next(c for c in candidates if c[2] == top)
    span = best_window(case.times, case.similarity, start=case.start, end=case.end, length=case.length)
    assert (span.start, span.end) == (start, end)
    assert span.score == float(score)


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
