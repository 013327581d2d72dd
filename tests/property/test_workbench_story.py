"""What every story of the synthetic world keeps to, over hundreds of seeds."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.records import CAMERA_WEARER
from eval.workbench.catalogue import SPLITS, Split, action, allows, kind, place_name
from eval.workbench.long_videos import plan_long_video
from eval.workbench.story import plan_clip

SEEDS = st.integers(0, 2**64 - 1)
CLOSE = 1e-6


@given(SEEDS, st.sampled_from(SPLITS))
def test_events_are_in_order_inside_the_clip_and_their_objects_are_seen_inside_them(
    seed: int, split: Split
) -> None:
    story = plan_clip(seed, split)
    assert 4 <= len(story.events) <= 7
    free = 0.0
    for event in story.events:
        assert free <= event.start < event.end <= story.duration == 30
        assert 1.5 - CLOSE <= event.end - event.start <= 4 + CLOSE
        assert event.start < event.seen_from < event.seen_until < event.end
        assert 0.5 - CLOSE <= event.seen_until - event.seen_from <= 1.5 + CLOSE
        free = event.end


@given(SEEDS, st.sampled_from(SPLITS))
def test_a_story_agrees_with_itself(seed: int, split: Split) -> None:
    story = plan_clip(seed, split)
    assert story == plan_clip(seed, split)
    assert all(event.agent in (CAMERA_WEARER, story.person) for event in story.events)
    used = {event.kind_id for event in story.events}
    assert len(used) == len(story.events)
    assert not used & {thing.kind_id for thing in story.clutter}
    for event in story.events:
        what = action(event.action_id)
        assert allows(what, kind(event.kind_id))
        assert (event.place is None) is (not what.places)
        if "person" in what.places:
            assert story.person
            assert {event.agent, event.patient_destination} == {CAMERA_WEARER, story.person}
        elif event.place is not None:
            assert event.place in what.places
            assert what.slot is not None
            assert getattr(event, what.slot) == place_name(event.place)
        assert event.patient == event.patient_canonical == kind(event.kind_id).name
        assert f"the {event.agent} " in event.rewritten


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(SPLITS), st.sampled_from((1.0, 2.5, 5.0, 30.0)))
def test_a_long_video_changes_its_scene_and_keeps_everything_inside(
    seed: int, split: Split, minutes: float
) -> None:
    video = plan_long_video(seed, split, minutes)
    assert video.duration == minutes * 60
    assert video == plan_long_video(seed, split, minutes)
    end = 0.0
    for part in video.parts:
        assert part.start == end
        assert 30 <= part.story.duration <= 90
        assert all(0 <= event.start < event.end <= part.story.duration for event in part.story.events)
        end = part.end
    assert all(one.story.scene != other.story.scene for one, other in itertools.pairwise(video.parts))
    for spans in (video.lines, video.cards):
        assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
        assert all(0 <= span.start < span.end <= video.duration for span in spans)
