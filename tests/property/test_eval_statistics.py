"""Intervals cover what they promise, and tests reject no more often than they may."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics.intervals import cluster_interval
from eval.metrics.localization import covered, temporal_iou
from eval.metrics.pairing import holm, mcnemar_p, sign_flip_p

spans = st.tuples(st.integers(0, 60), st.integers(1, 60)).map(
    lambda pair: (pair[0] / 2, (pair[0] + pair[1]) / 2)
)


def world(generator: np.random.Generator, videos: int) -> tuple[list[float], list[str]]:
    """Queries whose chance of being right is that of their video: 0.5 on the mean of all videos."""
    values: list[float] = []
    clusters: list[str] = []
    for video in range(videos):
        skill = generator.beta(2, 2)
        for _ in range(3):
            values.append(float(generator.random() < skill))
            clusters.append(f"v{video}")
    return values, clusters


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    trials, hits, naive = 200, 0, 0
    for _ in range(trials):
        values, clusters = world(generator, 60)
        found = cluster_interval(values, clusters)
        hits += found.low <= 0.5 <= found.high
        half = 1.96 * (found.value * (1 - found.value) / found.n) ** 0.5
        naive += abs(found.value - 0.5) <= half
    assert 0.91 <= hits / trials <= 0.985
    # An interval that takes queries for independent covers less: the clusters are there to be seen.
    assert naive / trials < 0.92


def test_no_difference_is_found_no_more_often_than_the_level() -> None:
    generator = np.random.default_rng(8)
    rejected = sum(sign_flip_p(generator.integers(-2, 3, size=30)) <= 0.05 for _ in range(600))
    assert rejected / 600 <= 0.07


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_the_convolution_is_the_sum_over_all_signs(differences: list[int]) -> None:
    observed = abs(sum(differences))
    signs = itertools.product((-1, 1), repeat=len(differences))
    sums = [abs(sum(sign * each for sign, each in zip(row, differences, strict=True))) for row in signs]
    assert sign_flip_p(differences) == pytest.approx(sum(each >= observed for each in sums) / len(sums))


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_sign_flip_of_single_queries(first: int, second: int) -> None:
    assert mcnemar_p(first, second) == pytest.approx(sign_flip_p([1] * first + [-1] * second))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(after >= before or after == 1.0 for before, after in zip(p_values, adjusted, strict=True))
    ranked = [adjusted[place] for place in sorted(range(len(p_values)), key=lambda at: p_values[at])]
    assert ranked == sorted(ranked)


@given(spans, spans)
def test_iou_is_symmetric_and_below_coverage(first: tuple[float, float], second: tuple[float, float]) -> None:
    iou = temporal_iou(first, second)
    assert iou == temporal_iou(second, first)
    assert 0 <= iou <= 1
    assert (iou == 1) == (first == second)
    assert iou <= covered(first, second) + 1e-12


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_values_does_not_matter(pairs: list[tuple[bool, int]], chance: object) -> None:
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    first = cluster_interval([float(value) for value, _ in pairs], [str(place) for _, place in pairs])
    second = cluster_interval([float(value) for value, _ in shuffled], [str(place) for _, place in shuffled])
    assert first == second
    if first.low is not None and first.high is not None:
        assert 0 <= first.low <= first.high <= 1
