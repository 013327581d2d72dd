"""Frames of stories: they depend on seed and time alone, and what is hidden is not rendered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eval.workbench.backdrops import render_person
from eval.workbench.catalogue import ACTIONS
from eval.workbench.event_scene import AFTER, BEFORE, BETWEEN, GESTURES
from eval.workbench.pen import STYLES
from eval.workbench.renderer import FrameRenderer
from eval.workbench.shapes import HAND_RECIPES
from eval.workbench.story import LIGHTS, ClipStory, Thing, plan_clip
from eval.workbench.video import Render, clip_frames

HEIGHT = 72
STORY = plan_clip(5, "dev")


def other_thing(story: ClipStory, number: int) -> ClipStory:
    """The same story, with another object in one event."""
    event = story.events[number]
    kind_id = "pineapple" if event.kind_id != "pineapple" else "hammer"
    changed = replace(event, thing=Thing(kind_id, event.thing.variant))
    return replace(story, events=(*story.events[:number], changed, *story.events[number + 1 :]))


def test_every_action_has_a_gesture() -> None:
    assert set(GESTURES) == {what.action_id for what in ACTIONS}
    assert {pose for found in GESTURES.values() for pose in (found.pose, found.other)} == {"", *HAND_RECIPES}
    assert {found.effect for found in GESTURES.values()} == {"", *BEFORE, *BETWEEN, *AFTER}


def test_a_frame_depends_on_seed_and_time_alone() -> None:
    times = [0.0, 4.3, 11.7, 29.9]
    one, other = FrameRenderer(STORY, HEIGHT), FrameRenderer(STORY, HEIGHT)
    forwards = {t: one.frame(t).tobytes() for t in times}
    backwards = {t: other.frame(t).tobytes() for t in reversed(times)}
    assert forwards == backwards
    assert len(set(forwards.values())) == len(times)
    assert FrameRenderer(plan_clip(6, "dev"), HEIGHT).frame(0.0).tobytes() != forwards[0.0]


def test_frames_have_the_promised_shape() -> None:
    short = replace(STORY, duration=1.0)
    frames = list(clip_frames(short, Render(height=HEIGHT, fps=4)))
    assert [frame.shape for frame in frames] == [(72, 128, 3)] * 4
    assert frames[0].dtype == np.uint8
    assert (frames[1] == FrameRenderer(short, HEIGHT).frame(0.25)).all()


@pytest.mark.parametrize("seed", [5, 8])
def test_an_object_is_rendered_while_it_is_seen_and_at_no_other_time(seed: int) -> None:
    story = plan_clip(seed, "train")
    shown = FrameRenderer(story, HEIGHT)
    for number, event in enumerate(story.events):
        swapped = FrameRenderer(other_thing(story, number), HEIGHT)
        middle = (event.seen_from + event.seen_until) / 2
        for t in (event.seen_from, middle, event.seen_until - 0.01):
            assert (shown.frame(t) != swapped.frame(t)).any()
        for t in (event.start, event.seen_from - 0.01, event.seen_until, event.end - 0.01, event.end + 0.1):
            assert (shown.frame(t) == swapped.frame(t)).all()


def test_the_camera_sways_while_nothing_happens() -> None:
    still = replace(STORY, events=())
    renderer = FrameRenderer(still, HEIGHT)
    assert (renderer.frame(1.0) != renderer.frame(2.0)).any()


def test_light_and_style_change_the_frames_and_not_the_story() -> None:
    images = [FrameRenderer(replace(STORY, light=light), HEIGHT).frame(2.0) for light in LIGHTS]
    warm, cold, _ = (image.mean(axis=(0, 1)) for image in images)
    assert warm[0] / warm[2] > cold[0] / cold[2]
    found = {FrameRenderer(plan_clip(5, "dev", style=style), HEIGHT).frame(2.0).tobytes() for style in STYLES}
    assert len(found) == len(STYLES)
    assert {plan_clip(5, "dev", style=style).events for style in STYLES} == {STORY.events}


def test_the_other_person_is_there_when_the_story_has_one() -> None:
    from PIL import Image

    with_woman = replace(STORY, person="woman")
    for story, changes in ((with_woman, True), (replace(STORY, person=""), False)):
        image = Image.new("RGB", (160, 90))
        render_person(image, story, 72)
        assert (image.getbbox() is not None) is changes
