"""Backgrounds and text cards of the demo's films."""

from __future__ import annotations

import random
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from corpora.demo.pen import SIDE, Color, Pen, mix
from corpora.demo.story import Scene, Theme

__all__ = ["HEIGHT", "THING_AT", "WIDTH", "stage"]

WIDTH, HEIGHT = 640, 360
THING_AT = (354, 38)
"""Upper left of the moving thing's square."""
CARD = (22, 64, 346, 268)
ACCENT: dict[Theme, Color] = {"workshop": (214, 116, 40), "kitchen": (176, 58, 52), "garden": (62, 128, 62)}


def stage(theme: Theme, scene: Scene, seed: int) -> Image.Image:
    """All that stands still in a scene: RGB, WIDTH x HEIGHT."""
    image = _background(theme, seed).copy()
    _shadow_under_thing(image)
    _card(image, scene, ACCENT[theme])
    return image


@lru_cache(maxsize=8)
def _background(theme: Theme, seed: int) -> Image.Image:
    chance = random.Random(f"{theme}:{seed}")
    pen = Pen(WIDTH, HEIGHT)
    {"workshop": _workshop, "kitchen": _kitchen, "garden": _garden}[theme](pen, chance)
    base = Image.new("RGBA", (WIDTH, HEIGHT), (255, 255, 255, 255))
    base.alpha_composite(pen.picture())
    return base.convert("RGB")


def _workshop(pen: Pen, chance: random.Random) -> None:
    _gradient(pen, (92, 102, 116), (64, 72, 84), 0, 280)
    for column in range(16, WIDTH, 24):
        for row in range(14, 272, 24):
            pen.disc(column, row, 2.4, fill=(52, 58, 68))
    pen.box(0, 280, WIDTH, 292, (196, 150, 98))
    _gradient(pen, (170, 122, 74), (126, 86, 50), 292, HEIGHT)
    for _ in range(26):
        x, y = chance.uniform(-40, WIDTH), chance.uniform(298, HEIGHT)
        pen.box(x, y, x + chance.uniform(40, 140), y + 1.4, (112, 74, 42))


def _kitchen(pen: Pen, chance: random.Random) -> None:
    pen.box(0, 0, WIDTH, 284, (204, 194, 176))
    for row in range(6):
        for column in range(-1, 9):
            left, top = column * 80 + (row % 2) * 40, row * 48
            shade = chance.randint(-5, 5)
            pen.box(left + 2, top + 2, left + 78, top + 46, (240 + shade, 233 + shade, 218 + shade), 4)
    pen.box(0, 280, WIDTH, 294, (110, 116, 122))
    _gradient(pen, (84, 90, 98), (58, 62, 70), 294, HEIGHT)
    for _ in range(130):
        x, y = chance.uniform(0, WIDTH), chance.uniform(296, HEIGHT)
        pen.disc(x, y, chance.uniform(0.6, 1.6), fill=(128, 134, 142))


def _garden(pen: Pen, chance: random.Random) -> None:
    _gradient(pen, (134, 190, 226), (222, 238, 240), 0, 230)
    pen.disc(574, 52, 28, fill=(252, 226, 126))
    for cloud, y in ((90, 40), (300, 30), (470, 84)):
        for dx, r in ((-24, 13), (0, 18), (24, 12)):
            pen.disc(cloud + dx + chance.uniform(-3, 3), y, r * 1.5, r * 0.8, fill=(255, 255, 255, 210))
    pen.disc(140, 330, 330, 130, fill=(126, 176, 104))
    pen.disc(520, 340, 320, 120, fill=(104, 158, 88))
    _gradient(pen, (118, 82, 54), (84, 56, 36), 290, HEIGHT)
    for row in range(3):
        pen.box(0, 302 + row * 20, WIDTH, 306 + row * 20, (74, 50, 32))
    for _ in range(60):
        pen.disc(chance.uniform(0, WIDTH), chance.uniform(292, HEIGHT), 1.6, fill=(140, 102, 70))


def _gradient(pen: Pen, above: Color, below: Color, top: int, bottom: int) -> None:
    for y in range(top, bottom, 2):
        pen.box(0, y, WIDTH, y + 2, mix(above, below, (y - top) / (bottom - top)))


def _shadow_under_thing(image: Image.Image) -> None:
    x = THING_AT[0] + SIDE // 2
    shadow = Image.new("L", image.size, 0)
    ImageDraw.Draw(shadow).ellipse((x - 112, 282, x + 112, 312), fill=110)
    image.paste((20, 16, 12), mask=shadow.filter(ImageFilter.GaussianBlur(7)))


def _card(image: Image.Image, scene: Scene, accent: Color) -> None:
    left, top, right, bottom = CARD
    if len(scene.lines) < 2:
        bottom = top + (144 if scene.lines else 84)
    shadow = Image.new("L", image.size, 0)
    ImageDraw.Draw(shadow).rounded_rectangle((left + 3, top + 5, right + 3, bottom + 5), 16, fill=120)
    image.paste((0, 0, 0), mask=shadow.filter(ImageFilter.GaussianBlur(6)))
    pen = Pen(WIDTH, HEIGHT)
    pen.box(left, top, right, bottom, (252, 250, 244), 14)
    pen.box(left, top + 14, left + 8, bottom - 14, accent)
    for order in range(len(scene.lines)):
        pen.disc(left + 32, top + 113 + order * 46, 4.5, fill=accent)
    image.paste(pen.picture(), mask=pen.picture())
    draw = ImageDraw.Draw(image)
    draw.text((left + 28, top + 24), scene.heading, font=_fitting(scene.heading, 32), fill=(34, 36, 42))
    for order, line in enumerate(scene.lines):
        where = (left + 46, top + 100 + order * 46)
        draw.text(where, line, font=_fitting(line, 22), fill=(52, 54, 62))


def _fitting(text: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The largest font, from `size` downwards, in which the text fits on the card."""
    while True:
        font = ImageFont.load_default(size)
        if size <= 14 or font.getlength(text) <= CARD[2] - CARD[0] - 62:
            return font
        size -= 1
