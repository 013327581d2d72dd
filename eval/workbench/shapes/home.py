"""Household and bath objects."""

from __future__ import annotations

from itertools import pairwise

from eval.workbench.pen import Color, Look, Pen, Point, bowed, darker, lighter, mix, rounded, turned

_CREAM: Color = (246, 244, 238)
_RED: Color = (222, 48, 44)
_LEAF: Color = (66, 150, 66)
_FLAME: Color = (255, 176, 32)
_WHITE: Color = (248, 248, 246)
_STEEL: Color = (190, 196, 204)
_INK: Color = (40, 42, 48)
_GLASS: Color = (190, 226, 240)


def _draw_remote_control(pen: Pen, look: Look) -> None:
    half = 0.145 * (1 + 0.2 * look.stretch)
    pen.box(0.5 - half, 0.04, 0.5 + half, 0.96, look.body, radius=0.07)
    pen.disc(0.5 - half * 0.45, 0.13, 0.042, _RED)
    if look.form % 2:
        for row in range(3):
            for column in (-1, 0, 1):
                pen.disc(0.5 + column * half * 0.55, 0.26 + row * 0.11, 0.034, _CREAM, outline=False)
        pen.box(0.5 - half * 0.7, 0.60, 0.5 - half * 0.12, 0.82, look.accent, radius=0.03)
        pen.box(0.5 + half * 0.12, 0.60, 0.5 + half * 0.7, 0.82, look.accent, radius=0.03)
        return
    pen.disc(0.5, 0.34, half * 0.74, look.accent)
    pen.disc(0.5, 0.34, half * 0.30, _CREAM)
    for row in range(3):
        for column in (-1, 1):
            pen.disc(0.5 + column * half * 0.45, 0.56 + row * 0.12, 0.04, _CREAM, outline=False)


def _draw_cushion(pen: Pen, look: Look) -> None:
    tall = 0.40 * (1 + 0.12 * look.stretch) - 0.04
    top, low = 0.5 - tall, 0.5 + tall
    corners: list[Point] = [(0.10, top), (0.90, top), (0.90, low), (0.10, low)]
    for x, y in corners:
        pen.disc(x, y, 0.055, look.accent)
    sides: list[Point] = [
        (0.10, top), (0.30, top + 0.06), (0.5, top + 0.07), (0.70, top + 0.06),
        (0.90, top), (0.85, 0.36), (0.84, 0.5), (0.85, 0.64),
        (0.90, low), (0.70, low - 0.06), (0.5, low - 0.07), (0.30, low - 0.06),
        (0.10, low), (0.15, 0.64), (0.16, 0.5), (0.15, 0.36),
    ]  # fmt: skip
    pen.polygon(sides, look.body)
    if look.form % 3 == 1:
        for x in (0.30, 0.5, 0.70):
            pen.line([(x, top + 0.12), (x, low - 0.12)], look.accent, 0.07, outline=False)
    elif look.form % 3 == 2:
        pen.polygon([(0.5, top + 0.11), (0.78, 0.5), (0.5, low - 0.11), (0.22, 0.5)], look.accent)
    else:
        for x, y in corners:
            pen.line(
                [(x + (0.5 - x) * 0.3, y + (0.5 - y) * 0.3), (0.5, 0.5)],
                darker(look.body),
                0.02,
                outline=False,
            )
    pen.disc(0.5, 0.5, 0.055, _CREAM)


def _draw_book(pen: Pen, look: Look) -> None:
    right = 0.80 + 0.08 * look.stretch
    pen.polygon(
        [(0.16, 0.10), (right + 0.06, 0.10), (right + 0.06, 0.94), (0.20, 0.94)], darker(look.body, 0.3)
    )
    pen.polygon([(0.18, 0.80), (right + 0.03, 0.80), (right + 0.03, 0.90), (0.20, 0.90)], _CREAM)
    pen.polygon(
        [(right - 0.04, 0.08), (right + 0.03, 0.12), (right + 0.03, 0.90), (right - 0.04, 0.84)], _CREAM
    )
    pen.line([(0.22, 0.87), (right + 0.01, 0.87)], (190, 184, 170), 0.012, outline=False)
    pen.box(0.12, 0.04, right, 0.84, look.body, radius=0.03)
    pen.box(0.12, 0.04, 0.24, 0.84, look.accent, radius=0.03)
    middle = (0.26 + right) / 2
    if look.form % 3 == 0:
        pen.box(0.32, 0.16, right - 0.08, 0.40, _CREAM)
        pen.line([(0.38, 0.24), (right - 0.14, 0.24)], look.accent, 0.025, outline=False)
        pen.line([(0.38, 0.32), (right - 0.20, 0.32)], look.accent, 0.025, outline=False)
    elif look.form % 3 == 1:
        pen.disc(middle, 0.52, 0.15, lighter(look.accent, 0.5))
        pen.line([(0.34, 0.18), (right - 0.10, 0.18)], _CREAM, 0.05, outline=False)
    else:
        pen.line([(0.34, 0.20), (right - 0.10, 0.20)], _CREAM, 0.05, outline=False)
        pen.line([(0.34, 0.30), (right - 0.20, 0.30)], _CREAM, 0.03, outline=False)
        pen.polygon([(middle, 0.80), (middle + 0.10, 0.80), (middle + 0.10, 0.97), (middle + 0.05, 0.92),
                     (middle, 0.97)], _RED)  # fmt: skip


def _draw_candle(pen: Pen, look: Look) -> None:
    half = 0.14 * (1 + 0.25 * look.stretch)
    if look.form % 3 == 0:
        pen.arc(0.80, 0.84, 0.08, 0, 360, look.accent, 0.045)
    pen.ellipse(0.14, 0.78, 0.80, 0.96, look.accent)
    pen.box(0.47 - half, 0.36, 0.47 + half, 0.88, look.body, radius=0.03)
    if look.form % 3 == 1:
        for y in (0.50, 0.63, 0.76):
            pen.line([(0.49 - half, y + 0.05), (0.45 + half, y - 0.03)], _CREAM, 0.04, outline=False)
    drip = lighter(look.body, 0.45)
    pen.ellipse(0.47 - half, 0.32, 0.47 + half, 0.41, drip)
    pen.line([(0.47 - half * 0.6, 0.40), (0.47 - half * 0.6, 0.54)], drip, 0.05, outline=False)
    pen.line([(0.47 + half * 0.5, 0.40), (0.47 + half * 0.5, 0.48)], drip, 0.05, outline=False)
    pen.line([(0.47, 0.36), (0.47, 0.26)], (40, 36, 34), 0.025, outline=False)
    flame: list[Point] = [
        (0.47, 0.04), (0.55, 0.15), (0.57, 0.23), (0.53, 0.30), (0.47, 0.32), (0.41, 0.30), (0.37, 0.23),
        (0.40, 0.14),
    ]  # fmt: skip
    pen.polygon(flame, _FLAME)
    pen.ellipse(0.43, 0.18, 0.51, 0.31, (255, 240, 150), outline=False)


def _draw_toy_car(pen: Pen, look: Look) -> None:
    roof = 0.26 - 0.04 * look.stretch
    glass: Color = (178, 222, 242)
    if look.form % 3 == 1:
        pen.polygon([(0.40, 0.52), (0.44, roof), (0.72, roof), (0.84, 0.52)], look.body)
        pen.polygon([(0.60, 0.50), (0.60, roof + 0.06), (0.70, roof + 0.06), (0.78, 0.50)], glass)
        pen.polygon([(0.04, 0.44), (0.40, 0.44), (0.40, 0.52), (0.04, 0.52)], darker(look.body))
    elif look.form % 3 == 2:
        pen.polygon([(0.06, 0.52), (0.08, roof), (0.72, roof), (0.86, 0.52)], look.body)
        for x in (0.15, 0.38):
            pen.box(x, roof + 0.06, x + 0.17, 0.50, glass)
        pen.polygon([(0.61, 0.50), (0.61, roof + 0.06), (0.70, roof + 0.06), (0.78, 0.50)], glass)
    else:
        pen.polygon([(0.16, 0.52), (0.30, roof), (0.64, roof), (0.80, 0.52)], look.body)
        pen.polygon([(0.25, 0.50), (0.34, roof + 0.06), (0.46, roof + 0.06), (0.46, 0.50)], glass)
        pen.polygon([(0.51, 0.50), (0.51, roof + 0.06), (0.61, roof + 0.06), (0.71, 0.50)], glass)
    pen.box(0.04, 0.49, 0.96, 0.70, look.body, radius=0.07)
    pen.box(0.06, 0.59, 0.94, 0.65, look.accent, outline=False)
    pen.disc(0.91, 0.55, 0.035, (255, 226, 110))
    for x in (0.25, 0.75):
        pen.disc(x, 0.70, 0.135, (38, 38, 42))
        pen.disc(x, 0.70, 0.06, _CREAM)


def _draw_teddy_bear(pen: Pen, look: Look) -> None:
    fur = mix((168, 112, 62), look.body, 0.5)
    pale, half = lighter(fur, 0.5), 0.22 * (1 + 0.15 * look.stretch)
    for side in (-1, 1):
        pen.disc(0.5 + side * 0.19, 0.12, 0.08, fur)
        pen.disc(0.5 + side * 0.19, 0.12, 0.04, pale, outline=False)
        pen.line([(0.5 + side * 0.17, 0.54), (0.5 + side * (half + 0.13), 0.64)], fur, 0.15)
        pen.line([(0.5 + side * 0.12, 0.80), (0.5 + side * 0.25, 0.87)], fur, 0.16)
        pen.disc(0.5 + side * 0.26, 0.87, 0.055, pale, outline=False)
    pen.ellipse(0.5 - half, 0.42, 0.5 + half, 0.94, fur)
    pen.ellipse(0.5 - half * 0.6, 0.54, 0.5 + half * 0.6, 0.86, pale, outline=False)
    pen.ellipse(0.25, 0.06, 0.75, 0.50, fur)
    pen.ellipse(0.37, 0.27, 0.63, 0.47, pale, outline=False)
    pen.ellipse(0.45, 0.29, 0.55, 0.36, (40, 30, 28), outline=False)
    for x in (0.39, 0.61):
        pen.disc(x, 0.23, 0.035, (40, 30, 28), outline=False)
    if look.form % 2:
        pen.line([(0.34, 0.50), (0.66, 0.50)], look.accent, 0.08)
        pen.line([(0.60, 0.52), (0.62, 0.68)], look.accent, 0.08)
        return
    pen.polygon([(0.36, 0.44), (0.5, 0.51), (0.36, 0.59)], look.accent)
    pen.polygon([(0.64, 0.44), (0.5, 0.51), (0.64, 0.59)], look.accent)


def _draw_vase(pen: Pen, look: Look) -> None:
    belly = 0.27 * (1 + 0.2 * look.stretch)
    top = 0.06
    if look.form % 3 == 2:
        top = 0.34
        for x, y in ((0.32, 0.16), (0.68, 0.16), (0.5, 0.12)):
            pen.line([(0.5, 0.40), (x, y)], _LEAF, 0.03, outline=False)
            pen.disc(x, y, 0.10, (240, 110, 150))
            pen.disc(x, y, 0.04, (255, 222, 90), outline=False)
    tall = 0.96 - top
    if look.form % 3 == 1:
        for x in (0.5 - 0.15, 0.5 + 0.15):
            pen.arc(x, top + 0.28 * tall, 0.13, 0, 360, look.accent, 0.05)
    profile = ((0.17, 0.0), (0.16, 0.04), (0.09, 0.13), (0.09, 0.25), (belly * 0.8, 0.36), (belly, 0.52),
               (belly * 0.85, 0.70), (0.13, 0.90), (0.17, 1.0))  # fmt: skip
    right = [(0.5 + half, top + share * tall) for half, share in profile]
    pen.polygon([*right, *[(1 - x, y) for x, y in reversed(right)]], look.body)
    pen.ellipse(0.33, top - 0.02, 0.67, top + 0.05, darker(look.body, 0.55))
    band = [(belly * 0.97, 0.46), (belly, 0.52), (belly * 0.95, 0.60)]
    right = [(0.5 + half, top + share * tall) for half, share in band]
    pen.polygon([*right, *[(1 - x, y) for x, y in reversed(right)]], look.accent, outline=False)
    pen.line([(0.40, top + 0.17 * tall), (0.60, top + 0.17 * tall)], look.accent, 0.03, outline=False)


def _draw_game_controller(pen: Pen, look: Look) -> None:
    low = 0.80 + 0.05 * look.stretch
    right: list[Point] = [
        (0.5, 0.27), (0.62, 0.27), (0.68, 0.22), (0.80, 0.23), (0.88, 0.32), (0.94, 0.54),
        (0.96, 0.70), (0.93, low), (0.85, low + 0.03), (0.77, low - 0.06), (0.68, 0.62), (0.5, 0.61),
    ]  # fmt: skip
    pen.polygon([*right, *[(1 - x, y) for x, y in reversed(right)]], look.body)
    pen.box(0.18, 0.37, 0.36, 0.43, look.accent)
    pen.box(0.24, 0.31, 0.30, 0.49, look.accent)
    pen.box(0.19, 0.38, 0.35, 0.42, look.accent, outline=False)
    buttons: tuple[tuple[float, float, Color], ...] = (
        (0.73, 0.32, (240, 200, 50)), (0.73, 0.48, (70, 180, 90)),
        (0.65, 0.40, (70, 120, 230)), (0.81, 0.40, _RED),
    )  # fmt: skip
    for x, y, color in buttons:
        pen.disc(x, y, 0.042, color)
    sticks = ((0.38, 0.55), (0.62, 0.55)) if look.form % 2 else ((0.5, 0.50),)
    for x, y in sticks:
        pen.disc(x, y, 0.075, darker(look.accent, 0.4))
        pen.disc(x, y, 0.04, lighter(look.accent, 0.3), outline=False)
    pen.line([(0.45, 0.35), (0.55, 0.35)], _CREAM, 0.03, outline=False)


def _draw_picture_frame(pen: Pen, look: Look) -> None:
    x0, y0 = 0.08, 0.14
    if look.form % 2:
        x0, y0 = 0.15, 0.05
    x0, y0 = x0 + 0.03 * (1 - look.stretch) / 2, y0 + 0.03 * (1 + look.stretch) / 2
    x1, y1 = 1 - x0, 1 - y0
    pen.box(x0, y0, x1, y1, look.body)
    pen.box(x0 + 0.05, y0 + 0.05, x1 - 0.05, y1 - 0.05, look.accent)
    pen.box(x0 + 0.10, y0 + 0.10, x1 - 0.10, y1 - 0.10, _CREAM)
    left, top, right, low = x0 + 0.15, y0 + 0.15, x1 - 0.15, y1 - 0.15
    if look.form % 2:
        pen.box(left, top, right, low, (150, 190, 220))
        pen.polygon([(left, low), (left + 0.06, low - 0.18), (0.5, low - 0.25), (right - 0.06, low - 0.18),
                     (right, low)], (70, 60, 110), outline=False)  # fmt: skip
        pen.ellipse(0.38, 0.29, 0.62, 0.56, (236, 190, 150))
        pen.polygon(
            [(0.38, 0.40), (0.40, 0.30), (0.5, 0.26), (0.60, 0.30), (0.62, 0.40), (0.5, 0.34)], (70, 44, 30)
        )
        return
    pen.box(left, top, right, low, (140, 200, 240))
    pen.disc(right - 0.10, top + 0.09, 0.055, (255, 220, 70), outline=False)
    middle = left + 0.4 * (right - left)
    pen.polygon([(left + 0.02, low - 0.01), (middle, top + 0.08), (right - 0.08, low - 0.01)], (98, 110, 130))
    pen.polygon([(left, low), (left, low - 0.07), (right, low - 0.13), (right, low)], _LEAF, outline=False)


def _draw_umbrella(pen: Pen, look: Look) -> None:
    low = 0.53 + 0.02 * look.stretch
    pen.line([(0.5, 0.10), (0.5, 0.83)], (96, 84, 78), 0.045)
    pen.arc(0.59, 0.83, 0.09, 180, 20, look.accent, 0.06)
    arch: list[Point] = [
        (0.04, low),
        (0.07, low - 0.15),
        (0.16, low - 0.28),
        (0.30, low - 0.38),
        (0.5, low - 0.42),
    ]
    ribs = (0.04, 0.27, 0.5, 0.73, 0.96)
    scallops: list[Point] = []
    for start, end in pairwise(ribs):
        scallops += [(start, low), ((3 * start + end) / 4, low - 0.05), ((start + 3 * end) / 4, low - 0.05)]
    pen.polygon([*arch, *[(1 - x, y) for x, y in reversed(arch[:-1])], *reversed(scallops)], look.body)
    if look.form % 2:
        for x, y in (
            (0.20, low - 0.15),
            (0.5, low - 0.25),
            (0.80, low - 0.15),
            (0.36, low - 0.10),
            (0.64, low - 0.10),
        ):
            pen.disc(x, y, 0.045, look.accent, outline=False)
    else:
        for side in (-1, 1):
            pen.polygon([(0.5, low - 0.42), (0.5 + side * 0.28, low - 0.27), (0.5 + side * 0.46, low),
                         (0.5 + side * 0.345, low - 0.05),
                         (0.5 + side * 0.23, low)], look.accent)  # fmt: skip
    pen.line([(0.5, low - 0.42), (0.5, low - 0.445)], (96, 84, 78), 0.04)


def _draw_toothbrush(pen: Pen, look: Look) -> None:
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


def _draw_hairbrush(pen: Pen, look: Look) -> None:
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


def _draw_towel(pen: Pen, look: Look) -> None:
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


def _draw_soap_bar(pen: Pen, look: Look) -> None:
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


def _draw_hair_dryer(pen: Pen, look: Look) -> None:
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


def _draw_toilet_roll(pen: Pen, look: Look) -> None:
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


def _draw_razor(pen: Pen, look: Look) -> None:
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


def _draw_mirror(pen: Pen, look: Look) -> None:
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
