"""Sprites of single objects: strokes and a look, rendered once and cached at a few sizes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image

from eval.workbench.catalogue import COLORS, PALETTE
from eval.workbench.pen import Color, Look, Pen, Style
from eval.workbench.seeds import stream
from eval.workbench.story import Thing
from eval.workbench.strokes import draw

LEVELS = (32, 48, 72, 108, 162, 243, 364)
"""Sizes in pixels at which sprites are kept; a drawing takes the next larger one and scales it down."""
MOST_KEPT = 64
"""Sprites of each kind that are kept: a clip has fewer. More would be gigabytes over many videos."""
KEPT = 16
"""Turned sprites that are kept at a time."""


def level(size: float) -> int:
    """The kept size for a wanted one."""
    return next((kept for kept in LEVELS if kept >= size), LEVELS[-1])


@lru_cache(maxsize=MOST_KEPT)
def thing_sprite(thing: Thing, size: int, style: Style) -> Image.Image:
    """RGBA, `size` x `size`, of one object; how a variant of a kind looks is known by its number alone."""
    rng = stream("look", thing.kind_id, thing.variant)
    look = Look(
        body=_jittered(rng.choice(PALETTE), rng.uniform(-18, 18)),
        accent=_jittered(rng.choice(PALETTE), rng.uniform(-18, 18)),
        stretch=rng.uniform(-1, 1),
        form=rng.randrange(6),
    )
    pen = Pen(size, style)
    draw("things", thing.kind_id, pen, look)
    wear = rng.random() ** 2
    return _worn(pen.image(), wear, stream("wear", thing.kind_id, thing.variant).getrandbits(32))


@lru_cache(maxsize=MOST_KEPT)
def fixture_sprite(fixture: str, variant: int, size: int, style: Style) -> Image.Image:
    """RGBA, `size` x `size`, of a fixture or an instrument."""
    rng = stream("fixture", fixture, variant)
    look = Look(rng.choice(PALETTE), rng.choice(PALETTE), rng.uniform(-1, 1), rng.randrange(4))
    pen = Pen(size, style)
    draw("fixtures", fixture, pen, look)
    return pen.image()


@lru_cache(maxsize=MOST_KEPT)
def prop_sprite(prop: str, color: str, form: int, size: int, style: Style) -> Image.Image:
    """RGBA, `size` x `size`, of a piece of decor in its colour."""
    pen = Pen(size, style)
    draw("decor", prop, pen, Look(COLORS[color], (120, 118, 116), form=form))
    return pen.image()


@lru_cache(maxsize=MOST_KEPT)
def hand_sprite(pose: str, skin: Color, sleeve: Color, size: int, style: Style) -> Image.Image:
    """A hand seen from above with the arm coming from below; the palm is at the middle."""
    pen = Pen(size, style)
    draw("hands", pose, pen, Look(skin, sleeve))
    return pen.image()


def scaled(sprite: Image.Image, size: float, angle: float, *, mirror: bool = False) -> Image.Image:
    """RGBA of about `size` pixels, turned by `angle` degrees counter-clockwise."""
    if mirror:
        sprite = sprite.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = max(2, round(size))
    if pixels != sprite.width:
        sprite = sprite.resize((pixels, pixels), Image.Resampling.BILINEAR)
    if abs(angle) > 0.5:
        sprite = sprite.rotate(angle, Image.Resampling.BILINEAR, expand=True)
    return sprite


class TurnedSprites:
    """`scaled`, with the last few results kept: most of an event is the same in every frame."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, float, float, bool], tuple[Image.Image, Image.Image]] = {}

    def __call__(self, sprite: Image.Image, size: float, angle: float, mirror: bool = False) -> Image.Image:
        key = (id(sprite), size, angle, mirror)
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            # The sprite is kept beside its result, so that no other can take its id.
            self._kept[key] = (sprite, scaled(sprite, size, angle, mirror=mirror))
        return self._kept[key][1]


def _jittered(color: Color, by: float) -> Color:
    red, green, blue = (min(255, max(0, round(part + by))) for part in color)
    return red, green, blue


def _worn(image: Image.Image, wear: float, seed: int) -> Image.Image:
    """Stains and scratches, more with more wear."""
    if wear < 0.15:
        return image
    pixels = np.asarray(image).astype(np.int16)
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(-1, 1, (6, 6)).astype(np.float32)
    stains = np.asarray(Image.fromarray(coarse).resize(image.size, Image.Resampling.BICUBIC))
    pixels[..., :3] += (stains[..., None] * 70 * wear).astype(np.int16)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGBA")
