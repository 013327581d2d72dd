"""Recipes of the hand tools."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, Recipe, darker, lighter, mix
from eval.workbench.shapes.curves import bowed, rounded, turned

STEEL: Color = (178, 184, 192)
RUBBER: Color = (44, 46, 52)


def _metal(look: Look) -> Color:
    return mix(STEEL, look.accent, 0.25)


def hammer(pen: Pen, look: Look) -> None:
    """A hammer, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, half = _metal(look), 0.075 * (1 + 0.25 * look.stretch)
    pen.polygon([(0.5, 0.2), (0.5 + half * 0.8, 0.2), (0.5 + half * 1.2, 0.95),
                 (0.5 - half * 1.2, 0.95), (0.5 - half * 0.8, 0.2)], look.body)  # fmt: skip
    if look.form % 3 == 0:
        pen.box(0.5 - half * 1.35, 0.6, 0.5 + half * 1.35, 0.96, look.accent, radius=0.05)
    elif look.form % 3 == 1:
        for y in (0.62, 0.74, 0.86):
            pen.box(0.5 - half * 1.3, y, 0.5 + half * 1.3, y + 0.06, look.accent, radius=0.02)
    else:
        pen.ellipse(0.5 - half * 1.6, 0.86, 0.5 + half * 1.6, 0.96, look.accent)
    claw = bowed((0.46, 0.07), (0.16, 0.05), (0.05, 0.4))
    pen.polygon([*claw, *bowed((0.11, 0.41), (0.22, 0.25), (0.46, 0.29))], metal)
    pen.box(0.58, 0.1, 0.8, 0.27, metal)
    pen.box(0.77, 0.05, 0.95, 0.33, metal, radius=0.03)
    pen.box(0.4, 0.04, 0.61, 0.33, metal, radius=0.03)


def screwdriver(pen: Pen, look: Look) -> None:
    """A screwdriver, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, half = _metal(look), 0.18 * (1 + 0.22 * look.stretch)
    neck = 0.5 + 0.04 * look.stretch
    if look.form % 2:
        pen.polygon([(0.42, 0.45), (0.58, 0.45), (0.58, 0.82), (0.5, 0.96), (0.42, 0.82)], metal)
        pen.line([(0.5, 0.84), (0.5, 0.93)], darker(metal, 0.6), 0.02, outline=False)
    else:
        pen.polygon([(0.45, 0.45), (0.55, 0.45), (0.55, 0.78), (0.6, 0.86), (0.58, 0.96), (0.42, 0.96),
                     (0.4, 0.86), (0.45, 0.78)], metal)  # fmt: skip
    pen.box(0.5 - half, 0.04, 0.5 + half, neck - 0.02, look.body, radius=min(half, 0.13))
    pen.box(0.5 - half * 0.72, neck - 0.09, 0.5 + half * 0.72, neck + 0.03, look.accent, radius=0.03)
    for x in (-0.5, 0.5) if look.form % 3 else (-0.6, 0.0, 0.6):
        pen.line([(0.5 + half * x, 0.15), (0.5 + half * x, neck - 0.16)], look.accent, 0.04, outline=False)


def pliers(pen: Pen, look: Look) -> None:
    """Pliers, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, spread = _metal(look), 0.31 + 0.05 * look.stretch
    for side in (-1, 1):
        grip = bowed(
            (0.5 - side * 0.03, 0.44), (0.5 + side * spread * 1.25, 0.58), (0.5 + side * spread, 0.86)
        )
        pen.line(grip, metal, 0.1)
        pen.line(grip[3:], look.body, 0.15)
        if look.form % 3 == 1:
            pen.line(grip[6:], look.accent, 0.15)
        if look.form % 3 == 2:
            pen.line(grip[4:], lighter(look.body, 0.5), 0.04, outline=False)
        reach = 0.17 if look.form % 2 else 0.13
        pen.polygon([(0.5 + side * 0.04, 0.04), (0.5 + side * 0.13, 0.06), (0.5 + side * reach * 1.4, 0.3),
                     (0.5 + side * 0.15, 0.5), (0.5 - side * 0.08, 0.48), (0.5 + side * 0.02, 0.3)],
                    metal)  # fmt: skip
    pen.disc(0.5, 0.42, 0.1, look.accent)
    pen.disc(0.5, 0.42, 0.035, metal)


def handsaw(pen: Pen, look: Look) -> None:
    """A handsaw, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, deep = _metal(look), 0.14 * (1 + 0.25 * look.stretch)
    top, low = 0.5 - deep, 0.5 + deep * 1.3
    teeth = []
    for i in range(9):
        x = 0.66 - 0.07 * i
        edge = low - (low - 0.52) * 0.55 * i / 8
        teeth += [(x, edge), (x - 0.05, edge + 0.075)]
    pen.polygon([(0.66, top), (0.04, 0.5 - deep * 0.15), (0.04, 0.56), *reversed(teeth)], metal)
    if look.form % 2:
        pen.line([(0.12, 0.47), (0.62, top + 0.07)], look.accent, 0.035, outline=False)
    grip = [(0.68, top - 0.02), (0.82, 0.25), (0.89, 0.33), (0.87, 0.66), (0.8, 0.74), (0.68, low - 0.02),
            (0.68, top - 0.02)]  # fmt: skip
    pen.line(grip, look.body, 0.12)
    for y in (0.46, 0.56) if look.form % 3 else (0.5,):
        pen.disc(0.68, y, 0.035, look.accent)


def power_drill(pen: Pen, look: Look) -> None:
    """A power drill, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, tall = _metal(look), 0.14 * (1 + 0.2 * look.stretch)
    mid = 0.25
    pen.box(0.04, mid - 0.035, 0.2, mid + 0.035, metal)
    for x in (0.07, 0.12, 0.17):
        pen.line([(x, mid + 0.04), (x + 0.03, mid - 0.04)], darker(metal, 0.6), 0.016, outline=False)
    pen.polygon([(0.18, mid - 0.06), (0.35, mid - 0.11), (0.35, mid + 0.11), (0.18, mid + 0.06)], metal)
    pen.polygon([(0.58, 0.34), (0.84, 0.34), (0.92, 0.8), (0.66, 0.8)], look.body)
    pen.box(0.33, mid - tall, 0.93, mid + tall, look.body, radius=0.08)
    pen.polygon([(0.5, 0.42), (0.62, 0.42), (0.63, 0.56), (0.54, 0.54)], look.accent)
    if look.form % 3 == 2:
        pen.box(0.62, 0.74, 0.94, 0.84, look.accent, radius=0.04)
        pen.line(bowed((0.78, 0.84), (0.7, 0.98), (0.3, 0.92)), RUBBER, 0.05)
    else:
        pen.box(0.5, 0.76, 0.96, 0.96, look.accent, radius=0.04)
    if look.form % 2:
        for x in (0.68, 0.76, 0.84):
            pen.line([(x, mid - 0.06), (x, mid + 0.06)], look.accent, 0.03, outline=False)
    else:
        pen.box(0.44, mid - 0.05, 0.84, mid + 0.05, look.accent, radius=0.03, outline=False)


def soldering_iron(pen: Pen, look: Look) -> None:
    """A soldering iron, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    metal, half = _metal(look), 0.085 * (1 + 0.25 * look.stretch)
    pen.line(bowed((0.78, 0.22), (1.04, 0.02), (0.84, 0.48)) + bowed((0.84, 0.48), (0.62, 0.92), (0.88, 0.9)),
             RUBBER, 0.05)  # fmt: skip

    def part(x0: float, x1: float, before: float, after: float, color: Color) -> None:
        corners = [(x0, 0.5 - before), (x1, 0.5 - after), (x1, 0.5 + after), (x0, 0.5 + before)]
        pen.polygon([(x - 0.05, y - 0.01) for x, y in turned(corners, -47)], color)

    part(-0.08, 0.1, 0.012, 0.045, mix((240, 130, 40), metal, 0.15))
    part(0.1, 0.38, 0.05, 0.05, metal)
    part(0.38, 0.46, 0.15, 0.15, look.accent)
    part(0.46, 0.96, half * 1.1, half, look.body)
    if look.form % 2:
        for x in (0.56, 0.66, 0.76):
            part(x, x + 0.04, half * 1.1, half * 1.1, look.accent)
    else:
        part(0.56, 0.84, half * 0.4, half * 0.4, look.accent)
    if look.form % 3 == 1:
        pen.line([(0.1, 0.7), (0.15, 0.62), (0.1, 0.54), (0.15, 0.46)], (214, 218, 224), 0.03, outline=False)


def tape_measure(pen: Pen, look: Look) -> None:
    """A tape measure, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    left, yellow = 0.04 + 0.06 * (1 - look.stretch), mix((246, 206, 52), look.body, 0.1)
    pen.box(0.5, 0.68, 0.92, 0.82, yellow)
    for x in (0.71, 0.77, 0.83, 0.88):
        pen.line([(x, 0.68), (x, 0.76)], RUBBER, 0.018, outline=False)
    pen.box(0.9, 0.66, 0.96, 0.94, _metal(look))
    case = [(left, 0.84), *rounded(left + 0.14, 0.3, 0.14, 0.16, 180, 270)]
    pen.polygon([*case, *rounded(0.44, 0.42, 0.24, 0.28, 270, 360), (0.68, 0.84)], look.body)
    middle = (left + 0.68) / 2
    if look.form % 3 == 2:
        pen.box(middle - 0.18, 0.34, middle + 0.18, 0.64, look.accent, radius=0.05)
    else:
        pen.disc(middle, 0.49, 0.19, look.accent)
        pen.disc(middle, 0.49, 0.1, yellow if look.form % 3 else look.body)
    pen.box(0.6, 0.52, 0.74, 0.68, look.accent, radius=0.03)


def flashlight(pen: Pen, look: Look) -> None:
    """A flashlight, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    half = 0.11 * (1 + 0.25 * look.stretch)
    glow: Color = (255, 232, 120)
    for end in (0.1, 0.5, 0.9):
        pen.line([(0.83, 0.5 + (end - 0.5) * 0.5), (0.94, end)], glow, 0.045, outline=False)
    pen.box(0.06, 0.5 - half, 0.52, 0.5 + half, look.body, radius=0.03)
    pen.box(0.04, 0.5 - half * 1.12, 0.13, 0.5 + half * 1.12, look.accent, radius=0.03)
    pen.polygon([(0.46, 0.5 - half), (0.64, 0.24), (0.64, 0.76), (0.46, 0.5 + half)], look.body)
    pen.box(0.62, 0.21, 0.72, 0.79, look.accent, radius=0.02)
    pen.ellipse(0.66, 0.22, 0.8, 0.78, glow)
    if look.form % 3 == 1:
        for x in (0.2, 0.27, 0.34):
            pen.line([(x, 0.5 - half * 0.9), (x, 0.5 + half * 0.9)], look.accent, 0.03, outline=False)
    elif look.form % 3 == 2:
        pen.disc(0.34, 0.5, 0.06, look.accent)
    else:
        pen.box(0.24, 0.5 - half * 1.4, 0.4, 0.5 - half * 0.6, look.accent, radius=0.03)


RECIPES: dict[str, Recipe] = {
    "hammer": hammer,
    "screwdriver": screwdriver,
    "pliers": pliers,
    "handsaw": handsaw,
    "power_drill": power_drill,
    "soldering_iron": soldering_iron,
    "tape_measure": tape_measure,
    "flashlight": flashlight,
}
