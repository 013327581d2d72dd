"""The clip that a span of text counts for, against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpora.records import Clip
from rag.retrieval.ranking import clip_with_most, overlap
from rag.store.vectors import holding

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
    if overlap(right.start, right.end, start, end):
        assert clip_with_most(clips, start, end) == right
    if end - start > max(lengths):
        right = next((clip for clip in clips if clip.end > start), clips[-1])
    assert holding(clips, start, end) == right


def test_a_span_that_no_clip_has_any_of_is_of_the_nearest_clip() -> None:
    clips = [Clip(f"v:{start}", "v", start, start + 10.0) for start in (0.0, 10.0, 60.0)]
    assert clip_with_most(clips, 22.0, 30.0) == clips[1], "a damaged part has no clips"
    assert clip_with_most(clips, 50.0, 55.0) == clips[2]
    assert clip_with_most(clips, 80.0, 90.0) == clips[2]
    assert clip_with_most(clips, 15.0, 15.0) == clips[1]
