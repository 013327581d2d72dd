"""The static parts of a clip, rendered once: wall and surface, the scene's furniture, decor and clutter."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw

from eval.workbench.pen import Canvas, Color, darker, lighter, mix
from eval.workbench.seeds import stream
from eval.workbench.sprites import level, prop_sprite, scaled, thing_sprite
from eval.workbench.story import ClipStory, Passer, Person

WIDE = 16 / 9
MARGIN = 0.10
"""How far the backdrop reaches beyond the frame on every side, in frame heights, for the camera to sway."""
HORIZON = 0.46
WOOD: Color = (170, 122, 74)
LEAF: Color = (86, 148, 70)
HAIR: tuple[Color, ...] = ((40, 28, 22), (92, 58, 32), (196, 156, 84), (150, 146, 142), (128, 48, 28))


def frame_width(height: int) -> int:
    """Pixels of a 16:9 frame, even as H.264 wants them."""
    return round(height * WIDE / 2) * 2


def backdrop(story: ClipStory, height: int) -> Image.Image:
    """RGB, a frame of `height` pixels with a margin of `MARGIN` around."""
    rng = stream("backdrop", story.split, story.stage_seed)
    size = (round((WIDE + 2 * MARGIN) * height), round((1 + 2 * MARGIN) * height))
    sheet = Canvas(Image.new("RGB", size, story.wall), height, MARGIN)
    sheet.box(-MARGIN, HORIZON, WIDE + MARGIN, 1 + MARGIN, story.surface)
    FURNITURE[story.scene](sheet, story, rng)
    for prop in story.props:
        side = 0.34 * height
        image = prop_sprite(prop.prop_id, prop.color, rng.randrange(2), level(side), story.style)
        sheet.paste(scaled(image, side, 0), prop.x, prop.y)
    for thing in story.clutter:
        side = rng.uniform(0.17, 0.26) * height
        image = scaled(thing_sprite(thing, level(side), story.style), side, rng.uniform(-70, 70))
        x = rng.choice((rng.uniform(-0.02, 0.42), rng.uniform(1.36, 1.80), rng.uniform(0.1, 1.7)))
        sheet.paste(image, x, rng.uniform(0.50, 0.95))
    return _textured(sheet.image, story, rng)


def render_person(image: Image.Image, story: ClipStory, height: int) -> None:
    """Render the other people into the backdrop: head and shoulders at the far side of the work.

    A woman has long hair, a man short hair and a beard.
    """
    if not story.person:
        return
    rng = stream("person", story.split, story.stage_seed)
    if not story.others:
        shown = [Person(story.person, story.shirt, story.skin, rng.uniform(0.85, 1.15))]
    else:
        # Two at a table: the first wherever the others are not.
        first = Person(story.person, story.shirt, story.skin, WIDE - story.others[0].x)
        shown = [first, *story.others]
    for person in shown:
        _render_one(image, person, rng.choice(HAIR), height)


def _render_one(image: Image.Image, person: Person, hair: Color, height: int) -> None:
    draw = ImageDraw.Draw(image)

    def box(x0: float, y0: float, x1: float, y1: float) -> list[float]:
        return [(part + MARGIN) * height for part in (person.x + x0, y0, person.x + x1, y1)]

    if person.who == "woman":
        draw.rounded_rectangle(box(-0.13, -0.08, 0.13, 0.30), radius=0.1 * height, fill=hair)
    draw.rounded_rectangle(
        box(-0.24, 0.20, 0.24, 0.50), radius=0.1 * height, fill=person.shirt, outline=darker(person.shirt)
    )
    draw.rectangle(box(-0.05, 0.14, 0.05, 0.24), fill=darker(person.skin, 0.15))
    draw.ellipse(box(-0.095, -0.05, 0.095, 0.19), fill=person.skin)
    draw.pieslice(box(-0.10, -0.07, 0.10, 0.15), 180, 360, fill=hair)
    if person.who == "man":
        draw.pieslice(box(-0.09, 0.02, 0.09, 0.20), 20, 160, fill=hair)
    for side in (-1, 1):
        draw.ellipse(box(side * 0.04 - 0.012, 0.06, side * 0.04 + 0.012, 0.085), fill=(30, 30, 30))


def render_passer(image: Image.Image, passer: Passer, t: float, height: int) -> None:
    """Render a person in front of everything, seen from behind: they step in, stand, and step out again."""
    pace = max(0.2, 0.25 * (passer.end - passer.start))
    inside = min(1.0, (t - passer.start) / pace, (passer.end - t) / pace)
    middle = WIDE / 2 + passer.side * (passer.beside + 0.3)
    outside = WIDE / 2 + passer.side * (WIDE / 2 + 0.4)
    x = outside + (middle - outside) * max(0.0, inside)
    draw = ImageDraw.Draw(image)
    shape = [(x - 0.3) * height, passer.top * height, (x + 0.3) * height, 1.3 * height]
    draw.rounded_rectangle(shape, radius=0.14 * height, fill=passer.shirt, outline=darker(passer.shirt))
    head = [
        (x - 0.12) * height,
        (passer.top - 0.26) * height,
        (x + 0.12) * height,
        (passer.top + 0.04) * height,
    ]
    draw.ellipse(head, fill=HAIR[passer.hair])


def _textured(image: Image.Image, story: ClipStory, rng: random.Random) -> Image.Image:
    """Uneven light, and grain in the live style."""
    pixels = np.asarray(image).astype(np.float32)
    noise = np.random.default_rng(rng.getrandbits(32))
    coarse = noise.uniform(0.78, 1.12, (4, 6)).astype(np.float32)
    light = np.asarray(Image.fromarray(coarse).resize(image.size, Image.Resampling.BICUBIC))
    if story.style in ("live", "shaded"):
        pixels *= light[..., None]
    if story.style == "live":
        pixels += noise.normal(0, 5, pixels.shape[:2]).astype(np.float32)[..., None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _garage(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    for row in range(6):
        for column in range(26):
            sheet.disc(0.04 + column * 0.07, 0.03 + row * 0.07, 0.008, darker(story.wall, 0.4))
    sheet.box(-MARGIN, HORIZON - 0.02, WIDE + MARGIN, HORIZON + 0.06, darker(WOOD, 0.3))
    for y in (0.60, 0.74, 0.88, 1.02):
        sheet.line(-MARGIN, y, WIDE + MARGIN, y + rng.uniform(-0.01, 0.01), darker(story.surface, 0.3))
    sheet.box(1.55, HORIZON + 0.02, 1.72, HORIZON + 0.16, (70, 76, 86), (30, 30, 34))


def _shed(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    for column in range(-1, 14):
        x = column * 0.15
        tone = mix(WOOD, story.wall, rng.uniform(0.1, 0.5))
        sheet.box(x, -MARGIN, x + 0.145, HORIZON, tone, darker(tone, 0.4))
    for _ in range(60):
        x, y = rng.uniform(-0.1, 1.9), rng.uniform(HORIZON, 1.1)
        sheet.line(x, y, x + rng.uniform(-0.05, 0.05), y + 0.01, mix(story.surface, (214, 186, 110), 0.6))


def _kitchen(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    for row in range(5):
        for column in range(-1, 17):
            x = column * 0.12 + (row % 2) * 0.06
            sheet.box(
                x, 0.0 + row * 0.09, x + 0.115, 0.085 + row * 0.09, lighter(story.wall, 0.4), story.wall
            )
    sheet.box(-MARGIN, HORIZON, WIDE + MARGIN, HORIZON + 0.05, darker(story.surface, 0.4))
    x = rng.choice((0.12, 1.35))
    sheet.box(x, 0.50, x + 0.36, 0.70, (46, 46, 50))
    for dx in (0.1, 0.26):
        sheet.disc(x + dx, 0.60, 0.07, (92, 40, 34))


def _living(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    couch = mix(story.shirt, (120, 110, 100), 0.6)
    x = rng.uniform(0.5, 0.9)
    sheet.box(x, 0.26, x + 0.9, 0.50, couch, darker(couch))
    sheet.box(x - 0.07, 0.32, x + 0.06, 0.52, lighter(couch, 0.2), darker(couch))
    sheet.box(x + 0.84, 0.32, x + 0.97, 0.52, lighter(couch, 0.2), darker(couch))
    for ring in range(4):
        tone = mix(story.surface, (150, 60, 60), 0.15 + 0.15 * (ring % 2))
        inset = ring * 0.09
        sheet.box(0.1 + inset, 0.58 + inset / 2, 1.68 - inset, 1.04 - inset / 2, tone)


def _bedroom(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    shift = rng.uniform(-0.05, 0.05)
    cover = mix(story.sleeve, (230, 230, 240), 0.6)
    sheet.box(0.0, 0.28, 1.0, 0.52, darker(WOOD, 0.4))
    sheet.polygon([(-0.1, 0.46), (1.1, 0.46), (1.4, 1.1), (-0.1, 1.1)], cover)
    for x in (0.15 + shift, 0.6 + shift):
        sheet.box(x, 0.40, x + 0.32, 0.54, (248, 248, 244), (170, 170, 180))
    for step in range(5):
        sheet.line(-0.1, 0.62 + step * 0.1, 1.15 + step * 0.05, 0.62 + step * 0.1, darker(cover, 0.12), 0.012)


def _desk(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    x = rng.uniform(0.75, 1.0)
    sheet.box(x, 0.16, x + 0.46, 0.42, (30, 32, 38), (10, 10, 12))
    sheet.box(x + 0.02, 0.18, x + 0.44, 0.40, mix((90, 140, 190), story.wall, 0.3))
    sheet.box(x + 0.2, 0.42, x + 0.26, 0.50, (40, 40, 46))
    sheet.polygon([(0.5, 0.62), (1.1, 0.62), (1.16, 0.82), (0.44, 0.82)], (60, 62, 70))
    for row in range(3):
        for key in range(10):
            sheet.box(
                0.5 + key * 0.058, 0.64 + row * 0.05, 0.54 + key * 0.058, 0.67 + row * 0.05, (200, 200, 205)
            )


def _bathroom(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    tile = mix(story.wall, (190, 220, 235), 0.6)
    for row in range(-1, 20):
        for column in range(-1, 30):
            if row * 0.065 < HORIZON:
                sheet.box(column * 0.065, row * 0.065, column * 0.065 + 0.06, row * 0.065 + 0.06, tile)
    sheet.box(-MARGIN, HORIZON, WIDE + MARGIN, HORIZON + 0.04, (236, 238, 240))
    x = rng.choice((0.3, 1.45))
    sheet.disc(x, 0.66, 0.16, (238, 242, 244))
    sheet.disc(x, 0.67, 0.12, (206, 216, 222))


def _garden(sheet: Canvas, story: ClipStory, rng: random.Random) -> None:
    sheet.box(-MARGIN, -MARGIN, WIDE + MARGIN, HORIZON, mix((140, 190, 236), story.wall, 0.25))
    for column in range(-1, 16):
        x = column * 0.13
        sheet.polygon(
            [(x, 0.46), (x, 0.24), (x + 0.05, 0.19), (x + 0.10, 0.24), (x + 0.10, 0.46)], (214, 200, 176)
        )
    sheet.box(-MARGIN, HORIZON, WIDE + MARGIN, 1 + MARGIN, mix(LEAF, story.surface, 0.3))
    for _ in range(170):
        x, y = rng.uniform(-0.1, 1.9), rng.uniform(HORIZON, 1.1)
        sheet.line(x, y, x + rng.uniform(-0.015, 0.015), y - 0.04, mix(LEAF, (30, 80, 30), rng.random()))


FURNITURE: dict[str, Callable[[Canvas, ClipStory, random.Random], None]] = {
    furniture.__name__.strip("_"): furniture
    for furniture in (_garage, _shed, _kitchen, _living, _bedroom, _desk, _bathroom, _garden)
}
