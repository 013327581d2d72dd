"""Recipes for the bath kinds."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, Point, Recipe, darker, lighter, mix
from eval.workbench.shapes.curves import bowed, rounded, turned

_WHITE: Color = (248, 248, 246)
_STEEL: Color = (190, 196, 204)
_INK: Color = (40, 42, 48)
_GLASS: Color = (190, 226, 240)


def toothbrush(pen: Pen, look: Look) -> None:
    """A toothbrush, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    aslant = -34.0
    half = 0.05 * (1 + 0.2 * look.stretch)
    tufts: tuple[Color, ...] = (_WHITE, look.accent, _WHITE, look.accent, _WHITE)
    for place, color in enumerate(tufts):
        x = 0.69 + place * 0.062
        top = 0.28 if look.form % 2 == 0 else 0.26 + 0.025 * place
        pen.polygon(turned([(x, top), (x + 0.062, top), (x + 0.062, 0.47), (x, 0.47)], aslant), color)
    pen.line(turned([(0.40, 0.5), (0.98, 0.5)], aslant), look.body, 0.09)
    pen.line(turned([(0.05, 0.5), (0.36, 0.5)], aslant), look.body, 2 * half + 0.04)
    grip = ((0.06, 0.32),) if look.form % 3 == 0 else ((0.06, 0.07), (0.13, 0.19), (0.26, 0.32))
    for start, end in grip:
        pen.line(turned([(start, 0.5), (end, 0.5)], aslant), look.accent, half, outline=False)


def hairbrush(pen: Pen, look: Look) -> None:
    """A hairbrush, in 2 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    half = 0.24 * (1 + 0.12 * look.stretch)
    pen.box(0.43, 0.56, 0.57, 0.96, look.body, radius=0.06)
    if look.form % 2:
        pen.box(0.5 - half, 0.05, 0.5 + half, 0.64, look.body, radius=0.12)
        pen.box(0.5 - half + 0.06, 0.11, 0.5 + half - 0.06, 0.58, look.accent, radius=0.08)
    else:
        pen.ellipse(0.5 - half, 0.04, 0.5 + half, 0.66, look.body)
        pen.ellipse(0.5 - half + 0.055, 0.09, 0.5 + half - 0.055, 0.61, look.accent)
    pins = _WHITE if sum(look.accent) < 480 else _INK
    for row in range(5):
        count = 2 if row in (0, 4) else 3
        for column in range(count):
            x = 0.5 + (column - (count - 1) / 2) * half * 0.48
            pen.disc(x, 0.17 + row * 0.09, 0.024, pins, outline=False)
    for x in (-1, 1):
        for y in (0.20, 0.29, 0.38, 0.47):
            edge = 0.5 + x * half * 0.92
            pen.line([(edge, y), (edge + x * 0.09, y - 0.015)], _INK, 0.022, outline=False)
    pen.disc(0.5, 0.89, 0.025, darker(look.body, 0.6), outline=False)


def towel(pen: Pen, look: Look) -> None:
    """A towel, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    left, right = 0.16 - 0.06 * look.stretch, 0.84 + 0.06 * look.stretch
    low = 0.86
    pen.line([(0.09, 0.11), (0.91, 0.11)], _STEEL, 0.06)
    pen.box(left + 0.08, 0.08, right + 0.02, 0.66, darker(look.body, 0.35))
    fringe = [left + 0.03 + i * (right - left - 0.10) / 6 for i in range(7)]
    for x in fringe:
        pen.line([(x, low - 0.02), (x, 0.93)], look.body, 0.03)
    pen.box(left, 0.06, right - 0.04, low, look.body, radius=0.05)
    bands: tuple[tuple[float, float], ...] = (
        ((0.70, 0.08),) if look.form % 3 == 0 else ((0.62, 0.06), (0.74, 0.06))
    )
    if look.form % 3 == 2:
        bands = ((0.24, 0.07), (0.40, 0.07), (0.56, 0.07), (0.72, 0.07))
    for y, width in bands:
        pen.box(left + 0.012, y, right - 0.052, y + width, look.accent, outline=False)
    for x in (left + 0.22, right - 0.26):
        pen.line([(x, 0.14), (x + 0.01, 0.58)], darker(look.body, 0.2), 0.02, outline=False)


def soap_bar(pen: Pen, look: Look) -> None:
    """A soap bar, in 2 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    deep = 0.12 + 0.03 * look.stretch
    top, low = 0.46, 0.80
    soap = lighter(look.body, 0.3)
    pen.box(0.06, top + deep, 0.94, low + deep, darker(soap, 0.25), radius=0.15)
    pen.box(0.06, top, 0.94, low + 0.02, soap, radius=0.16)
    if look.form % 2:
        pen.line([(0.26, 0.59), (0.74, 0.59)], darker(soap, 0.3), 0.045, outline=False)
        pen.line([(0.34, 0.69), (0.66, 0.69)], darker(soap, 0.3), 0.045, outline=False)
    else:
        pen.polygon(rounded(0.5, 0.64, 0.27, 0.09, 0, 360), darker(soap, 0.15))
    bubbles = (
        (0.24, 0.34, 0.14),
        (0.46, 0.26, 0.17),
        (0.68, 0.36, 0.12),
        (0.64, 0.13, 0.08),
        (0.84, 0.24, 0.06),
    )
    for x, y, radius in bubbles[: 4 + look.form % 2]:
        pen.disc(x, y, radius, (206, 236, 250))
        pen.disc(x - radius * 0.35, y - radius * 0.35, radius * 0.3, _WHITE, outline=False)


def hair_dryer(pen: Pen, look: Look) -> None:
    """A hair dryer, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    long = 0.04 * look.stretch
    cord = bowed((0.66, 0.86), (0.70, 0.98), (0.50, 0.93)) + bowed((0.50, 0.93), (0.32, 0.88), (0.22, 0.94))
    pen.line(cord, _INK, 0.04)
    pen.polygon([(0.56, 0.50), (0.76, 0.50), (0.73, 0.88), (0.60, 0.88)], look.body)
    pen.box(0.60, 0.58, 0.68, 0.70, look.accent, radius=0.02)
    barrel: list[Point] = [
        (0.26 - long, 0.22),
        (0.56, 0.10),
        *rounded(0.70, 0.35, 0.25, 0.27, 270, 450),
        (0.56, 0.60),
    ]
    pen.polygon([*barrel, (0.26 - long, 0.50)], look.body)
    flare = 0.10 if look.form % 2 else 0.0
    pen.polygon(
        [(0.05, 0.20 - flare), (0.26 - long, 0.24), (0.26 - long, 0.48), (0.05, 0.52 + flare)], look.accent
    )
    pen.disc(0.72, 0.35, 0.145, darker(look.accent, 0.3))
    for y in (0.29, 0.35, 0.41):
        pen.line([(0.64, y), (0.80, y)], lighter(look.accent, 0.6), 0.022, outline=False)
    if look.form % 3 == 1:
        pen.line([(0.38, 0.22), (0.38, 0.50)], look.accent, 0.05, outline=False)


def toilet_roll(pen: Pen, look: Look) -> None:
    """A toilet roll, in 2 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    paper = mix(_WHITE, look.body, 0.25)
    half = 0.17 + 0.03 * look.stretch
    low = 0.62
    pen.polygon([(0.30, 0.10), (0.72, 0.10), (0.72, low), (0.30, low)], paper, outline=False)
    pen.polygon(
        [*rounded(0.72, 0.36, half, 0.28, 270, 450), *rounded(0.30, 0.36, half, 0.28, 90, 270)], paper
    )
    sheet: list[Point] = [(0.30 + half, 0.36), (0.90, 0.36), (0.90, 0.92), (0.80, 0.95), (0.68, 0.91)]
    sheet += [(0.56, 0.95), (0.30 + half, 0.91)]
    pen.polygon(sheet, lighter(paper, 0.4))
    if look.form % 2:
        for y in (0.54, 0.72):
            for x in (0.58, 0.74):
                pen.disc(x, y + (x - 0.58) * 0.4, 0.04, look.accent, outline=False)
    else:
        for x in (0.53, 0.63, 0.73, 0.83):
            pen.line([(x, 0.72), (x + 0.03, 0.72)], darker(paper, 0.4), 0.022, outline=False)
    pen.ellipse(0.30 - half, 0.08, 0.30 + half, 0.64, lighter(paper, 0.2))
    pen.ellipse(0.30 - half * 0.62, 0.18, 0.30 + half * 0.62, 0.54, darker(paper, 0.12))
    pen.ellipse(0.30 - half * 0.46, 0.23, 0.30 + half * 0.46, 0.49, (150, 104, 62))
    pen.ellipse(0.30 - half * 0.26, 0.28, 0.30 + half * 0.36, 0.46, (66, 44, 28), outline=False)


def razor(pen: Pen, look: Look) -> None:
    """A razor, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    half = 0.055 * (1 + 0.25 * look.stretch)
    aslant = 10.0 if look.form % 2 else -10.0

    def part(x0: float, y0: float, x1: float, y1: float, color: Color, *, outline: bool = True) -> None:
        pen.polygon(turned([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], aslant), color, outline=outline)

    pen.line(turned([(0.5, 0.28), (0.5, 0.44)], aslant), look.accent, 0.08)
    pen.line(turned([(0.5, 0.46), (0.5, 0.865)], aslant), look.body, 2 * half + 0.03)
    for place in range(4 if look.form % 3 else 2):
        y = 0.54 + place * 0.08
        pen.line(
            turned([(0.5 - half * 0.6, y), (0.5 + half * 0.6, y)], aslant), look.accent, 0.035, outline=False
        )
    part(0.20, 0.09, 0.80, 0.33, look.body)
    part(0.24, 0.13, 0.76, 0.29, _STEEL)
    for y in (0.175, 0.23):
        part(0.25, y, 0.75, y + 0.025, _INK, outline=False)
    part(0.20, 0.075, 0.80, 0.135, (90, 200, 170))


def mirror(pen: Pen, look: Look) -> None:
    """A mirror, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    radius = 0.29 + 0.015 * look.stretch
    tall = radius * (1.12 if look.form % 3 == 2 else 1.0)
    y = 0.04 + tall
    if look.form % 3 == 1:
        pen.line([(0.5, 0.60), (0.5, 0.88)], look.accent, 0.07)
        pen.polygon([(0.26, 0.96), *rounded(0.5, 0.94, 0.22, 0.08, 180, 360), (0.74, 0.96)], look.body)
    else:
        pen.polygon([(0.46, 0.58), (0.54, 0.58), (0.57, 0.92), (0.5, 0.96), (0.43, 0.92)], look.body)
        pen.disc(0.5, 0.88, 0.035, look.accent)
    pen.ellipse(0.5 - radius, 0.04, 0.5 + radius, y + tall, look.body)
    if look.form % 3 == 2:
        pen.disc(0.5, 0.085, 0.055, look.accent)
    inner, deep = radius - 0.06, tall - 0.06
    pen.ellipse(0.5 - inner, y - deep, 0.5 + inner, y + deep, _GLASS)
    for x, across, down in ((0.41, 0.06, 0.065), (0.50, 0.085, 0.095)):
        pen.line([(x - across, y + down), (x + across, y - down)], _WHITE, 0.045, outline=False)


RECIPES: dict[str, Recipe] = {
    "toothbrush": toothbrush,
    "hairbrush": hairbrush,
    "towel": towel,
    "soap_bar": soap_bar,
    "hair_dryer": hair_dryer,
    "toilet_roll": toilet_roll,
    "razor": razor,
    "mirror": mirror,
}
