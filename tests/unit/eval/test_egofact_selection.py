"""Representatives of clusters, and the final choice in the benchmark's shape."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from eval.tasks.egofact.construction.options import ONE_HOP_TRUTH, _query
from eval.tasks.egofact.construction.plan import choose_representatives, select
from eval.tasks.egofact.construction.questions import candidates_of
from eval.tasks.egofact.construction.records import MINI, PAPER, BuildSettings, Shape
from eval.tasks.egofact.construction.segments import (
    cluster_count,
    cut_segments,
    keywords,
    representatives,
    segment_vectors,
)
from eval.tasks.egofact.records import FAMILIES
from indexers.protocol import unit_rows
from tests.fakes.egofact_world import THINGS, event, segment, words, world


def test_the_papers_shape_is_the_papers():
    assert (PAPER.clips, PAPER.queries) == (127, 396)
    assert [PAPER.of(family) for family in FAMILIES] == [113, 73, 119, 91]
    assert (MINI.clips, MINI.queries) == (14, 40)


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


def test_equal_clips_do_not_break_the_clustering():
    rows = unit_rows(np.ones((6, 4), np.float32))
    assert representatives(rows, 3, seed=0) == [0]


@pytest.mark.parametrize(
    ("segments", "wanted", "k"), [(2124, 127, 425), (635, 127, 203), (160, 127, 160), (20, 127, 20)]
)
def test_the_share_of_the_paper_holds_where_there_are_clips_enough(segments, wanted, k):
    assert cluster_count(segments, wanted, 0.2, 1.6) == k


def test_keywords_weigh_objects_above_places_and_places_above_actions():
    clip = segment("a", "a shed", [event("mug", 1.0, agent="woman")])
    assert keywords(clip) == {"a shed": 10, "mug": 8, "bench": 6, "put": 5, "woman": 4}
    rows = segment_vectors([clip, segment("b", "a shed", [event("mug", 1.0, agent="woman")])], words())
    assert rows.shape == (2, 256)
    assert float(rows[0] @ rows[1]) == pytest.approx(1.0)


def test_clips_with_fewer_than_two_events_are_left_out():
    clips = [*world(3), segment("z", "alone", [event("mug", 1.0)])]
    kept = choose_representatives(clips, words(), 10, BuildSettings(), seed=1)
    assert kept == clips[:3]
    assert choose_representatives([], words(), 10, BuildSettings(), seed=1) == []


def test_events_over_an_edge_belong_to_no_clip():
    events = [event("mug", 2.0), event("towel", 29.0), event("razor", 31.0), event("candle", 61.0)]
    clips = cut_segments("v", "videos/v.mp4", events, seconds=30.0, duration=64.0, description="d")
    assert [(one.clip_id, one.start, one.end) for one in clips] == [
        ("v:00000", 0.0, 30.0),
        ("v:00001", 30.0, 60.0),
    ]
    assert [[each.patient for each in one.events] for one in clips] == [["mug"], ["razor"]]
    unknown = cut_segments("v", "p", events, seconds=30.0, duration=None, description="d")
    assert [one.end for one in unknown] == [30.0, 60.0, 90.0]
    short = cut_segments("v", "p", events[:1], seconds=30.0, duration=4.5, description="d")
    assert [(one.start, one.end) for one in short] == [(0.0, 4.5)]


def _accept(candidate):
    names = [name for name in THINGS if name != candidate.target.patient_canonical][:5]
    right = candidate.target.patient_canonical
    return _query(candidate, (*names, right), (None,) * 6, ONE_HOP_TRUTH, None, 1)


def _choose(shape, accept=_accept, seed=1):
    found = [one for clip in world(12) for one in candidates_of(clip, 4.0)]
    return select(found, shape, accept, seed)


def test_the_shape_is_filled_exactly_and_every_clip_is_asked_about():
    shape = Shape(10, 9, 5, 11, 8)
    chosen = _choose(shape)
    assert chosen.shortfalls == ()
    assert Counter(query.family for query in chosen.queries) == {f: shape.of(f) for f in FAMILIES}
    assert {query.clip_id for query in chosen.queries} == chosen.clip_ids
    assert len(chosen.clip_ids) == 10
    assert len({query.query_id for query in chosen.queries}) == shape.queries
    assert _choose(shape) == chosen
    assert _choose(shape, seed=2) != chosen


def test_what_cannot_be_filled_is_said_in_one_line_each():
    chosen = _choose(Shape(20, 9, 500, 9, 9))
    clips, two_hops = chosen.shortfalls
    assert clips == "clips: 12 of 20; the corpus has no more with a good query"
    assert two_hops == "local-2hop: 48 of 500 queries; the corpus has no more"
    none = _choose(Shape(2, 1, 1, 1, 1), accept=lambda _: None)
    assert none.queries == ()
    assert len(none.shortfalls) == 5


def test_a_candidate_is_looked_at_once():
    seen: Counter[tuple[str, ...]] = Counter()

    def accept(candidate):
        seen[candidate.key] += 1
        return _accept(candidate) if sum(seen.values()) % 3 else None

    _choose(Shape(12, 30, 30, 30, 30), accept=accept)
    assert set(seen.values()) == {1}
