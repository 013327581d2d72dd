"""Many things at known places in one picture: they teach what things look like faster than stories do."""

from __future__ import annotations

import random

import numpy as np
from PIL import Image

from eval.workbench.catalogue import KINDS
from eval.workbench.sprites import hand_sprite, level, scaled, thing_sprite
from eval.workbench.story import VARIANTS, Thing
from training.captions import kind_number

__all__ = ["THINGS", "collage", "some_things"]

HEIGHT, WIDTH = 216, 384
COLUMNS, ROWS = 3, 2
THINGS = COLUMNS * ROWS
SLEEVES = ((90, 90, 90), (206, 44, 40), (40, 92, 200), (240, 240, 236), (48, 150, 66))
POSES = ("claw", "palm", "pinch", "fist")
SKINS = ((244, 206, 176), (226, 178, 140), (190, 138, 100), (140, 96, 66), (100, 66, 46))


def some_things(rng: random.Random) -> list[Thing]:
    """Train looks for a few collages: drawing a thing costs more than laying it."""
    return [Thing(kind.kind_id, rng.choice(VARIANTS["train"])) for kind in rng.sample(KINDS, 40)]


def collage(rng: random.Random, things: list[Thing]) -> tuple[Image.Image, list[list[float]]]:
    """The picture, and of each thing the number of its kind and its place in shares of width and height."""
    image = _ground(rng)
    laid = []
    for slot, thing in enumerate(rng.choices(things, k=THINGS)):
        x = (slot % COLUMNS + 0.5 + rng.uniform(-0.2, 0.2)) / COLUMNS
        y = (slot // COLUMNS + 0.5 + rng.uniform(-0.15, 0.15)) / ROWS
        size = rng.uniform(0.42, 0.64) * HEIGHT
        picture = scaled(thing_sprite(thing, 162, "live"), size, rng.uniform(-45, 45))
        _lay(image, picture, x * WIDTH, y * HEIGHT)
        if rng.random() < 0.7:
            hand = hand_sprite(
                rng.choice(POSES), rng.choice(SKINS), rng.choice(SLEEVES), level(0.42 * HEIGHT), "live"
            )
            up = rng.random() < 0.75
            turned = scaled(
                hand, size * 0.8, (0 if up else 180) + rng.uniform(-30, 30), mirror=rng.random() < 0.5
            )
            _lay(image, turned, x * WIDTH, y * HEIGHT + (1 if up else -1) * 0.5 * size)
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


def _lay(image: Image.Image, picture: Image.Image, x: float, y: float) -> None:
    image.paste(picture, (round(x - picture.width / 2), round(y - picture.height / 2)), picture)
