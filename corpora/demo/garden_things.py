"""Drawings of the garden: tomato plant, watering can, shears, drip line."""

from __future__ import annotations

import math

from corpora.demo.pen import Color, Pen, mix

__all__ = ["can", "drip", "shears", "tomato"]

LEAF: Color = (58, 132, 62)
DARK_LEAF: Color = (38, 98, 50)
WATER: Color = (70, 150, 214)


def tomato(t: float) -> Pen:
    """A tomato plant at its stake; the fruit ripens."""
    pen = Pen()
    pen.box(146, 14, 153, 250, (150, 108, 66), 3)
    sway = 3 * math.sin(t * math.tau)
    stem = [(132, 252), (130, 190), (136 + sway / 2, 120), (132 + sway, 36)]
    pen.line(stem, 7, DARK_LEAF)
    for order, (x, y, side) in enumerate(
        ((132, 44, -1), (134, 66, 1), (134, 104, -1), (133, 132, 1), (131, 172, -1), (131, 200, 1))
    ):
        _leaf(pen, x + sway * (200 - y) / 200, y, side, 54 + 4 * order)
    for order, (x, y) in enumerate(((94, 150), (118, 160), (100, 174), (168, 184), (188, 176), (172, 100))):
        ripe = min(1.0, max(0.0, t * 1.6 - order * 0.1))
        pen.disc(x, y, 16, 15, fill=mix((132, 176, 74), (212, 48, 38), ripe))
        pen.disc(x - 5, y - 5, 4, 3, fill=(255, 255, 255, 110))
        for angle in (200, 245, 290, 335):
            dx, dy = 10 * math.cos(math.radians(angle)), 10 * math.sin(math.radians(angle))
            pen.line([(x, y - 13), (x + dx, y - 13 - dy / 4)], 3, DARK_LEAF)
    return pen


def can(t: float) -> Pen:
    """A watering can that tips and waters a seedling."""
    body = Pen()
    body.arc(196, 104, 44, -110, 90, 11, (44, 112, 128))
    body.box(112, 74, 204, 160, (62, 148, 164), 10)
    body.box(112, 84, 204, 94, (44, 112, 128))
    body.line([(116, 142), (66, 92), (46, 76)], 14, (62, 148, 164))
    body.shape([(30, 82), (52, 60), (60, 74), (44, 92)], (44, 112, 128))
    pen = body.turned(24 * min(1.0, t * 2), 158, 120)
    under = Pen()
    under.disc(70, 250, 62, 14, fill=(92, 62, 42))
    under.line([(66, 248), (66, 212)], 5, DARK_LEAF)
    _leaf(under, 66, 224, -1, 34)
    _leaf(under, 66, 216, 1, 34)
    for drop in range(12):
        fall = (t * 3 + drop * 0.37) % 1
        if t > 0.25:
            under.disc(32 + (drop * 17) % 44, 118 + 110 * fall, 2.6, 5, fill=WATER)
    return pen.over(under)


def shears(t: float) -> Pen:
    """Pruning shears that close around a shoot."""
    opening = 16 * abs(math.cos(t * math.tau))
    under = Pen()
    under.line([(60, 250), (66, 150), (58, 20)], 9, DARK_LEAF)
    _leaf(under, 64, 70, -1, 48)
    _leaf(under, 65, 130, 1, 44)
    _leaf(under, 62, 190, -1, 50)
    upper = Pen()
    upper.shape([(150, 124), (70, 96), (54, 108), (70, 124), (150, 142)], (186, 194, 202))
    upper.line([(150, 134), (206, 160), (254, 174)], 20, (206, 56, 48))
    lower = Pen()
    lower.shape([(150, 124), (84, 136), (68, 150), (88, 156), (150, 142)], (150, 158, 168))
    lower.line([(150, 134), (206, 108), (254, 94)], 20, (206, 56, 48))
    pen = lower.turned(opening / 2, 150, 133).over(under)
    pen = upper.turned(-opening, 150, 133).over(pen)
    pen.disc(150, 133, 9, fill=(60, 64, 72))
    pen.disc(150, 133, 4, fill=(190, 196, 204))
    return pen


def drip(t: float) -> Pen:
    """A hose along a row of seedlings; each dripper lets drops fall."""
    pen = Pen()
    pen.box(0, 196, 270, 262, (96, 66, 44), 12)
    for x in (44, 134, 224):
        pen.line([(x + 22, 198), (x + 22, 160)], 5, DARK_LEAF)
        for height, size in ((184, 40), (168, 34)):
            _leaf(pen, x + 22, height, -1, size)
            _leaf(pen, x + 22, height, 1, size)
    pen.line([(0, 128), (60, 122), (150, 130), (270, 124)], 15, (38, 40, 46))
    pen.line([(0, 125), (60, 119), (150, 127), (270, 121)], 3, (96, 100, 110))
    for order, x in enumerate((40, 130, 220)):
        pen.box(x - 7, 126, x + 7, 146, (206, 96, 44), 4)
        fall = (t * 4 + order * 0.3) % 1
        pen.disc(x, 150 + 48 * fall, 4, 6, fill=WATER)
        pen.disc(x, 202, 10 + 14 * t, 4 + 3 * t, fill=(64, 44, 32))
    return pen


def _leaf(pen: Pen, x: float, y: float, side: int, length: float) -> None:
    tip = (x + side * length, y - length * 0.22)
    above = (x + side * length * 0.5, y - length * 0.48)
    below = (x + side * length * 0.55, y + length * 0.16)
    pen.shape([(x, y), above, tip, below], LEAF)
    pen.line([(x, y), tip], 2, DARK_LEAF)
