"""Which frames are sampled, cut into clips whatever the batches, and the clip of a span of text."""

import math
from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpora.records import Clip, Frames
from corpora.video.records import FrameBatch
from corpora.video.sampling import EPSILON, Sampler
from rag.indexing.clips import CutClip, cut_clips
from rag.retrieval.ranking import clip_with_most, overlap
from rag.store.records import clip_spans, clips_of_video

durations = st.floats(0.5, 200.0).map(lambda value: round(value, 3))


def batches(times: list[float], sizes: list[int]) -> Iterator[FrameBatch]:
    """The times in batches of these sizes, over and over."""
    at = 0
    for size in [*sizes, *([7] * len(times))]:
        part = np.array(times[at : at + size], np.float64)
        at += size
        if len(part):
            pixels = (np.round(part * 2) % 251).astype(np.uint8)
            yield FrameBatch(
                Frames(part, np.broadcast_to(pixels[:, None, None, None], (len(part), 2, 2, 3))), ()
            )


def cut(times: list[float], sizes: list[int], duration: float, first: int = 0) -> list[CutClip]:
    return list(cut_clips(batches(times, sizes), "v", 30.0, 5.0, lambda: duration, first=first))


@given(durations, st.lists(st.integers(1, 40), max_size=12), st.integers(0, 100))
def test_clips_do_not_depend_on_the_batches(duration: float, sizes: list[int], gap_at: int) -> None:
    times = [k / 2 for k in range(int(duration * 2)) if not gap_at <= k / 2 < gap_at + 40]
    clips = cut(times, sizes, duration)
    assert [c.clip for c in clips] == [*clips_of_video("v", duration, 30.0, 5.0)]
    assert [c.pixels for c in clips] == [c.pixels for c in cut(times, [], duration)]
    kept = np.concatenate([c.frames.times for c in clips]) if clips else np.empty(0)
    assert kept.tolist() == times
    for c in clips:
        assert ((c.frames.times >= c.clip.start) & (c.frames.times < c.clip.end)).all()


@given(durations, st.data())
def test_a_resumed_cut_equals_the_rest_of_a_whole_one(duration: float, data: st.DataObject) -> None:
    times = [k / 2 for k in range(int(np.ceil(duration * 2)))]
    whole = cut(times, [], duration)
    first = data.draw(st.integers(0, len(whole) - 1))
    rest = cut([t for t in times if t >= first * 30.0], [5], duration, first=first)
    assert [(c.clip, c.pixels) for c in rest] == [(c.clip, c.pixels) for c in whole[first:]]


def test_a_short_last_clip_joins_the_one_before() -> None:
    assert clip_spans(64.9, 30.0, 5.0) == [(0.0, 30.0), (30.0, 64.9)]
    assert clip_spans(65.0, 30.0, 5.0) == [(0.0, 30.0), (30.0, 60.0), (60.0, 65.0)]
    assert clip_spans(3.0, 30.0, 5.0) == [(0.0, 3.0)]
    assert clip_spans(0.0, 30.0, 5.0) == []


LENGTHS = st.lists(st.sampled_from([5.0, 10.0, 30.0, 34.0]), min_size=1, max_size=8)
MOMENT = st.one_of(st.floats(-10, 250), st.integers(0, 40).map(lambda number: 5.0 * number))


@given(LENGTHS, MOMENT, st.one_of(st.just(0.0), st.floats(0, 60)))
def test_it_is_the_one_with_most_of_it_or_that_a_long_span_starts_in(
    lengths: list[float], start: float, length: float
) -> None:
    ends = np.cumsum(lengths)
    starts, end = ends - lengths, start + length
    clips = [Clip(f"v:{i}", "v", *times) for i, times in enumerate(zip(starts, ends, strict=True))]
    right = max(clips, key=lambda clip: (overlap(clip.start, clip.end, start, end), -clip.start))
    if end - start > max(lengths):
        right = next((clip for clip in clips if clip.end > start), clips[-1])
    if end - start > max(lengths) or overlap(right.start, right.end, start, end):
        assert clip_with_most(clips, start, end) == right


def test_a_span_that_no_clip_has_any_of_is_of_the_nearest_clip() -> None:
    clips = [Clip(f"v:{start}", "v", start, start + 10.0) for start in (0.0, 10.0, 60.0)]
    assert clip_with_most(clips, 22.0, 30.0) == clips[1], "a damaged part has no clips"
    assert clip_with_most(clips, 50.0, 55.0) == clips[2]
    assert clip_with_most(clips, 80.0, 90.0) == clips[2]
    assert clip_with_most(clips, 15.0, 15.0) == clips[1]


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
