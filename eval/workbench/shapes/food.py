"""Recipes of food: natural colours, tinted a little by the body colour."""

from __future__ import annotations

import math

from eval.workbench.pen import Color, Look, Pen, Recipe, darker, lighter, mix, tinted
from eval.workbench.shapes.curves import bowed, rounded

LEAF: Color = (70, 150, 60)


def egg(pen: Pen, look: Look) -> None:
    """An egg, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    shell = tinted(look, (240, 216, 178))
    half = 0.33 * (1 + 0.1 * look.stretch)
    outline = [*rounded(0.5, 0.6, half, 0.36, 0, 180), *rounded(0.5, 0.6, half, 0.56, 180, 360)]
    pen.polygon(outline, shell)
    pen.ellipse(0.34, 0.24, 0.45, 0.44, lighter(shell, 0.6), outline=False)
    if look.form % 3 == 1:
        for x, y in ((0.6, 0.36), (0.42, 0.56), (0.66, 0.6), (0.54, 0.76), (0.34, 0.72), (0.52, 0.2)):
            pen.disc(x, y, 0.03, darker(shell, 0.35), outline=False)
    elif look.form % 3 == 2:
        x0, x1 = 0.5 - half, 0.5 + half
        zigzag = [(x0 + (x1 - x0) * (0.05 + 0.15 * i), 0.5 + 0.07 * (-1) ** i) for i in range(7)]
        pen.line(zigzag, darker(shell, 0.65), 0.025, outline=False)


def bread_loaf(pen: Pen, look: Look) -> None:
    """A bread loaf, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    crust, crumb = tinted(look, (186, 116, 54)), mix((246, 222, 176), look.body, 0.1)
    top = 0.3 - 0.06 * look.stretch
    back = rounded(0.78, top + 0.13, 0.18, 0.17, 270, 380)
    pen.polygon([(0.3, top - 0.04), *back, (0.93, 0.82), (0.3, 0.82)], crust)
    slashes = (0.58, 0.72, 0.86) if look.form % 3 != 1 else (0.62, 0.8)
    for x in slashes:
        pen.line([(x - 0.05, top + 0.22), (x + 0.03, top + 0.05)], lighter(crust, 0.5), 0.04, outline=False)
    for x in (0.31, 0.22) if look.form % 3 == 2 else (0.26,):
        face = [
            *rounded(x - 0.08, top + 0.15, 0.11, 0.15, 150, 285),
            *rounded(x + 0.08, top + 0.15, 0.11, 0.15, 255, 390),
        ]
        pen.polygon([*face, (x + 0.16, 0.86), (x - 0.16, 0.86)], crust)
        inner = [
            *rounded(x - 0.07, top + 0.17, 0.07, 0.11, 150, 285),
            *rounded(x + 0.07, top + 0.17, 0.07, 0.11, 255, 390),
        ]
        pen.polygon([*inner, (x + 0.12, 0.82), (x - 0.12, 0.82)], crumb, outline=False)


def banana(pen: Pen, look: Look) -> None:
    """A banana, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    yellow, brown = tinted(look, (250, 212, 50)), mix((92, 66, 30), look.accent, 0.2)
    fat = 0.1 * look.stretch
    outer = bowed((0.08, 0.44), (0.26, 1.3), (0.92, 0.24), 12)
    inner = bowed((0.83, 0.18), (0.42, 0.58 - fat), (0.18, 0.36), 12)
    pen.polygon([*outer, *inner], yellow)
    ridge = bowed((0.16, 0.46), (0.36, 0.95 - fat / 2), (0.85, 0.26), 10)
    pen.line(ridge[1:-1], darker(yellow, 0.25), 0.022, outline=False)
    pen.disc(0.125, 0.4, 0.055, brown)
    pen.polygon([(0.8, 0.22), (0.85, 0.06), (0.94, 0.09), (0.94, 0.28)], brown)
    if look.form % 3 == 1:
        pen.ellipse(0.38, 0.6, 0.5, 0.7, look.accent)
    elif look.form % 3 == 2:
        for x, y in ((0.3, 0.66), (0.46, 0.72), (0.62, 0.62)):
            pen.disc(x, y, 0.03, brown, outline=False)


def carrot(pen: Pen, look: Look) -> None:
    """A carrot, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    orange, leaf = tinted(look, (244, 126, 32)), mix(LEAF, look.accent, 0.12)
    half = 0.19 * (1 + 0.25 * look.stretch)
    spread = (-0.26, -0.09, 0.09, 0.26) if look.form % 2 else (-0.22, 0.0, 0.22)
    for x in spread:
        pen.line(bowed((0.5, 0.38), (0.5 + x * 0.4, 0.2), (0.5 + x, 0.1 + abs(x) * 0.3)), leaf, 0.09)
    tip = [(0.5 + half * 0.9, 0.5), (0.53, 0.94), (0.5, 0.96), (0.47, 0.94), (0.5 - half * 0.9, 0.5)]
    pen.polygon([*rounded(0.5, 0.42, half, 0.1, 180, 360), *tip], orange)
    for y, side in ((0.47, -1), (0.56, 1), (0.66, -1), (0.76, 1))[: 4 - look.form % 3 // 2]:
        wide = half * (1 - (y - 0.4) / 0.58)
        mark = [(0.5 + side * wide * 0.8, y), (0.5 + side * wide * 0.05, y + 0.015)]
        pen.line(mark, darker(orange, 0.4), 0.025, outline=False)


def tomato(pen: Pen, look: Look) -> None:
    """A tomato, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    red, leaf = tinted(look, (222, 44, 34)), mix(LEAF, look.accent, 0.12)
    tall = 0.36 * (1 + 0.12 * look.stretch)
    middle = 0.95 - tall
    pen.ellipse(0.05, middle - tall, 0.95, 0.95, red)
    if look.form % 3 == 1:
        for side in (-1, 1):
            lobe = bowed(
                (0.5 + side * 0.05, middle - tall * 0.6), (0.5 + side * 0.28, middle), (0.5 + side * 0.1, 0.9)
            )
            pen.line(lobe, darker(red, 0.25), 0.022, outline=False)
    pen.ellipse(0.16, middle - tall * 0.45, 0.3, middle, lighter(red, 0.6), outline=False)
    crown = middle - tall * 0.78
    points = []
    arms = 6 if look.form % 3 == 2 else 5
    for i in range(2 * arms):
        angle, reach = math.pi * i / arms + math.pi / 2, 0.3 if i % 2 == 0 else 0.08
        points.append((0.5 + reach * math.cos(angle), crown + reach * 0.62 * math.sin(angle)))
    pen.polygon(points, leaf)
    pen.line([(0.5, crown), (0.54, max(0.09, crown - 0.16))], darker(leaf, 0.3), 0.06)


def pineapple(pen: Pen, look: Look) -> None:
    """A pineapple, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
    gold, leaf = tinted(look, (232, 168, 40)), mix(LEAF, look.accent, 0.12)
    half = 0.25 * (1 + 0.2 * look.stretch)
    leaves = ((-0.3, 0.2), (0.3, 0.2), (-0.18, 0.09), (0.18, 0.09), (0.0, 0.04))
    for x, y in leaves:
        bend = 0.5 + x * (0.5 if look.form % 2 else 0.9)
        left = bowed((0.42 + x * 0.3, 0.34), (bend - 0.06, 0.22), (0.5 + x, y), 4)
        right = bowed((0.5 + x, y), (bend + 0.08, 0.26), (0.58 + x * 0.3, 0.36), 4)
        pen.polygon([(0.4 + x * 0.2, 0.42), *left, *right, (0.6 + x * 0.2, 0.42)], leaf)
    pen.ellipse(0.5 - half, 0.35, 0.5 + half, 0.96, gold)
    mark = darker(gold, 0.45)
    if look.form % 3 == 2:
        for y, count in ((0.47, 2), (0.58, 3), (0.69, 3), (0.8, 2)):
            for i in range(count):
                x = 0.5 + (i - (count - 1) / 2) * half * 0.55
                pen.polygon(
                    [(x, y - 0.045), (x + 0.04, y), (x, y + 0.045), (x - 0.04, y)], mark, outline=False
                )
    else:
        for y in (0.44, 0.57, 0.7):
            across = half * math.sqrt(max(0.0, 1 - ((y - 0.655) / 0.305) ** 2)) * 0.92
            low = y + 0.17
            under = half * math.sqrt(max(0.0, 1 - ((low - 0.655) / 0.305) ** 2)) * 0.92
            pen.line([(0.5 - across, y), (0.5 + under, low)], mark, 0.022, outline=False)
            pen.line([(0.5 + across, y), (0.5 - under, low)], mark, 0.022, outline=False)


RECIPES: dict[str, Recipe] = {
    "egg": egg,
    "bread_loaf": bread_loaf,
    "banana": banana,
    "carrot": carrot,
    "tomato": tomato,
    "pineapple": pineapple,
}
