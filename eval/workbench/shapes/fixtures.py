"""Where events happen: the fixtures that things are put into, onto, under or beside."""

from __future__ import annotations

from eval.workbench.pen import Look, Pen, darker, lighter, stretched, tinted

WHITE = (240, 240, 236)
STEEL = (176, 184, 194)
DARK = (44, 46, 54)
WOOD = (176, 118, 62)
PALE_WOOD = (216, 170, 110)
WATER = (70, 160, 235)
SKY = (150, 210, 250)
RED = (216, 44, 40)
ORANGE = (242, 134, 30)
BRASS = (222, 176, 60)


def _draw_wall_socket(pen: Pen, look: Look) -> None:
    plate = tinted(look, WHITE)
    half = stretched(look, 0.38)
    pen.box(0.5 - half, 0.04, 0.5 + half, 0.96, plate, radius=0.09)
    if look.form % 2:
        for top in (0.12, 0.54):
            pen.box(0.27, top, 0.73, top + 0.34, darker(plate, 0.15), radius=0.1)
            pen.box(0.36, top + 0.06, 0.42, top + 0.2, DARK)
            pen.box(0.58, top + 0.06, 0.64, top + 0.2, DARK)
            pen.disc(0.5, top + 0.26, 0.045, DARK)
        return
    pen.disc(0.5, 0.5, 0.29, darker(plate, 0.28))
    pen.disc(0.38, 0.5, 0.06, DARK)
    pen.disc(0.62, 0.5, 0.06, DARK)
    pen.box(0.46, 0.21, 0.54, 0.28, BRASS)
    pen.box(0.46, 0.72, 0.54, 0.79, BRASS)


def _draw_extension_cord(pen: Pen, look: Look) -> None:
    strip = tinted(look, WHITE)
    top = 0.62 - stretched(look, 0.06)
    if look.form % 2:
        pen.arc(0.52, 0.3, 0.19, 0, 360, ORANGE, 0.045)
        pen.arc(0.62, 0.3, 0.19, 0, 360, ORANGE, 0.045)
        pen.line([(0.42, 0.2), (0.2, 0.2)], ORANGE, 0.045)
    else:
        wave = [(0.92, 0.75), (0.94, 0.4), (0.8, 0.14), (0.62, 0.16), (0.54, 0.36), (0.42, 0.44), (0.2, 0.2)]
        pen.line(wave, ORANGE, 0.05)
    pen.box(0.04, 0.14, 0.1, 0.17, STEEL)
    pen.box(0.04, 0.23, 0.1, 0.26, STEEL)
    pen.box(0.09, 0.1, 0.24, 0.3, ORANGE, radius=0.04)
    pen.box(0.04, top, 0.96, 0.9, strip, radius=0.06)
    middle = (top + 0.9) / 2
    for x in (0.17, 0.37, 0.57):
        pen.disc(x, middle, 0.09, darker(strip, 0.3))
        pen.disc(x - 0.035, middle, 0.024, DARK, outline=False)
        pen.disc(x + 0.035, middle, 0.024, DARK, outline=False)
    pen.box(0.74, middle - 0.09, 0.9, middle + 0.09, RED, radius=0.02)


def _draw_bowl(pen: Pen, look: Look) -> None:
    clay = tinted(look, (40, 90, 190))
    low = 0.74 + stretched(look, 0.14)
    pen.box(0.36, low - 0.1, 0.64, low + 0.05, darker(clay, 0.2), radius=0.02)
    side = [(0.04, 0.34), (0.1, 0.55), (0.22, low - 0.12), (0.36, low - 0.02)]
    pen.polygon([*side, *[(1 - x, y) for x, y in reversed(side)]], clay)
    if look.form % 2:
        for x in (0.24, 0.42, 0.58, 0.76):
            pen.disc(x, 0.62, 0.05, WHITE)
    else:
        pen.polygon([(0.09, 0.53), (0.91, 0.53), (0.86, 0.63), (0.14, 0.63)], WHITE, outline=False)
    pen.ellipse(0.04, 0.2, 0.96, 0.5, lighter(clay, 0.35))
    pen.ellipse(0.11, 0.25, 0.89, 0.46, WHITE)


def _draw_sink(pen: Pen, look: Look) -> None:
    basin = tinted(look, WHITE)
    pen.line([(0.5, 0.46), (0.5, 0.12), (0.58, 0.08), (0.68, 0.12), (0.68, 0.24)], STEEL, 0.07)
    for x in (0.3, 0.7):
        pen.box(x - 0.07, 0.3, x + 0.07, 0.37, STEEL, radius=0.03)
        pen.box(x - 0.03, 0.34, x + 0.03, 0.46, STEEL)
    if look.form % 2:
        pen.box(0.38, 0.66, 0.62, 0.96, basin)
        pen.polygon([(0.04, 0.54), (0.96, 0.54), (0.8, 0.8), (0.2, 0.8)], basin)
        pen.ellipse(0.04, 0.4, 0.96, 0.68, basin)
        pen.ellipse(0.12, 0.45, 0.88, 0.64, WATER)
        pen.ellipse(0.45, 0.52, 0.55, 0.58, DARK)
        return
    bottom = 0.84 + stretched(look, 0.08)
    pen.polygon([(0.14, 0.42), (0.86, 0.42), (0.96, bottom), (0.04, bottom)], basin)
    pen.polygon([(0.22, 0.5), (0.78, 0.5), (0.86, bottom - 0.08), (0.14, bottom - 0.08)], WATER)
    pen.ellipse(0.42, 0.64, 0.58, 0.74, DARK)


def _draw_pot(pen: Pen, look: Look) -> None:
    iron = tinted(look, (196, 50, 40))
    top = 0.5 - stretched(look, 0.08)
    for x in (0.32, 0.5, 0.68):
        pen.line([(x, 0.3), (x - 0.05, 0.22), (x + 0.05, 0.13), (x, 0.05)], WHITE, 0.045)
    for x0, x1 in ((0.04, 0.22), (0.78, 0.96)):
        pen.box(x0, top + 0.1, x1, top + 0.27, DARK, radius=0.06)
        pen.box(x0 + 0.06, top + 0.15, x1 - 0.06, top + 0.21, STEEL, outline=False)
    pen.box(0.14, top, 0.86, 0.95, iron, radius=0.08)
    if look.form % 2:
        pen.box(0.14, 0.76, 0.86, 0.83, lighter(iron, 0.5), outline=False)
    pen.ellipse(0.12, top - 0.12, 0.88, top + 0.1, lighter(iron, 0.4))
    pen.ellipse(0.19, top - 0.08, 0.81, top + 0.07, ORANGE)


def _draw_shelf(pen: Pen, look: Look) -> None:
    wood = tinted(look, WOOD)
    if look.form % 2:
        pen.box(0.1, 0.04, 0.9, 0.96, darker(wood, 0.55))
        for x in (0.06, 0.86):
            pen.box(x, 0.04, x + 0.08, 0.96, wood)
        for y in (0.04, 0.32, 0.6, 0.88):
            pen.box(0.06, y, 0.94, y + 0.08, lighter(wood, 0.15))
        return
    gap = stretched(look, 0.36)
    for y in (0.42, 0.42 + gap):
        for x in (0.18, 0.74):
            pen.polygon([(x, y), (x + 0.1, y), (x + 0.03, y + 0.18), (x, y + 0.18)], DARK)
        pen.box(0.04, y - 0.06, 0.96, y + 0.04, wood)
    for x, top, color in ((0.1, 0.08, RED), (0.22, 0.14, BRASS), (0.34, 0.06, WATER)):
        pen.box(x, top, x + 0.12, 0.36, color)


def _draw_drawer(pen: Pen, look: Look) -> None:
    wood = tinted(look, WOOD)
    inset = 0.12 - stretched(look, 0.03)
    pen.box(inset, 0.04, 1 - inset, 0.92, darker(wood, 0.25))
    pen.box(inset - 0.03, 0.04, 1.03 - inset, 0.13, lighter(wood, 0.2))
    pen.box(inset + 0.06, 0.17, 0.94 - inset, 0.37, wood)
    _handle(pen, look, 0.27)
    pen.polygon([(0.2, 0.45), (0.8, 0.45), (0.94, 0.62), (0.06, 0.62)], (28, 22, 20))
    pen.box(0.04, 0.6, 0.96, 0.96, lighter(wood, 0.12))
    _handle(pen, look, 0.78)


def _handle(pen: Pen, look: Look, y: float) -> None:
    if look.form % 2:
        pen.disc(0.36, y, 0.05, BRASS)
        pen.disc(0.64, y, 0.05, BRASS)
    else:
        pen.box(0.34, y - 0.035, 0.66, y + 0.035, BRASS, radius=0.03)


def _draw_tray(pen: Pen, look: Look) -> None:
    rim = tinted(look, (120, 70, 36))
    top = 0.36 - stretched(look, 0.06)
    pen.arc(0.17, 0.57, 0.1, 60, 300, BRASS, 0.05)
    pen.arc(0.83, 0.57, 0.1, -120, 120, BRASS, 0.05)
    if look.form % 2:
        pen.ellipse(0.08, top, 0.92, 0.84, rim)
        pen.ellipse(0.08, top - 0.04, 0.92, 0.78, lighter(rim, 0.15))
        pen.ellipse(0.17, top + 0.03, 0.83, 0.71, PALE_WOOD)
        return
    pen.polygon([(0.08, 0.7), (0.92, 0.7), (0.92, 0.8), (0.08, 0.8)], darker(rim, 0.3))
    pen.polygon([(0.2, top), (0.8, top), (0.92, 0.72), (0.08, 0.72)], rim)
    pen.polygon([(0.26, top + 0.06), (0.74, top + 0.06), (0.83, 0.64), (0.17, 0.64)], PALE_WOOD)


def _draw_chair(pen: Pen, look: Look) -> None:
    wood = tinted(look, PALE_WOOD)
    half = stretched(look, 0.26)
    left, right = 0.5 - half, 0.5 + half
    for x in (left + 0.03, right - 0.03):
        pen.line([(x, 0.07), (x, 0.8)], wood, 0.07)
    if look.form % 2:
        pen.box(left, 0.08, right, 0.42, wood, radius=0.05)
    else:
        for y in (0.1, 0.23, 0.36):
            pen.box(left, y, right, y + 0.07, wood)
    for x in (left - 0.05, right + 0.05):
        pen.line([(x, 0.64), (x, 0.93)], darker(wood, 0.2), 0.07)
    pen.polygon([(left, 0.5), (right, 0.5), (right + 0.1, 0.66), (left - 0.1, 0.66)], RED)
    pen.box(left - 0.1, 0.65, right + 0.1, 0.71, wood)


def _draw_doormat(pen: Pen, look: Look) -> None:
    straw = tinted(look, (170, 120, 60))
    top = 0.42 - stretched(look, 0.06)
    for i in range(9):
        x = 0.07 + i * 0.1075
        pen.line([(x, 0.7), (x, 0.8)], darker(straw, 0.2), 0.035)
    pen.polygon([(0.14, top), (0.86, top), (0.96, 0.72), (0.04, 0.72)], straw)
    pen.polygon([(0.2, top + 0.05), (0.8, top + 0.05), (0.87, 0.66), (0.13, 0.66)], DARK, outline=False)
    if look.form % 2:
        for x in (0.25, 0.44, 0.63):
            diamond = [(x, 0.53), (x + 0.07, top + 0.08), (x + 0.14, 0.53), (x + 0.07, 0.63)]
            pen.polygon(diamond, straw, outline=False)
        return
    for y in (top + 0.1, 0.53, 0.6):
        pen.line([(0.22, y), (0.78, y)], lighter(straw, 0.2), 0.03, outline=False)


def _draw_hook(pen: Pen, look: Look) -> None:
    brass = tinted(look, BRASS)
    half = stretched(look, 0.17)
    pen.box(0.5 - half, 0.04, 0.5 + half, 0.5, DARK, radius=0.08)
    pen.disc(0.5, 0.12, 0.04, STEEL)
    pen.disc(0.5, 0.42, 0.04, STEEL)
    if look.form % 2:
        for side in (-1, 1):
            points = [(0.0, 0.28), (0.0, 0.72), (0.08, 0.88), (0.24, 0.88), (0.34, 0.72), (0.34, 0.6)]
            pen.line([(0.5 + side * x, y) for x, y in points], brass, 0.1)
            pen.disc(0.5 + side * 0.34, 0.58, 0.09, brass)
        return
    points = [(0.5, 0.26), (0.5, 0.76), (0.56, 0.87), (0.68, 0.9), (0.8, 0.84), (0.85, 0.7), (0.85, 0.58)]
    pen.line(points, brass, 0.12)
    pen.disc(0.85, 0.55, 0.1, brass)


def _draw_clothes_line(pen: Pen, look: Look) -> None:
    post = tinted(look, STEEL)
    for x in (0.08, 0.92):
        pen.box(x - 0.035, 0.08, x + 0.035, 0.96, post)
    dip = 0.2 + stretched(look, 0.06)
    rope = [(0.08, 0.14), (0.3, dip), (0.5, dip + 0.02), (0.7, dip), (0.92, 0.14)]
    pen.line(rope, WHITE, 0.03)
    sheet = (250, 210, 60) if look.form % 2 else (90, 200, 150)
    pen.polygon([(0.2, dip), (0.48, dip + 0.02), (0.46, 0.72), (0.33, 0.68), (0.2, 0.74)], sheet)
    sock = [(0.6, dip), (0.74, dip), (0.74, 0.56), (0.86, 0.6), (0.84, 0.7), (0.6, 0.68)]
    pen.polygon(sock, RED)
    for x in (0.23, 0.45, 0.67, 0.81):
        pen.box(x - 0.025, dip - 0.1, x + 0.025, dip + 0.08, PALE_WOOD)


def _draw_bin(pen: Pen, look: Look) -> None:
    green = tinted(look, (40, 140, 70))
    half = stretched(look, 0.3)
    left, right = 0.5 - half, 0.5 + half
    pen.polygon([(left - 0.06, 0.3), (left + 0.02, 0.2), (right - 0.02, 0.06), (right + 0.04, 0.14)], DARK)
    body = [(left, 0.34), (right, 0.34), (right - 0.07, 0.96), (left + 0.07, 0.96)]
    pen.polygon(body, green)
    pen.ellipse(left - 0.04, 0.26, right + 0.04, 0.42, DARK)
    if look.form % 2:
        for side in (-0.55, 0.0, 0.55):
            rib = [(0.5 + side * half, 0.46), (0.5 + side * half * 0.8, 0.92)]
            pen.line(rib, darker(green), 0.05, outline=False)
        return
    pen.arc(0.5, 0.68, 0.13, 20, 120, WHITE, 0.05, outline=False)
    pen.arc(0.5, 0.68, 0.13, 140, 240, WHITE, 0.05, outline=False)
    pen.arc(0.5, 0.68, 0.13, 260, 360, WHITE, 0.05, outline=False)


def _draw_basket(pen: Pen, look: Look) -> None:
    straw = tinted(look, (214, 160, 80))
    low = 0.86 + stretched(look, 0.06)
    pen.arc(0.5, 0.5, 0.38 if look.form % 2 else 0.42, 180, 360, darker(straw, 0.3), 0.07)
    pen.polygon([(0.06, 0.5), (0.94, 0.5), (0.8, low), (0.2, low)], straw)
    for row in range(3):
        y = 0.6 + row * (low - 0.6) / 3
        for column in range(5):
            shift = 0.07 * (row % 2)
            x = 0.18 + 0.03 * row + column * (0.13 - 0.01 * row) + shift
            pen.box(x, y, x + 0.075, y + 0.065, darker(straw, 0.5), outline=False)
    pen.box(0.04, 0.45, 0.96, 0.56, lighter(straw, 0.25), radius=0.05)


def _draw_box(pen: Pen, look: Look) -> None:
    card = tinted(look, (200, 150, 92))
    low = 0.9 + stretched(look, 0.05)
    pen.polygon([(0.16, 0.4), (0.3, 0.24), (0.7, 0.24), (0.84, 0.4)], (70, 48, 28))
    pen.polygon([(0.3, 0.24), (0.7, 0.24), (0.76, 0.06), (0.24, 0.06)], darker(card, 0.15))
    pen.polygon([(0.16, 0.4), (0.3, 0.24), (0.16, 0.16), (0.04, 0.3)], lighter(card, 0.15))
    pen.polygon([(0.84, 0.4), (0.7, 0.24), (0.84, 0.16), (0.96, 0.3)], lighter(card, 0.15))
    pen.box(0.16, 0.4, 0.84, low, card)
    pen.polygon([(0.16, 0.4), (0.84, 0.4), (0.9, 0.54), (0.1, 0.54)], lighter(card, 0.25))
    if look.form % 2:
        pen.polygon([(0.5, 0.62), (0.6, 0.74), (0.4, 0.74)], DARK, outline=False)
        pen.box(0.47, 0.72, 0.53, 0.85, DARK, outline=False)
    else:
        pen.box(0.43, 0.54, 0.57, low, (240, 220, 150), outline=False)


def _draw_scale(pen: Pen, look: Look) -> None:
    case = tinted(look, (70, 180, 170))
    pen.box(0.42, 0.2, 0.58, 0.36, STEEL)
    if look.form % 2:
        pen.box(0.1, 0.12, 0.9, 0.22, STEEL, radius=0.03)
    else:
        pen.polygon([(0.06, 0.06), (0.94, 0.06), (0.78, 0.25), (0.22, 0.25)], STEEL)
    half = stretched(look, 0.3)
    pen.polygon([(0.5 - half, 0.34), (0.5 + half, 0.34), (0.92, 0.96), (0.08, 0.96)], case)
    pen.disc(0.5, 0.65, 0.25, WHITE)
    for x, y in ((0.5, 0.45), (0.3, 0.65), (0.7, 0.65), (0.36, 0.51), (0.64, 0.51)):
        pen.disc(x, y, 0.022, DARK, outline=False)
    pen.line([(0.5, 0.66), (0.62, 0.5)], RED, 0.045, outline=False)
    pen.disc(0.5, 0.66, 0.045, DARK)


def _draw_windowsill(pen: Pen, look: Look) -> None:
    frame = tinted(look, WHITE)
    top = 0.12 - stretched(look, 0.06)
    pen.box(0.12, top, 0.88, 0.76, frame)
    pen.box(0.18, top + 0.06, 0.82, 0.76, SKY)
    pen.disc(0.68, 0.24, 0.09, (255, 214, 60), outline=False)
    hill = [(0.18, 0.76), (0.18, 0.6), (0.42, 0.52), (0.82, 0.64), (0.82, 0.76)]
    pen.polygon(hill, (90, 170, 80), outline=False)
    pen.box(0.47, top, 0.53, 0.76, frame)
    if look.form % 2:
        pen.box(0.14, 0.36, 0.86, 0.41, frame)
    pen.polygon([(0.12, 0.72), (0.88, 0.72), (0.96, 0.82), (0.04, 0.82)], lighter(frame, 0.4))
    pen.box(0.04, 0.82, 0.96, 0.9, frame)
    for x in (0.16, 0.76):
        pen.polygon([(x, 0.9), (x + 0.08, 0.9), (x + 0.04, 0.96)], darker(frame, 0.4))


def _draw_suitcase(pen: Pen, look: Look) -> None:
    leather = tinted(look, (150, 84, 44))
    top = 0.1 - stretched(look, 0.05)
    pen.box(0.08, top, 0.92, 0.56, leather, radius=0.07)
    pen.box(0.14, top + 0.07, 0.86, 0.52, (236, 196, 170))
    if look.form % 2:
        pen.line([(0.16, top + 0.09), (0.84, 0.48)], DARK, 0.035, outline=False)
        pen.line([(0.84, top + 0.09), (0.16, 0.48)], DARK, 0.035, outline=False)
    else:
        for x in (0.3, 0.64):
            pen.box(x, top + 0.07, x + 0.06, 0.52, DARK, outline=False)
    pen.polygon([(0.1, 0.5), (0.9, 0.5), (0.96, 0.64), (0.04, 0.64)], (90, 50, 40))
    pen.box(0.04, 0.62, 0.96, 0.92, leather, radius=0.05)
    for x in (0.14, 0.76):
        pen.box(x, 0.6, x + 0.1, 0.74, BRASS)
    pen.line([(0.38, 0.74), (0.38, 0.84), (0.62, 0.84), (0.62, 0.74)], DARK, 0.05)


def _draw_cloth(pen: Pen, look: Look) -> None:
    blue = tinted(look, (60, 120, 220))
    dip = stretched(look, 0.12)
    upper = [(0.05, 0.3), (0.3, 0.12), (0.55, 0.22), (0.93, 0.1), (0.9, 0.4)]
    lower = [(0.96, 0.7), (0.7, 0.8 + dip / 2), (0.45, 0.76), (0.14, 0.8 + dip), (0.1, 0.55)]
    pen.polygon([*upper, *lower], WHITE)
    strips = [0.16, 0.38, 0.6] if look.form % 2 else [0.14, 0.3, 0.46, 0.62, 0.78]
    width = 0.11 if look.form % 2 else 0.07
    for at in strips:
        pen.line([(at + 0.06, 0.26), (at + 0.02, 0.52), (at + 0.08, 0.74)], blue, width, outline=False)
    for y in (0.34, 0.52, 0.7):
        pen.line([(0.14, y + 0.04), (0.4, y - 0.04), (0.88, y)], lighter(blue, 0.2), width, outline=False)
    pen.polygon([(0.93, 0.1), (0.72, 0.15), (0.78, 0.36), (0.9, 0.4)], darker(blue, 0.15))


def _draw_stool(pen: Pen, look: Look) -> None:
    wood = tinted(look, WOOD)
    spread = stretched(look, 0.12)
    for x, foot in ((0.3, 0.26 - spread), (0.7, 0.74 + spread)):
        pen.line([(x, 0.3), (foot, 0.92)], wood, 0.085)
    pen.line([(0.5, 0.3), (0.5, 0.9)], darker(wood, 0.2), 0.085)
    pen.line([(0.24, 0.66), (0.76, 0.66)], wood, 0.055)
    if look.form % 2:
        pen.box(0.08, 0.12, 0.92, 0.34, (230, 60, 50), radius=0.1)
    else:
        pen.ellipse(0.08, 0.16, 0.92, 0.42, darker(wood, 0.1))
        pen.ellipse(0.08, 0.06, 0.92, 0.34, (230, 60, 50))
