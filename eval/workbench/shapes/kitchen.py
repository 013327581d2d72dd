"""Pots, pans, tableware, kitchen machines; food in natural colours, tinted a little by the body colour."""

from __future__ import annotations

import math

from eval.workbench.pen import Color, Look, Pen, bowed, darker, lighter, mix, rounded, tinted, turned

STEEL: Color = (186, 192, 198)
WOOD: Color = (206, 156, 98)
CHINA: Color = (248, 246, 240)
LEAF: Color = (70, 150, 60)


def _metal(look: Look) -> Color:
    return mix(STEEL, look.accent, 0.2)


def _draw_kettle(pen: Pen, look: Look) -> None:
    half = 0.25 * (1 + 0.17 * look.stretch)
    left, right = 0.46 - half, 0.46 + half
    if look.form % 2:
        pen.line(bowed((left + 0.03, 0.44), (0.46, -0.24), (right - 0.03, 0.44), 12), look.accent, 0.08)
    else:
        pen.line([(right - 0.14, 0.26), (right + 0.1, 0.24), (right + 0.15, 0.34), (right + 0.1, 0.74),
                  (right - 0.04, 0.76)], look.accent, 0.085)  # fmt: skip
    spout = [(left + 0.12, 0.62), (left - 0.14, 0.3), (left - 0.04, 0.27), (left + 0.16, 0.38)]
    pen.polygon(spout, look.body)
    pen.polygon([*rounded(0.46, 0.46, half * 0.8, 0.24, 180, 360), (right, 0.86), (left, 0.86)], look.body)
    pen.box(left - 0.04, 0.84, right + 0.04, 0.96, look.accent, radius=0.04)
    lid = rounded(0.46, 0.27, half * 0.5, 0.07, 180, 360)
    pen.polygon(lid, look.accent)
    if look.form % 2 == 0:
        pen.disc(0.46, 0.17, 0.05, look.accent)
    if look.form % 3 == 2:
        pen.box(0.42, 0.4, 0.5, 0.76, (150, 206, 236), radius=0.03)
    elif look.form % 3 == 1:
        pen.box(left + 0.03, 0.62, right - 0.03, 0.72, lighter(look.body, 0.5), outline=False)
    else:
        pen.line([(left + 0.12, 0.5), (left + 0.09, 0.74)], lighter(look.body, 0.6), 0.05, outline=False)


def _draw_frying_pan(pen: Pen, look: Look) -> None:
    radius = 0.31 + 0.03 * look.stretch
    x, y = 0.06 + radius, 0.94 - radius
    reach = radius * 0.7
    pen.line([(x + reach, y - reach), (0.89, 0.11)], look.accent, 0.115)
    if look.form % 2:
        pen.disc(0.88, 0.12, 0.028, lighter(look.accent, 0.7))
    else:
        pen.line([(0.76, 0.24), (0.88, 0.12)], lighter(look.accent, 0.4), 0.035, outline=False)
    pen.line([(x + reach * 0.9, y - reach * 0.9), (x + reach * 1.22, y - reach * 1.22)], _metal(look), 0.13)
    pen.disc(x, y, radius, look.body)
    floor: Color = mix((40, 42, 46), look.body, 0.15)
    pen.disc(x, y, radius * 0.8, floor)
    if look.form % 3 == 2:
        pen.disc(x, y, radius * 0.5, lighter(floor, 0.2), outline=False)
        pen.disc(x, y, radius * 0.38, floor, outline=False)
    else:
        glint = rounded(x, y, radius * 0.6, radius * 0.6, 190, 260)
        pen.line(glint, lighter(floor, 0.45), 0.04, outline=False)


def _draw_saucepan(pen: Pen, look: Look) -> None:
    right = 0.58
    low = 0.82 + 0.08 * look.stretch
    pen.line([(right, 0.46), (0.89, 0.38)], look.accent, 0.1)
    pen.box(right - 0.04, 0.41, right + 0.08, 0.52, _metal(look), radius=0.02)
    pen.box(0.06, 0.36, right, low, look.body, radius=0.08)
    pen.box(0.06, 0.36, right, 0.5, look.body)
    pen.box(0.1, low - 0.1, right - 0.04, low - 0.04, darker(look.body, 0.3), radius=0.03, outline=False)
    if look.form % 3 == 1:
        pen.box(0.06, 0.54, right, 0.64, look.accent, outline=False)
    else:
        pen.line([(0.14, 0.54), (0.14, low - 0.16)], lighter(look.body, 0.6), 0.045, outline=False)
    lid = lighter(look.body, 0.45) if look.form % 3 == 2 else _metal(look)
    pen.polygon(rounded(0.32, 0.36, 0.26, 0.17, 180, 360), lid)
    pen.box(0.04, 0.33, right + 0.02, 0.4, lid, radius=0.03)
    if look.form % 2:
        pen.arc(0.32, 0.2, 0.075, 180, 360, look.accent, 0.05)
    else:
        pen.disc(0.32, 0.16, 0.065, look.accent)


def _draw_ladle(pen: Pen, look: Look) -> None:
    across = 0.27 * (1 + 0.2 * look.stretch)
    middle = 0.09 + across
    metal = _metal(look)
    stem = middle + across - 0.05
    pen.line([(stem, 0.66), (stem, 0.2)], metal, 0.08)
    hook = rounded(stem + 0.1, 0.18, 0.1, 0.095, 180, 345)
    pen.line(hook, look.body, 0.08)
    pen.line([(stem, 0.2), (stem, 0.44)], look.body, 0.105)
    if look.form % 2:
        pen.line([(stem, 0.26), (stem, 0.38)], look.accent, 0.04, outline=False)
    pen.polygon(rounded(middle, 0.66, across, 0.3, 0, 180), look.body)
    pen.ellipse(middle - across, 0.58, middle + across, 0.75, lighter(look.body, 0.4))
    soup = mix((226, 120, 40), look.accent, 0.25) if look.form % 3 else darker(look.body, 0.45)
    pen.ellipse(middle - across * 0.8, 0.61, middle + across * 0.8, 0.73, soup, outline=False)
    if look.form % 3 == 2:
        pen.line(rounded(middle, 0.66, across * 0.72, 0.21, 110, 165), look.accent, 0.05, outline=False)


def _draw_rolling_pin(pen: Pen, look: Look) -> None:
    half = 0.135 * (1 + 0.25 * look.stretch)
    wood = mix(WOOD, look.body, 0.65)

    def bar(x0: float, x1: float, thick: float, color: Color) -> None:
        pen.polygon(
            turned([(x0, 0.5 - thick), (x1, 0.5 - thick), (x1, 0.5 + thick), (x0, 0.5 + thick)], -42), color
        )

    for side in (-1, 1):
        (knob,) = turned([(0.5 + side * 0.52, 0.5)], -42)
        bar(0.5 + side * 0.32, 0.5 + side * 0.42, half * 0.3, darker(look.accent, 0.3))
        bar(0.5 + side * 0.38, 0.5 + side * 0.52, half * 0.42, look.accent)
        pen.disc(*knob, half * 0.5, look.accent)
    bar(0.16, 0.84, half, wood)
    if look.form % 3 == 0:
        bar(0.2, 0.8, half * 0.22, lighter(wood, 0.4))
    elif look.form % 3 == 1:
        for x in (0.22, 0.74):
            bar(x, x + 0.04, half, look.accent)
    elif look.form % 3 == 2:
        for x in (0.3, 0.5, 0.7):
            (spot,) = turned([(x, 0.5)], -42)
            pen.disc(*spot, half * 0.4, lighter(wood, 0.5), outline=False)


def _draw_cutting_board(pen: Pen, look: Look) -> None:
    half = 0.31 * (1 + 0.2 * look.stretch)
    board = mix(WOOD, look.body, 0.6)
    left, right = 0.5 - half, 0.5 + half
    round_top = look.form % 3 == 1
    pen.box(0.38, 0.04, 0.62, 0.36, board, radius=0.09)
    pen.box(left, 0.25, right, 0.96, board, radius=0.16 if round_top else 0.05)
    pen.box(0.43, 0.2, 0.57, 0.34, board, outline=False)
    pen.box(0.44, 0.09, 0.56, 0.18, darker(board, 0.7), radius=0.04)
    if look.form % 3 == 2:
        for x in (left + 0.005, right - 0.105):
            pen.box(x, 0.3, x + 0.1, 0.92, look.accent, outline=False)
    else:
        pen.box(left + 0.06, 0.32, right - 0.06, 0.9, darker(board, 0.2), radius=0.1 if round_top else 0.03)
        pen.box(left + 0.09, 0.35, right - 0.09, 0.87, lighter(board, 0.15), radius=0.08, outline=False)
    for y in (0.46, 0.6, 0.74):
        cut = [(0.5 - half * 0.45, y + 0.06), (0.5 + half * 0.45, y - 0.02)]
        pen.line(cut, darker(board, 0.45), 0.026, outline=False)


def _draw_mug(pen: Pen, look: Look) -> None:
    right = 0.62 + 0.06 * look.stretch
    if look.form % 2:
        out = right + 0.2
        pen.line([(right - 0.04, 0.46), (out, 0.46), (out, 0.76), (right - 0.04, 0.76)], look.body, 0.085)
    else:
        pen.line(rounded(right - 0.04, 0.62, 0.25, 0.19, -90, 90), look.body, 0.085)
    middle = (0.08 + right) / 2
    pen.box(0.08, 0.3, right, 0.96, look.body, radius=0.08)
    pen.ellipse(0.08, 0.25, right, 0.43, lighter(look.body, 0.4))
    pen.ellipse(0.13, 0.285, right - 0.05, 0.41, (88, 54, 32))
    steam: Color = (232, 234, 238)
    for x in (middle - 0.12, middle + 0.1):
        pen.line(bowed((x, 0.23), (x + 0.12, 0.16), (x, 0.06)), steam, 0.035)
    if look.form % 3 == 1:
        for y in (0.58, 0.76):
            pen.box(0.09, y, right - 0.01, y + 0.08, look.accent, outline=False)
    elif look.form % 3 == 2:
        heart = [(middle, 0.84), (middle - 0.16, 0.64), (middle - 0.09, 0.54), (middle, 0.61)]
        pen.polygon([*heart, (middle + 0.09, 0.54), (middle + 0.16, 0.64)], look.accent)
    else:
        pen.disc(middle, 0.69, 0.13, look.accent)


def _draw_plate(pen: Pen, look: Look) -> None:
    tall = 0.4 + 0.05 * look.stretch
    pen.ellipse(0.04, 0.5 - tall, 0.96, 0.5 + tall, CHINA)
    pen.ellipse(0.08, 0.5 - tall * 0.91, 0.92, 0.5 + tall * 0.91, look.body)
    if look.form % 3 == 1:
        for i in range(10):
            angle = math.pi * i / 5
            pen.disc(
                0.5 + 0.35 * math.cos(angle),
                0.5 + tall * 0.76 * math.sin(angle),
                0.04,
                look.accent,
                outline=False,
            )
    elif look.form % 3 == 2:
        pen.ellipse(0.13, 0.5 - tall * 0.8, 0.87, 0.5 + tall * 0.8, look.accent, outline=False)
        pen.ellipse(0.17, 0.5 - tall * 0.72, 0.83, 0.5 + tall * 0.72, look.body, outline=False)
    pen.ellipse(0.22, 0.5 - tall * 0.62, 0.78, 0.5 + tall * 0.62, CHINA)
    pen.ellipse(0.28, 0.5 - tall * 0.48, 0.72, 0.5 + tall * 0.48, mix((222, 220, 214), look.body, 0.1))
    pen.line(rounded(0.5, 0.5, 0.15, tall * 0.34, 190, 260), (255, 255, 255), 0.035, outline=False)


def _draw_wine_glass(pen: Pen, look: Look) -> None:
    half = 0.25 * (1 + 0.22 * look.stretch)
    glass = mix((214, 232, 240), look.accent, 0.15)
    pen.box(0.47, 0.54, 0.53, 0.92, glass)
    pen.ellipse(0.5 - half, 0.86, 0.5 + half, 0.96, glass)
    rim = half * (0.72 if look.form % 2 else 0.95)
    side = bowed((0.5 - rim, 0.08), (0.5 - half * 1.25, 0.54), (0.5, 0.6))
    pen.polygon([*side, *((1 - x, y) for x, y in reversed(side))], glass)
    level = 3 if look.form % 3 == 2 else 2
    wine = [(0.5 + (x - 0.5) * 0.86, y - 0.015) for x, y in side[level:]]
    pen.polygon([*wine, *((1 - x, y) for x, y in reversed(wine))], look.body)
    pen.ellipse(wine[0][0], wine[0][1] - 0.045, 1 - wine[0][0], wine[0][1] + 0.045, lighter(look.body, 0.3))
    pen.ellipse(0.5 - rim, 0.04, 0.5 + rim, 0.12, lighter(glass, 0.5))
    if look.form % 3 == 1:
        pen.disc(0.5, 0.74, 0.055, look.accent)


def _draw_toaster(pen: Pen, look: Look) -> None:
    top = 0.42 - 0.05 * look.stretch
    crust, crumb = (170, 104, 50), (240, 208, 150)
    for x in (0.17, 0.5) if look.form % 3 != 1 else (0.28,):
        wide = 0.27 if look.form % 3 != 1 else 0.36
        pen.box(x, top - 0.3, x + wide, top + 0.2, crust, radius=0.08)
        pen.box(x + 0.045, top - 0.255, x + wide - 0.045, top + 0.2, crumb, radius=0.05, outline=False)
    pen.box(0.12, 0.88, 0.24, 0.96, look.accent)
    pen.box(0.68, 0.88, 0.8, 0.96, look.accent)
    pen.box(0.05, top, 0.87, 0.92, look.body, radius=0.13)
    pen.box(0.12, top + 0.02, 0.8, top + 0.09, darker(look.body, 0.7), radius=0.03)
    pen.box(0.85, top + 0.14, 0.96, top + 0.24, look.accent, radius=0.02)
    if look.form % 3 == 2:
        for y in (0.6, 0.7, 0.8):
            pen.line([(0.2, y), (0.56, y)], look.accent, 0.04, outline=False)
    else:
        pen.box(0.05, 0.72, 0.87, 0.84, look.accent, outline=False)
    pen.disc(0.7, 0.68, 0.08, lighter(look.accent, 0.6))
    pen.line([(0.7, 0.68), (0.74, 0.63)], (40, 40, 44), 0.03, outline=False)


def _draw_egg(pen: Pen, look: Look) -> None:
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


def _draw_bread_loaf(pen: Pen, look: Look) -> None:
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


def _draw_banana(pen: Pen, look: Look) -> None:
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


def _draw_carrot(pen: Pen, look: Look) -> None:
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


def _draw_tomato(pen: Pen, look: Look) -> None:
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


def _draw_pineapple(pen: Pen, look: Look) -> None:
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
