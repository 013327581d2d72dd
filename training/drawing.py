"""Frames of train stories, rendered by a process of their own into a pool that the trainer reads.

Collages have many objects at known places in one image: they teach what objects look like faster than
stories do.
"""

from __future__ import annotations

import io
import os
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from eval.workbench.backdrops import WIDE
from eval.workbench.catalogue import COLORS, KINDS, LIGHTS, PROPS, SCENES
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stream
from eval.workbench.sprites import hand_sprite, level, scaled, thing_sprite
from eval.workbench.story import VARIANTS, ClipStory, Thing, plan_clip
from training.captions import IDLE, NONE, act_of, kind_number, sentence_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


HEIGHT, WIDTH = 216, 384
COLUMNS, ROWS = 3, 2
THINGS = COLUMNS * ROWS
SLEEVES = ((90, 90, 90), (206, 44, 40), (40, 92, 200), (240, 240, 236), (48, 150, 66))
POSES = ("claw", "palm", "pinch", "fist")
SKINS = ((244, 206, 176), (226, 178, 140), (190, 138, 100), (140, 96, 66), (100, 66, 46))
FRAME = (108, 192)
"""Height and width of the frames in the pool: larger than what the tower sees, so that they can be varied."""
LABELS = ("object", "act", "scene", "light", "prop", "other_prop")
PAINTED = 216
"""Height at which stories are rendered."""
A_STORY = 4
"""Frames of one story."""
STORIES = 24
"""Stories whose descriptions are read at once."""
AHEAD = 1024
"""Frames by which the artist may be ahead of the learners."""
AT_ONCE = 12
"""Collages at a time."""
SPOTS = 8
"""Things of a frame whose place is labelled."""


def some_things(rng: random.Random) -> list[Thing]:
    """Train looks for a few collages: drawing a thing costs more than laying it."""
    return [Thing(kind.kind_id, rng.choice(VARIANTS["train"])) for kind in rng.sample(KINDS, 40)]


def collage(rng: random.Random, things: list[Thing]) -> tuple[Image.Image, list[list[float]]]:
    """The image, and of each thing the number of its kind and its place in shares of width and height."""
    image = _ground(rng)
    laid = []
    for slot, thing in enumerate(rng.choices(things, k=THINGS)):
        x = (slot % COLUMNS + 0.5 + rng.uniform(-0.2, 0.2)) / COLUMNS
        y = (slot // COLUMNS + 0.5 + rng.uniform(-0.15, 0.15)) / ROWS
        size = rng.uniform(0.42, 0.64) * HEIGHT
        sprite = scaled(thing_sprite(thing, 162, "live"), size, rng.uniform(-45, 45))
        _paste(image, sprite, x * WIDTH, y * HEIGHT)
        if rng.random() < 0.7:
            hand = hand_sprite(
                rng.choice(POSES), rng.choice(SKINS), rng.choice(SLEEVES), level(0.42 * HEIGHT), "live"
            )
            up = rng.random() < 0.75
            turned = scaled(
                hand, size * 0.8, (0 if up else 180) + rng.uniform(-30, 30), mirror=rng.random() < 0.5
            )
            _paste(image, turned, x * WIDTH, y * HEIGHT + (1 if up else -1) * 0.5 * size)
        laid.append([float(kind_number(thing.kind_id)), x, y])
    gains = [rng.uniform(0.68, 1.15) for _ in range(3)]
    table = [min(255, round(value * gain)) for gain in gains for value in range(256)]
    return image.point(table), laid


def _ground(rng: random.Random) -> Image.Image:
    """Patches of quiet colours with grain."""
    noise = np.random.default_rng(rng.getrandbits(32))
    coarse = noise.uniform(60, 230) + noise.uniform(-45, 45, (4, 6, 3))
    ground = Image.fromarray(np.clip(coarse, 0, 255).astype(np.uint8)).resize(
        (WIDTH, HEIGHT), rng.choice((0, 3))
    )
    grain = noise.normal(0, 5, (HEIGHT, WIDTH, 1))
    return Image.fromarray(np.clip(np.asarray(ground) + grain, 0, 255).astype(np.uint8))


def _paste(image: Image.Image, sprite: Image.Image, x: float, y: float) -> None:
    image.paste(sprite, (round(x - sprite.width / 2), round(y - sprite.height / 2)), sprite)


@dataclass
class Pool:
    """Shared tensors, a ring of frames with what they show."""

    frames: Any
    """uint8 (n, height, width, 3)"""
    labels: Any
    """int64 (n, 6), in the order of `LABELS`"""
    described: Any
    """float32 (n, 384): the sentence vector of the story's description"""
    spots: Any
    """float32 (n, 8, 3): kind or -1, x and y in shares of width and height; the thing in use first, if any"""
    collages: Any
    """uint8 (m, height, width, 3)"""
    laid: Any
    """float32 (m, 6, 3): as `spots`, of what is in each collage"""
    written: Any
    """int64 (2,): how many frames and collages were ever written"""
    used: Any
    """int64 (2,): how many the trainers have taken, times over"""

    @classmethod
    def empty(cls, size: int) -> Pool:
        """A pool of zeros in shared memory."""
        import torch

        return cls(
            torch.zeros((size, *FRAME, 3), dtype=torch.uint8).share_memory_(),
            torch.zeros((size, len(LABELS)), dtype=torch.int64).share_memory_(),
            torch.zeros((size, 384), dtype=torch.float32).share_memory_(),
            torch.zeros((size, SPOTS, 3), dtype=torch.float32).share_memory_(),
            torch.zeros((size // 2, *FRAME, 3), dtype=torch.uint8).share_memory_(),
            torch.zeros((size // 2, THINGS, 3), dtype=torch.float32).share_memory_(),
            torch.zeros(2, dtype=torch.int64).share_memory_(),
            torch.zeros(2, dtype=torch.int64).share_memory_(),
        )


def render_endlessly(pool: Pool, seed: int, reuse: float, parent: int) -> None:
    """Fills the pool round and round, as far ahead of the trainer as `reuse` of every frame allows."""
    import torch

    torch.set_num_threads(1)
    size = len(pool.frames)
    story_seed = seed * 100_000_000
    while True:
        stories = [plan_clip(story_seed + step, "train") for step in range(STORIES)]
        story_seed += STORIES
        described = sentence_vectors([f"a video that shows {story.description}" for story in stories])
        for story, vector in zip(stories, described, strict=True):
            rng = stream("frames", seed, story.seed)
            _place_shape(pool, rng, reuse)
            while int(pool.written[0]) > AHEAD + int(pool.used[0]) / reuse:
                time.sleep(0.02)
                _place_shape(pool, rng, reuse)
                if os.getppid() != parent:
                    return
            renderer = FrameRenderer(story, PAINTED)
            for moment in moments(story, rng, A_STORY):
                place = int(pool.written[0]) % size
                image = compressed(renderer.image(moment), rng)
                pool.frames[place] = torch.from_numpy(small(image))
                pool.labels[place] = torch.tensor(labels_at(story, moment))
                pool.described[place] = torch.from_numpy(vector)
                pool.spots[place] = torch.tensor(spots_at(renderer, moment))
                pool.written[0] += 1


def _place_shape(pool: Pool, rng: random.Random, reuse: float) -> None:
    """Collages, as far ahead of the learners as frames are; at most a few at a time."""
    import torch

    if int(pool.written[1]) > AHEAD + int(pool.used[1]) / reuse:
        return
    things = some_things(rng)
    for _ in range(AT_ONCE):
        image, laid = collage(rng, things)
        place = int(pool.written[1]) % len(pool.collages)
        pool.collages[place] = torch.from_numpy(small(compressed(image, rng)))
        pool.laid[place] = torch.tensor(laid)
        pool.written[1] += 1


def moments(story: ClipStory, rng: random.Random, count: int) -> list[float]:
    """Times: 60 % with the object in view, 25 % in events without it, 15 % between events."""
    found: list[float] = []
    while len(found) < count:
        share, event = rng.random(), rng.choice(story.events)
        if share < 0.6:
            found.append(rng.uniform(event.seen_from, event.seen_until - 0.01))
        elif share < 0.85:
            moment = rng.uniform(event.start, event.end - 0.01)
            if not event.seen_from <= moment < event.seen_until:
                found.append(moment)
        else:
            moment = rng.uniform(0, story.duration)
            if not any(e.start <= moment < e.end for e in story.events):
                found.append(moment)
    return found


def labels_at(story: ClipStory, moment: float) -> list[int]:
    """What is seen at a moment, in the order of `LABELS`."""
    event = next((e for e in story.events if e.start <= moment < e.end), None)
    seen = event is not None and event.seen_from <= moment < event.seen_until
    scenes = [scene.scene_id for scene in SCENES]
    colors = list(COLORS)
    props = [PROPS.index(prop.prop_id) * len(colors) + colors.index(prop.color) for prop in story.props[:2]]
    return [
        kind_number(event.kind_id) if event is not None and seen else NONE,
        IDLE if event is None else act_of(event),
        scenes.index(story.scene),
        LIGHTS.index(story.light),
        *props,
    ]


def spots_at(renderer: FrameRenderer, moment: float) -> list[list[float]]:
    """(8, 3): what is where, as `Pool.spots` has it; a first row of kind -1 where nothing is in use."""
    used = any(e.seen_from <= moment < e.seen_until for e in renderer.story.events)
    found = [] if used else [[-1.0, 0.0, 0.0]]
    for spot in renderer.things(moment):
        x, y = spot.x / WIDE, spot.y
        inside = 0.02 < x < 0.98 and 0.02 < y < 0.98
        found.append([float(kind_number(spot.thing.kind_id)) if inside else -1.0, x, y])
    return (found + [[-1.0, 0.0, 0.0]] * SPOTS)[:SPOTS]


def compressed(image: Image.Image, rng: random.Random) -> Image.Image:
    """As a video codec leaves it, for two frames of three."""
    if rng.random() < 0.33:
        return image
    kept = io.BytesIO()
    image.save(kept, "JPEG", quality=rng.randint(35, 92))
    return Image.open(kept)


def small(image: Image.Image) -> NDArray[np.uint8]:
    """An image of any size as the pool has it; uint8 (108, 192, 3)."""
    return np.array(image.convert("RGB").resize((FRAME[1], FRAME[0]), Image.Resampling.BOX))
