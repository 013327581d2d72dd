"""Frames of stories: they depend on seed and time alone; every thing has an image of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eval.workbench.pen import STYLES, Look, Pen, Recipe
from eval.workbench.renderer import FrameRenderer
from eval.workbench.shapes import FIXTURE_RECIPES, KIND_RECIPES, PROP_RECIPES
from eval.workbench.story import LIGHTS, ClipStory, Thing, plan_clip

HEIGHT = 72
STORY = plan_clip(5, "dev")


def other_thing(story: ClipStory, number: int) -> ClipStory:
    """The same story, with another object in one event."""
    event = story.events[number]
    kind_id = "pineapple" if event.kind_id != "pineapple" else "hammer"
    changed = replace(event, thing=Thing(kind_id, event.thing.variant))
    return replace(story, events=(*story.events[:number], changed, *story.events[number + 1 :]))


def test_a_frame_depends_on_seed_and_time_alone() -> None:
    times = [0.0, 4.3, 11.7, 29.9]
    one, other = FrameRenderer(STORY, HEIGHT), FrameRenderer(STORY, HEIGHT)
    forwards = {t: one.frame(t).tobytes() for t in times}
    backwards = {t: other.frame(t).tobytes() for t in reversed(times)}
    assert forwards == backwards
    assert len(set(forwards.values())) == len(times)
    assert FrameRenderer(plan_clip(6, "dev"), HEIGHT).frame(0.0).tobytes() != forwards[0.0]


@pytest.mark.parametrize("seed", [5])
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


def test_light_and_style_change_the_frames_and_not_the_story() -> None:
    images = [FrameRenderer(replace(STORY, light=light), HEIGHT).frame(2.0) for light in LIGHTS]
    warm, cold, _ = (image.mean(axis=(0, 1)) for image in images)
    assert warm[0] / warm[2] > cold[0] / cold[2]
    found = {FrameRenderer(plan_clip(5, "dev", style=style), HEIGHT).frame(2.0).tobytes() for style in STYLES}
    assert len(found) == len(STYLES)
    assert {plan_clip(5, "dev", style=style).events for style in STYLES} == {STORY.events}


SIZE = 48
LOOKS = (
    Look(body=(52, 110, 190), accent=(236, 180, 60), stretch=-1.0, form=1, style="flat"),
    Look(body=(240, 240, 240), accent=(20, 20, 20), stretch=-0.5, form=4),
)


TABLES = {"kind": KIND_RECIPES, "fixture": FIXTURE_RECIPES, "prop": PROP_RECIPES}
RECIPES = {f"{table}.{name}": recipe for table, recipes in TABLES.items() for name, recipe in recipes.items()}


def _rendered(recipe: Recipe, look: Look) -> np.ndarray:
    pen = Pen(SIZE, look.style)
    recipe(pen, look)
    return np.asarray(pen.image())


@pytest.mark.parametrize("look", LOOKS)
def test_every_thing_has_an_image_of_its_own(look: Look) -> None:
    images = {name: _rendered(recipe, look).tobytes() for name, recipe in RECIPES.items()}
    assert len(set(images.values())) == len(images)
