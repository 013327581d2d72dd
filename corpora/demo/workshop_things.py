"""Drawings of the workshop: torque wrench, wheel, soldering iron, circuit board."""

from __future__ import annotations

import math

from corpora.demo.pen import Color, Pen, mix

__all__ = ["board", "iron", "wheel", "wrench"]

STEEL: Color = (176, 184, 194)
DARK_STEEL: Color = (104, 112, 124)
RED: Color = (200, 54, 48)
BLUE: Color = (40, 104, 178)
STAR = (0, 2, 4, 1, 3)


def wrench(t: float) -> Pen:
    """A torque wrench that swings around a nut."""
    swing = 34 * math.sin(t * math.tau)
    pen = Pen()
    pen.box(52, 122, 222, 144, STEEL, 8)
    pen.box(96, 126, 158, 140, (238, 240, 242), 4)
    for tick in range(9):
        pen.box(100 + tick * 7, 128, 101.5 + tick * 7, 138 if tick % 2 == 0 else 134, (40, 44, 52))
    pen.box(124, 126, 127, 140, RED)
    pen.box(170, 116, 258, 150, RED, 14)
    for ridge in range(7):
        pen.box(182 + ridge * 10, 118, 186 + ridge * 10, 148, (156, 36, 34), 2)
    pen.disc(52, 133, 31, fill=DARK_STEEL)
    pen.disc(52, 133, 24, fill=STEEL)
    pen.disc(52, 133, 15, fill=DARK_STEEL)
    turned = pen.turned(swing, 52, 133)
    nut = [(52 + 11 * math.cos(a), 133 + 11 * math.sin(a)) for a in _angles(6, swing)]
    turned.shape(nut, (226, 192, 84))
    turned.disc(52, 133, 4, fill=(120, 96, 30))
    return turned


def wheel(t: float) -> Pen:
    """A wheel whose five nuts turn green in star order."""
    pen = Pen()
    pen.disc(135, 135, 124, fill=(34, 36, 40))
    pen.disc(135, 135, 112, fill=(48, 50, 56))
    pen.disc(135, 135, 88, fill=STEEL)
    pen.disc(135, 135, 80, fill=(206, 212, 220))
    for angle in _angles(10, 18):
        pen.disc(135 + 64 * math.cos(angle), 135 + 64 * math.sin(angle), 9, fill=(86, 92, 102))
    pen.disc(135, 135, 46, fill=(156, 164, 176))
    pen.disc(135, 135, 15, fill=(80, 86, 96))
    tight = round(t * 5)
    places = _angles(5, -90)
    for order, place in enumerate(STAR):
        x, y = 135 + 32 * math.cos(places[place]), 135 + 32 * math.sin(places[place])
        color: Color = (60, 170, 84) if order < tight else (232, 150, 44)
        pen.shape([(x + 10 * math.cos(a), y + 10 * math.sin(a)) for a in _angles(6, 30)], color)
        pen.disc(x, y, 4, fill=(44, 48, 54))
    return pen


def iron(t: float) -> Pen:
    """A soldering iron in its stand; the tip glows and smokes as it heats."""
    hot = 0.5 - 0.5 * math.cos(t * math.tau)
    pen = Pen()
    _smoke(pen, 44, 150, t)
    pen.box(60, 222, 232, 244, (58, 62, 70), 10)
    for coil in range(6):
        pen.arc(112 + coil * 9, 150 + coil * 4, 26, 100, 290, 4, (150, 156, 164))
    pen.box(108, 176, 118, 226, (72, 76, 84), 4)
    handle = Pen()
    handle.shape([(20, 135), (58, 126), (58, 144)], mix((150, 154, 160), (255, 128, 32), hot))
    handle.box(56, 124, 130, 146, STEEL, 4)
    handle.box(122, 118, 142, 152, (230, 190, 70), 5)
    handle.box(138, 114, 236, 156, BLUE, 16)
    handle.box(150, 114, 168, 156, (28, 76, 136), 6)
    handle.line([(234, 135), (258, 138), (268, 160)], 7, (36, 38, 44))
    return handle.turned(-24, 135, 150).over(pen)


def board(t: float) -> Pen:
    """A circuit board; the tip comes down to a pad and a cone of solder grows."""
    pen = Pen()
    pen.box(20, 96, 250, 226, (18, 104, 66), 10)
    for row in range(4):
        y = 116 + row * 30
        pen.line([(34, y), (90 + row * 14, y), (112 + row * 14, y + 14), (236, y + 14)], 3, (64, 160, 104))
    for x in range(44, 236, 24):
        pen.disc(x, 212, 6, fill=(222, 184, 84))
        pen.disc(x, 212, 2.5, fill=(40, 44, 48))
    pen.box(150, 118, 214, 168, (34, 36, 42), 4)
    for leg in range(5):
        pen.box(155 + leg * 12, 110, 160 + leg * 12, 118, STEEL)
        pen.box(155 + leg * 12, 168, 160 + leg * 12, 176, STEEL)
    pen.disc(88, 170, 20, 9, fill=(222, 184, 84))
    pen.box(85, 112, 91, 172, (206, 120, 60), 2)
    grown = 34 * min(1.0, t * 1.2)
    pen.shape([(70, 172), (88 - 3, 172 - grown), (88 + 3, 172 - grown), (106, 172)], (214, 220, 228))
    near = 1 - min(1.0, t * 3)
    tip = (98 + 40 * near, 160 - 60 * near)
    pen.line([tip, (tip[0] + 40, tip[1] - 46)], 8, (170, 176, 184))
    pen.line([(tip[0] + 40, tip[1] - 46), (tip[0] + 100, tip[1] - 115)], 22, BLUE)
    return pen


def _smoke(pen: Pen, x: float, y: float, t: float) -> None:
    for puff in range(5):
        rise = (t + puff / 5) % 1
        gray = (210, 214, 220, round(150 * (1 - rise)))
        pen.disc(x + 10 * math.sin(rise * 7), y - 90 * rise, 5 + 9 * rise, fill=gray)


def _angles(count: int, degrees: float) -> list[float]:
    return [math.radians(degrees) + math.tau * i / count for i in range(count)]
