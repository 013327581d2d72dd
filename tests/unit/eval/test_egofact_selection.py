"""Representatives of clusters, and the final choice in the benchmark's shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eval.tasks.egofact.construction.plan import choose_representatives
from eval.tasks.egofact.construction.records import PAPER, BuildSettings
from eval.tasks.egofact.construction.segments import (
    cluster_count,
    cut_segments,
    representatives,
    segment_vectors,
)
from eval.tasks.egofact.records import FAMILIES
from indexers.protocol import unit_rows
from tests.fakes.egofact_world import event, segment, words, world


def test_the_papers_shape_is_the_papers():
    assert (PAPER.clips, PAPER.queries) == (127, 396)
    assert [PAPER.of(family) for family in FAMILIES] == [113, 73, 119, 91]


def test_of_each_cluster_stays_the_clip_in_its_middle():
    rng = np.random.default_rng(0)
    centres = unit_rows(rng.standard_normal((5, 32)).astype(np.float32))
    rows = unit_rows(np.repeat(centres, 8, axis=0) + 0.05 * rng.standard_normal((40, 32)).astype(np.float32))
    chosen = representatives(rows, 5, seed=3)
    assert sorted(at // 8 for at in chosen) == list(range(5))
    assert representatives(rows, 5, seed=3) == chosen
    for at in chosen:
        group = rows[at // 8 * 8 : at // 8 * 8 + 8]
        assert np.argmax(group @ group.mean(axis=0)) == at % 8
    assert representatives(rows, 40, seed=3) == list(range(40))


@pytest.mark.parametrize(
    ("segments", "wanted", "k"), [(2124, 127, 425), (635, 127, 203), (160, 127, 160), (20, 127, 20)]
)
def test_the_share_of_the_paper_holds_where_there_are_clips_enough(segments, wanted, k):
    assert cluster_count(segments, wanted, 0.2, 1.6) == k


def test_a_clip_is_the_weighted_mean_of_its_keywords():
    shed = replace(segment("a", "a shed", []), keywords={"mug": 3.0, "bench": 4.0})
    (row,) = segment_vectors([shed], words())
    mug, bench = words().encode_text(["mug", "bench"])
    assert row == pytest.approx(unit_rows((3 * mug + 4 * bench)[None])[0], abs=1e-6)


def test_clips_with_fewer_than_two_events_are_left_out():
    clips = [*world(3), segment("z", "alone", [event("mug", 1.0)])]
    clips = [replace(clip, keywords={clip.description: 5.0}) for clip in clips]
    kept = choose_representatives(clips, words(), 10, BuildSettings(), seed=1)
    assert kept == clips[:3]
    assert choose_representatives([], words(), 10, BuildSettings(), seed=1) == []


def test_events_over_an_edge_belong_to_no_clip():
    events = [event("mug", 2.0), event("towel", 29.0), event("razor", 31.0), event("candle", 61.0)]
    clips = cut_segments("v", "videos/v.mp4", events, seconds=30.0, duration=64.0)
    assert [(one.clip_id, one.start, one.end) for one in clips] == [
        ("v:00000", 0.0, 30.0),
        ("v:00001", 30.0, 60.0),
    ]
    assert [[each.patient for each in one.events] for one in clips] == [["mug"], ["razor"]]
    unknown = cut_segments("v", "p", events, seconds=30.0, duration=None)
    assert [one.end for one in unknown] == [30.0, 60.0, 90.0]
    short = cut_segments("v", "p", events[:1], seconds=30.0, duration=4.5)
    assert [(one.start, one.end) for one in short] == [(0.0, 4.5)]
