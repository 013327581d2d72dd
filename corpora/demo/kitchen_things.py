"""Drawings of the kitchen: French press, scales, kettle, loaf, oven."""

from __future__ import annotations

import math

from corpora.demo.pen import Color, Pen, mix

__all__ = ["kettle", "loaf", "oven", "press", "scales"]

STEEL: Color = (168, 176, 186)
COFFEE: Color = (78, 46, 26)
CRUST: Color = (190, 122, 58)


def press(t: float) -> Pen:
    """A French press whose plunger goes down."""
    pen = Pen()
    _steam(pen, 120, 70, t)
    pen.box(72, 92, 176, 240, (214, 228, 236, 150), 8)
    pen.box(76, 120, 172, 236, COFFEE, 6)
    pen.box(76, 120, 172, 130, (150, 104, 66), 3)
    plunge = 124 + 92 * t
    pen.box(121, 30 + 58 * t, 127, plunge, (196, 202, 210))
    pen.disc(124, 30 + 58 * t, 12, fill=(30, 32, 36))
    pen.box(78, plunge, 170, plunge + 9, (206, 212, 220), 3)
    pen.box(66, 82, 182, 98, STEEL, 6)
    pen.box(66, 232, 182, 248, STEEL, 5)
    for x in (72, 122, 172):
        pen.box(x, 94, x + 5, 238, (140, 148, 158))
    pen.arc(186, 166, 42, -80, 80, 14, (34, 36, 40))
    pen.shape([(68, 96), (48, 88), (68, 112)], (190, 206, 214))
    return pen


def scales(t: float) -> Pen:
    """Kitchen scales with a bowl that fills; the needle swings up."""
    pen = Pen()
    pen.shape([(54, 84), (216, 84), (190, 142), (80, 142)], (232, 236, 240))
    pen.disc(135, 84, 81, 14, fill=(206, 212, 220))
    pen.disc(135, 82 - 8 * t, 70, 10 + 10 * t, fill=(122, 78, 44))
    pen.box(124, 140, 146, 160, STEEL)
    pen.box(60, 156, 210, 248, (206, 70, 58), 16)
    pen.disc(135, 202, 40, fill=(250, 248, 240))
    for tick in range(11):
        angle = math.radians(150 + 24 * tick)
        x, y = 135 + 34 * math.cos(angle), 202 + 34 * math.sin(angle)
        pen.disc(x, y, 2.2, fill=(60, 62, 68))
    angle = math.radians(150 + 190 * min(1.0, t * 1.3))
    pen.line([(135, 202), (135 + 28 * math.cos(angle), 202 + 28 * math.sin(angle))], 4, (200, 40, 40))
    pen.disc(135, 202, 5, fill=(40, 42, 48))
    for step in range(6):
        fall = (t * 2 + step / 6) % 1
        if t < 0.9:
            pen.disc(128 + 14 * math.sin(step * 5), 10 + 62 * fall, 3.5, fill=(104, 66, 38))
    return pen


def kettle(t: float) -> Pen:
    """A kettle that tips over a glass and pours."""
    tip = 26 * min(1.0, t * 2)
    body = Pen()
    body.arc(158, 74, 44, 180, 360, 11, (38, 40, 46))
    body.shape([(112, 86), (204, 86), (226, 176), (90, 176)], (92, 150, 160))
    body.box(90, 168, 226, 180, (66, 116, 126), 6)
    body.disc(158, 86, 46, 9, fill=(120, 176, 184))
    body.disc(158, 76, 8, fill=(38, 40, 46))
    body.line([(100, 150), (66, 128), (56, 88), (38, 80)], 11, (92, 150, 160))
    pen = body.turned(tip, 158, 130)
    under = Pen()
    under.box(24, 188, 104, 254, (214, 228, 236, 170), 8)
    level = 250 - 48 * max(0.0, t - 0.3) / 0.7
    under.box(28, level, 100, 250, (150, 112, 80), 5)
    if 0.3 < t < 0.97:
        under.line([(48, 128), (50, 160), (52, level)], 6, (120, 186, 226, 220))
    _steam(under, 66, 180, t)
    return pen.over(under)


def loaf(t: float) -> Pen:
    """A loaf that rises and browns."""
    pen = Pen()
    _steam(pen, 135, 96, t)
    pen.box(30, 214, 240, 234, (150, 104, 62), 8)
    height = 46 + 26 * t
    crust = mix((228, 206, 164), CRUST, t)
    pen.disc(135, 214 - height * 0.72, 96, height, fill=crust)
    pen.box(39, 214 - height * 0.6, 231, 216, crust, 22)
    for cut in (-52, -12, 28):
        slit = [(135 + cut, 196), (135 + cut + 30, 214 - height * 1.4)]
        pen.line(slit, 9, mix((236, 222, 190), (244, 220, 170), t))
    for speck in range(16):
        x, y = 62 + (speck * 53) % 146, 176 + (speck * 31) % 34
        pen.disc(x, y, 2, fill=(244, 232, 206))
    return pen


def oven(t: float) -> Pen:
    """An oven front with a pot in the glow."""
    glow = 0.75 + 0.25 * math.sin(t * 3 * math.tau)
    pen = Pen()
    pen.box(22, 20, 248, 250, (92, 98, 108), 14)
    pen.box(34, 32, 236, 66, (58, 62, 70), 8)
    for knob in range(4):
        pen.disc(62 + knob * 48, 49, 11, fill=(206, 210, 216))
        pen.box(60.5 + knob * 48, 40, 63.5 + knob * 48, 49, (58, 62, 70))
    pen.box(38, 84, 232, 96, (206, 210, 216), 6)
    pen.box(38, 106, 232, 236, mix((70, 34, 20), (226, 118, 40), glow), 10)
    pen.box(44, 206, 226, 211, (60, 40, 34))
    pen.box(84, 156, 186, 206, (34, 36, 42), 12)
    pen.box(78, 148, 192, 162, (52, 54, 62), 7)
    pen.disc(135, 144, 9, fill=(70, 72, 80))
    pen.box(66, 166, 84, 176, (34, 36, 42), 4)
    pen.box(186, 166, 204, 176, (34, 36, 42), 4)
    return pen


def _steam(pen: Pen, x: float, y: float, t: float) -> None:
    for puff in range(6):
        rise = (t * 2 + puff / 6) % 1
        white = (255, 255, 255, round(130 * (1 - rise)))
        pen.disc(x + 22 * (puff % 3 - 1) + 8 * math.sin(rise * 6), y - 60 * rise, 5 + 6 * rise, fill=white)
