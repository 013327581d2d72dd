"""Question texts, pairs of events, representatives of clusters, and the choice in the benchmark's shape."""

from dataclasses import replace

import numpy as np
import pytest

from eval.tasks.egofact.construction.plan import choose_representatives
from eval.tasks.egofact.construction.questions import (
    Rivals,
    candidates_of,
    event_pairs,
    option_text,
    question_text,
)
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

PLUG = replace(
    event("kettle", 4.0), rewritten="the camera wearer plugs the kettle into the socket", action="plug"
)
BABY = replace(event("baby", 8.0, agent="woman"), rewritten="a woman plays with a baby", action="play")
SETTINGS = BuildSettings()


def test_the_four_texts_have_the_papers_shape():
    shown = "cleaning and repairing equipment on a cluttered workbench"
    assert question_text(shown, PLUG, None, "within", 1) == (
        f"In a video that shows {shown}, what is the object that the camera wearer plugs into the socket?"
    )
    assert question_text(shown, PLUG, None, "within", 2) == (
        f"In a video that shows {shown}, which statement is true about the object that the camera wearer "
        "plugs into the socket?"
    )
    assert question_text(shown, PLUG, BABY, "before", 1) == (
        f"In a video that shows {shown}. Before a woman plays with a baby, what is the object that the "
        "camera wearer plugs into the socket?"
    )
    assert question_text(shown, PLUG, BABY, "after", 2) == (
        f"In a video that shows {shown}. After a woman plays with a baby, which statement is true about the "
        "object that the camera wearer plugs into the socket?"
    )
    assert option_text("storing tools", "it is kept dry.") == "When storing tools. It is kept dry."


def test_pairs_are_consecutive_and_within_four_seconds_from_end_to_start():
    events = [event("mug", 1.0), event("towel", 7.0), event("razor", 13.01), event("candle", 15.0)]
    pairs = list(event_pairs(segment("a", "d", events), 4.0))
    assert [(one.patient, two.patient) for one, two in pairs] == [("mug", "towel"), ("razor", "candle")]


def test_each_pair_gives_before_and_after_in_both_hops():
    clip = segment("a", "a red shed", [event("mug", 1.0), event("towel", 4.0, verb="throw")])
    found = candidates_of(clip, 4.0)
    assert len(found) == 8
    temporal = {(one.family, one.position, one.target.patient) for one in found if one.anchor}
    assert temporal == {
        (family, *side)
        for family in ("temporal-1hop", "temporal-2hop")
        for side in (("before", "mug"), ("after", "towel"))
    }
    assert len({one.key for one in found}) == 8


def test_no_question_says_its_answer_or_comes_twice():
    revealing = segment("a", "a shed with a mug", [event("mug", 1.0), event("towel", 9.0)])
    assert {one.target.patient for one in candidates_of(revealing, 4.0)} == {"towel"}
    same = segment("a", "a shed", [event("mug", 1.0), event("mug", 4.0, verb="throw")])
    assert {one.family for one in candidates_of(same, 4.0)} == {"local-1hop", "local-2hop"}
    twice = segment("a", "a shed", [event("mug", 1.0), event("towel", 20.0)])
    assert candidates_of(twice, 4.0) == []


def _clear(clips, **wanted):
    rivals = Rivals(clips, words(), SETTINGS)
    return {
        (one.segment.clip_id, one.family, one.position, one.target.patient)
        for clip in clips
        for one in candidates_of(clip, 4.0)
        if not rivals.ambiguous(one) and all(getattr(one, name) == value for name, value in wanted.items())
    }


def test_a_like_clip_with_the_same_act_on_another_thing_makes_a_query_ambiguous():
    here = segment("a", "repairs in a garage by a red globe", [event("mug", 1.0)])
    like = segment("b", "repairs in a garage by a red clock", [event("towel", 1.0)])
    same = segment("c", "repairs in a garage by a red clock", [event("mug", 1.0)])
    far = segment("d", "cooking", [event("towel", 1.0)])
    assert _clear([here, like], hops=1) == set()
    assert len(_clear([here, same], hops=1)) == 2
    assert len(_clear([here, far], hops=1)) == 2


def test_a_temporal_query_needs_its_anchor_in_the_like_clip_to_be_ambiguous():
    anchor = event("razor", 4.0, place="rug", verb="turn")
    here = segment("a", "repairs in a garage by a red globe", [event("mug", 1.0), anchor])
    like = segment("b", "repairs in a garage by a red clock", [event("towel", 1.0), event("sponge", 4.0)])
    assert ("a:00000", "temporal-1hop", "before", "mug") in _clear([here, like])
    both = segment("b", "repairs in a garage by a red clock", [event("towel", 1.0), anchor])
    assert ("a:00000", "temporal-1hop", "before", "mug") not in _clear([here, both])


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
    short = cut_segments("v", "p", events[:1], seconds=30.0, duration=4.5)
    assert [(one.start, one.end) for one in short] == [(0.0, 4.5)]
