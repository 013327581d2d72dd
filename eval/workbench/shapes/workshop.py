"""Hand tools, cans, cartons, bottles and buckets."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, bowed, darker, lighter, mix, rounded, turned

STEEL: Color = (178, 184, 192)
RUBBER: Color = (44, 46, 52)
TIN: Color = (186, 192, 198)
MILK: Color = (250, 248, 240)
WATER: Color = (120, 190, 232)


def _metal(look: Look) -> Color:
    return mix(STEEL, look.accent, 0.25)


def _draw_hammer(pen: Pen, look: Look) -> None:
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


def _draw_screwdriver(pen: Pen, look: Look) -> None:
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


def _draw_pliers(pen: Pen, look: Look) -> None:
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


def _draw_handsaw(pen: Pen, look: Look) -> None:
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


def _draw_power_drill(pen: Pen, look: Look) -> None:
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


def _draw_soldering_iron(pen: Pen, look: Look) -> None:
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


def _draw_tape_measure(pen: Pen, look: Look) -> None:
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


def _draw_flashlight(pen: Pen, look: Look) -> None:
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


def _drop(pen: Pen, x: float, y: float, radius: float, color: Color) -> None:
    sides = [(x, y - radius * 2.1), *rounded(x, y, radius, radius, -20, 200)]
    pen.polygon(sides, color)


def _draw_paint_can(pen: Pen, look: Look) -> None:
    half = 0.34 * (1 + 0.18 * look.stretch)
    left, right = 0.5 - half, 0.5 + half
    pen.line(rounded(0.5, 0.36, half + 0.02, 0.28, 180, 360), TIN, 0.035)
    pen.box(left, 0.36, right, 0.95, TIN, radius=0.03)
    pen.box(left, 0.5, right, 0.86, look.body)
    if look.form % 3 == 0:
        pen.disc(0.5, 0.7, 0.11, look.accent)
    elif look.form % 3 == 1:
        pen.box(left + 0.02, 0.68, right - 0.02, 0.8, look.accent, outline=False)
    else:
        _drop(pen, 0.5, 0.74, 0.09, look.accent)
    pen.ellipse(left - 0.03, 0.26, right + 0.03, 0.48, TIN)
    pen.ellipse(left + 0.05, 0.3, right - 0.05, 0.44, look.accent)
    for x, low in ((left + 0.1, 0.66), (left + 0.22, 0.55), (right - 0.1, 0.6)):
        pen.line([(x, 0.44), (x, low)], look.accent, 0.085, outline=False)


def _draw_oil_can(pen: Pen, look: Look) -> None:
    half = 0.28 * (1 + 0.2 * look.stretch)
    middle = 0.43
    pen.line([(middle, 0.42), (0.62, 0.24), (0.88, 0.12)], look.accent, 0.055)
    _drop(pen, 0.92, 0.32, 0.045, (70, 52, 30))
    pen.line(rounded(middle - half * 0.75, 0.62, 0.11, 0.17, 110, 290), look.accent, 0.06)
    if look.form % 2:
        top = [(middle - 0.08, 0.44), (middle + 0.08, 0.44), (middle + half, 0.78), (middle - half, 0.78)]
        pen.polygon(top, look.body)
    else:
        pen.polygon(rounded(middle, 0.78, half, 0.36, 180, 360), look.body)
    pen.box(middle - half, 0.74, middle + half, 0.96, look.body, radius=0.03)
    pen.box(middle - 0.09, 0.36, middle + 0.09, 0.48, look.accent, radius=0.02)
    if look.form % 3 == 2:
        pen.box(middle - half, 0.8, middle + half, 0.88, look.accent)
    else:
        _drop(pen, middle, 0.8, 0.08, lighter(look.accent, 0.6))


def _draw_glue_bottle(pen: Pen, look: Look) -> None:
    half = 0.23 * (1 + 0.25 * look.stretch)
    orange = mix((246, 130, 36), look.accent, 0.3)
    pen.polygon([(0.47, 0.04), (0.53, 0.04), (0.6, 0.26), (0.4, 0.26)], orange)
    pen.box(0.36, 0.24, 0.64, 0.34, orange, radius=0.02)
    shoulder = [*bowed((0.38, 0.34), (0.5 - half, 0.36), (0.5 - half, 0.52), 5)]
    mirror = [(1 - x, y) for x, y in reversed(shoulder)]
    pen.polygon([*shoulder, (0.5 - half, 0.92), (0.5 - half + 0.04, 0.96), (0.5 + half - 0.04, 0.96),
                 (0.5 + half, 0.92), *mirror], look.body)  # fmt: skip
    white = mix(MILK, look.body, 0.1)
    if look.form % 3 == 1:
        pen.box(0.5 - half, 0.54, 0.5 + half, 0.84, white)
        pen.box(0.5 - half * 0.7, 0.65, 0.5 + half * 0.7, 0.73, look.accent, outline=False)
    elif look.form % 3 == 2:
        pen.disc(0.5, 0.69, half * 0.75, white)
        _drop(pen, 0.5, 0.73, 0.06, look.accent)
    else:
        pen.box(0.5 - half, 0.54, 0.5 + half, 0.84, white)
        _drop(pen, 0.5, 0.74, 0.08, look.accent)
    _drop(pen, 0.66, 0.16, 0.045, white)


def _draw_shampoo_bottle(pen: Pen, look: Look) -> None:
    half = 0.25 * (1 + 0.22 * look.stretch)
    pen.box(0.46, 0.1, 0.54, 0.32, look.accent)
    head = [(0.14, 0.13), (0.2, 0.06), (0.64, 0.04), (0.66, 0.15), (0.26, 0.16), (0.2, 0.24), (0.13, 0.22)]
    pen.polygon(head, look.accent)
    pen.box(0.38, 0.26, 0.62, 0.38, look.accent, radius=0.02)
    left, right = 0.5 - half, 0.5 + half
    if look.form % 2:
        waist = [
            *bowed((0.38, 0.37), (left - 0.02, 0.38), (left, 0.56)),
            *bowed((left, 0.56), (left + 0.14, 0.76), (left, 0.96)),
        ]
        pen.polygon([*waist, *((1 - x, y) for x, y in reversed(waist))], look.body)
    else:
        pen.box(left, 0.36, right, 0.96, look.body, radius=0.12)
    foam = lighter(look.body, 0.75)
    if look.form % 3 == 1:
        pen.line(
            [(left + 0.1, 0.6), (0.44, 0.56), (0.54, 0.63), (right - 0.1, 0.58)], foam, 0.07, outline=False
        )
        pen.line(
            [(left + 0.13, 0.75), (0.44, 0.71), (0.54, 0.78), (right - 0.13, 0.73)], foam, 0.07, outline=False
        )
    else:
        for x, y, radius in ((-0.3, 0.74, 0.085), (0.25, 0.8, 0.07), (0.2, 0.58, 0.1)):
            pen.disc(0.5 + half * x, y, radius, foam)


def _draw_milk_carton(pen: Pen, look: Look) -> None:
    right = 0.6 + 0.08 * look.stretch
    left, back = 0.18, right + 0.2
    white, shade = mix(MILK, look.body, 0.06), mix((206, 208, 212), look.body, 0.3)
    pen.polygon([(right, 0.4), (back, 0.34), (back, 0.88), (right, 0.96)], shade)
    pen.polygon([(left, 0.4), (right, 0.4), (right, 0.96), (left, 0.96)], white)
    pen.polygon([(right, 0.4), (back, 0.34), (right + 0.07, 0.15)], darker(look.body, 0.3))
    pen.polygon([(left, 0.4), (right, 0.4), (right + 0.07, 0.16), (left + 0.07, 0.16)], look.body)
    pen.box(left + 0.06, 0.04, right + 0.09, 0.18, look.body)
    wave = bowed((left, 0.7), ((left + right) / 2 - 0.06, 0.52), ((left + right) / 2, 0.7))
    wave += bowed(((left + right) / 2, 0.7), ((left + right) / 2 + 0.06, 0.86), (right, 0.66))
    if look.form % 3 == 2:
        middle = (left + right) / 2
        for x, y, across in ((-0.1, 0.52, 0.09), (0.12, 0.64, 0.08), (-0.06, 0.8, 0.11)):
            pen.ellipse(
                middle + x - across, y - 0.06, middle + x + across, y + 0.07, look.accent, outline=False
            )
    else:
        pen.polygon([*wave, (right, 0.96), (left, 0.96)], look.body)
        pen.box(left + 0.08, 0.46, right - 0.08, 0.56, look.accent, outline=False)
    if look.form % 3 == 1:
        pen.disc((left + right) / 2 + 0.04, 0.28, 0.085, look.accent)


def _draw_baby_bottle(pen: Pen, look: Look) -> None:
    half = 0.22 * (1 + 0.22 * look.stretch)
    left, right = 0.5 - half, 0.5 + half
    rubber: Color = (236, 178, 110)
    pen.polygon([*rounded(0.5, 0.1, 0.06, 0.06, 150, 390), *bowed((0.55, 0.14), (0.56, 0.22), (0.68, 0.28)),
                 *bowed((0.32, 0.28), (0.44, 0.22), (0.45, 0.14))], rubber)  # fmt: skip
    pen.box(left, 0.38, right, 0.96, lighter(WATER, 0.65), radius=0.09)
    pen.box(left, 0.56, right, 0.96, MILK, radius=0.09)
    pen.box(left - 0.02, 0.27, right + 0.02, 0.41, look.body, radius=0.03)
    for i, y in enumerate((0.5, 0.6, 0.7, 0.8)):
        reach = 0.2 if i % 2 else 0.13
        pen.line([(left + 0.05, y), (left + 0.05 + reach, y)], look.accent, 0.03, outline=False)
    if look.form % 3 == 1:
        for side in (left, right):
            pen.arc(side, 0.62, 0.15, -90 if side > 0.5 else 90, 90 if side > 0.5 else 270, look.body, 0.07)
    mark = 0.5 + half * 0.45
    if look.form % 3 == 2:
        heart = [(mark, 0.84), (mark - 0.08, 0.72), (mark - 0.04, 0.67), (mark, 0.71)]
        pen.polygon([*heart, (mark + 0.04, 0.67), (mark + 0.08, 0.72)], look.body)
    else:
        pen.disc(mark, 0.75, 0.07, look.body)
    pen.box(left, 0.87, right, 0.96, look.body, radius=0.04)


def _draw_watering_can(pen: Pen, look: Look) -> None:
    left = 0.4 - 0.05 * look.stretch
    pen.line(bowed((0.74, 0.46), (1.06, 0.5), (0.82, 0.84)), look.accent, 0.07)
    if look.form % 2:
        pen.line(bowed((left + 0.04, 0.46), (0.58, 0.0), (0.76, 0.46)), look.accent, 0.07)
    pen.polygon([(left + 0.02, 0.84), (left + 0.02, 0.62), (0.2, 0.3), (0.13, 0.35)], look.body)
    pen.polygon([(0.04, 0.4), (0.23, 0.2), (0.29, 0.28), (0.12, 0.46)], look.accent)
    for x, y in ((0.06, 0.56), (0.14, 0.64), (0.07, 0.74)):
        _drop(pen, x, y, 0.03, WATER)
    pen.polygon([(left + 0.03, 0.44), (0.79, 0.44), (0.86, 0.94), (left - 0.04, 0.94)], look.body)
    pen.ellipse(left + 0.01, 0.36, 0.81, 0.52, look.body)
    pen.polygon(rounded((left + 0.82) / 2, 0.44, 0.16, 0.05, 0, 350), WATER)
    if look.form % 3 == 2:
        middle = (left + 0.83) / 2
        for x, y in ((0.0, -0.07), (0.07, 0.0), (0.0, 0.07), (-0.07, 0.0)):
            pen.disc(middle + x, 0.72 + y, 0.06, look.accent, outline=False)
        pen.disc(middle, 0.72, 0.04, (246, 206, 60), outline=False)
    else:
        pen.polygon(
            [(left, 0.66), (0.82, 0.66), (0.84, 0.78), (left - 0.02, 0.78)], look.accent, outline=False
        )


def _draw_bucket(pen: Pen, look: Look) -> None:
    low = 0.24 * (1 + 0.2 * look.stretch)
    if look.form % 3 == 1:
        pen.line(bowed((0.1, 0.42), (0.5, -0.26), (0.9, 0.42), 12), TIN, 0.04)
        pen.line([(0.4, 0.09), (0.6, 0.09)], look.accent, 0.07)
    else:
        pen.line(bowed((0.1, 0.42), (0.5, -0.26), (0.9, 0.42), 12), look.accent, 0.055)
    pen.polygon([(0.06, 0.4), (0.94, 0.4), (0.5 + low, 0.94), (0.5 - low, 0.94)], look.body)
    pen.ellipse(0.5 - low, 0.88, 0.5 + low, 0.96, look.body, outline=False)
    if look.form % 3 == 2:
        pen.polygon([(0.16, 0.6), (0.84, 0.6), (0.5 + low * 1.3, 0.72), (0.5 - low * 1.3, 0.72)], look.accent)
    pen.ellipse(0.05, 0.28, 0.95, 0.52, lighter(look.body, 0.3))
    pen.ellipse(0.11, 0.32, 0.89, 0.49, darker(look.body, 0.6))
    pen.polygon([*rounded(0.5, 0.44, 0.33, 0.05, 0, 350)], WATER)
    for x in (0.1, 0.9):
        pen.disc(x, 0.43, 0.045, look.accent)
