"""The sampling rule against a step-by-step reading of it, over any times."""

import math

from hypothesis import given
from hypothesis import strategies as st

from corpora.video.sampling import EPSILON, Sampler

GAPS = st.lists(st.integers(1, 40), min_size=1, max_size=60)
RATES = st.sampled_from([0.5, 1.0, 2.0, 3.0, 10.0])


def sampled(times: list[float], rate: float, end: float) -> list[tuple[float, int]]:
    sampler: Sampler[int] = Sampler(rate)
    samples = []
    for index, time in enumerate(times):
        samples += sampler.push(time, index)
    return samples + sampler.finish(end)


def by_hand(times: list[float], rate: float, end: float) -> list[tuple[float, int]]:
    samples = []
    for step in range(math.ceil(end * rate) + 1):
        inside = [i for i, t in enumerate(times) if math.floor((t + EPSILON) * rate) == step]
        before = [i for i, t in enumerate(times) if math.floor((t + EPSILON) * rate) < step]
        if inside:
            samples.append((times[inside[0]], inside[0]))
        elif before and step / rate < end - EPSILON:
            samples.append((step / rate, before[-1]))
    return samples


def clock(gaps: list[int], first: int) -> list[float]:
    times = [first / 20]
    for gap in gaps:
        times.append(times[-1] + gap / 20)
    return times


@given(GAPS, st.integers(0, 60), RATES, st.integers(1, 100))
def test_it_is_the_rule(gaps: list[int], first: int, rate: float, last: int) -> None:
    times = clock(gaps, first)
    end = times[-1] + last / 20
    assert sampled(times, rate, end) == by_hand(times, rate, end)


@given(st.floats(0, 5), st.floats(6, 50))
def test_no_image_is_held_over_a_gap(until: float, after: float) -> None:
    sampler: Sampler[str] = Sampler(2.0)
    sampler.push(0.0, "before")
    samples = sampler.push(after, "after", until)
    assert all(time < until for time, frame in samples if frame == "before")
    assert samples[-1] == (after, "after")
