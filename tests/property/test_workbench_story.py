"""What every story of the synthetic world keeps to, over hundreds of seeds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.records import CAMERA_WEARER
from eval.workbench.catalogue import ACTIONS, KINDS, SCENES, SPLITS, Split, action, allows, kind, place_name
from eval.workbench.long_videos import plan_long_video
from eval.workbench.seeds import stable_number
from eval.workbench.story import VARIANTS, ClipStory, held_out, plan_clip

SEEDS = st.integers(0, 2**64 - 1)
CLOSE = 1e-6


@lru_cache(maxsize=3)
def stories(split: Split) -> tuple[ClipStory, ...]:
    return tuple(plan_clip(stable_number(11, split, i), split) for i in range(150))


def words(text: str) -> list[str]:
    return re.findall(r"[a-z-]+", text.lower())


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


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_a_description_names_nothing_that_is_used(split: Split) -> None:
    for story in stories(split):
        said = " ".join(words(story.description))
        for event in story.events:
            thing = kind(event.kind_id)
            for name in (thing.name, *thing.aliases.values()):
                assert not re.search(rf"\b{re.escape(name)}\b", said), (story.description, name)


def looks(split: Split) -> set[tuple[str, int]]:
    things = (
        thing for story in stories(split) for thing in (*story.clutter, *(e.thing for e in story.events))
    )
    return {(thing.kind_id, thing.variant) for thing in things}


def phrases(split: Split) -> Iterator[str]:
    for what in ACTIONS:
        yield from what.phrases[split]
    for where in SCENES:
        yield from where.phrases[split]
    for thing in KINDS:
        yield thing.aliases[split]


def test_splits_share_no_look_and_no_phrase() -> None:
    for one, other in itertools.combinations(SPLITS, 2):
        assert not set(VARIANTS[one]) & set(VARIANTS[other])
        assert not looks(one) & looks(other)
        assert not set(phrases(one)) & set(phrases(other))
        assert not {event.rewritten for s in stories(one) for event in s.events} & {
            event.rewritten for s in stories(other) for event in s.events
        }


def test_held_out_compositions_are_seen_in_the_other_splits_only() -> None:
    kept: dict[Split, int] = dict.fromkeys(SPLITS, 0)
    for split in SPLITS:
        for story in stories(split):
            for event in story.events:
                kept[split] += held_out(event.kind_id, event.action_id)
                kept[split] += held_out(event.kind_id, story.scene)
    assert kept["train"] == 0
    assert min(kept["dev"], kept["test"]) > 50


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
