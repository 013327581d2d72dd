"""The labels of a rendered moment are those of its story."""

from __future__ import annotations

import random

import numpy as np
from PIL import Image

from eval.workbench.catalogue import KINDS, LIGHTS, PROPS, SCENES
from eval.workbench.renderer import FrameRenderer
from eval.workbench.story import VARIANTS, plan_clip
from training.captions import ACTS, IDLE, NONE, decor
from training.drawing import (
    FRAME,
    LABELS,
    SPOTS,
    THINGS,
    collage,
    labels_at,
    moments,
    small,
    some_things,
    spots_at,
)

STORY = plan_clip(4, "train")


def test_labels_name_what_is_seen_and_done() -> None:
    for event in STORY.events:
        seen = dict(zip(LABELS, labels_at(STORY, event.seen_from), strict=True))
        assert KINDS[seen["object"]].kind_id == event.kind_id
        act = ACTS[seen["act"]]
        assert (act.agent, act.action_id, act.place) == (event.agent, event.action_id, event.place)
        hidden = dict(zip(LABELS, labels_at(STORY, event.seen_until), strict=True))
        assert (hidden["object"], hidden["act"]) == (NONE, seen["act"])
    idle = dict(zip(LABELS, labels_at(STORY, 0.0), strict=True))
    assert (idle["object"], idle["act"]) == (NONE, IDLE)
    assert (SCENES[idle["scene"]].scene_id, LIGHTS[idle["light"]]) == (STORY.scene, STORY.light)
    labelled = [decor()[idle[name]] for name in ("prop", "other_prop")]
    assert labelled == [(prop.prop_id, prop.color) for prop in STORY.props]
    assert {prop for prop, _ in labelled} <= set(PROPS)


def test_the_first_spot_is_the_thing_in_use_or_none() -> None:
    renderer = FrameRenderer(STORY, 72)
    event = STORY.events[0]
    used, idle = spots_at(renderer, event.seen_from), spots_at(renderer, 0.0)
    assert np.shape(used) == np.shape(idle) == (SPOTS, 3)
    assert KINDS[int(used[0][0])].kind_id == event.kind_id
    assert idle[0][0] == -1
    lying = {KINDS[int(kind)].kind_id for kind, _, _ in idle if kind >= 0}
    assert lying
    assert lying <= {thing.kind_id for thing in STORY.clutter}


def test_most_moments_show_an_object() -> None:
    found = moments(STORY, random.Random(1), 400)
    shown = sum(any(e.seen_from <= t < e.seen_until for e in STORY.events) for t in found)
    between = sum(not any(e.start <= t < e.end for e in STORY.events) for t in found)
    assert shown / 400 > 0.55
    assert 0.08 < between / 400 < 0.3


def test_a_collage_labels_every_place_and_has_train_looks_alone() -> None:
    rng = random.Random(2)
    things = some_things(rng)
    assert all(thing.variant in VARIANTS["train"] for thing in things)
    image, laid = collage(rng, things)
    assert np.shape(laid) == (THINGS, 3)
    assert {KINDS[int(kind)].kind_id for kind, _, _ in laid} <= {thing.kind_id for thing in things}
    assert all(0 < x < 1 and 0 < y < 1 for _, x, y in laid)
    assert small(image).shape == (*FRAME, 3)
    assert small(Image.new("RGB", (640, 360))).dtype == np.uint8
