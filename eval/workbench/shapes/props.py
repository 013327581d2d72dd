"""Decor on the wall or the floor that distinguishes clips: each is first of all of one colour."""

from __future__ import annotations

import math

from eval.workbench.pen import Look, Pen, darker, lighter, stretched

WHITE = (244, 242, 236)
GREY = (150, 152, 158)
DARK = (46, 46, 52)
LEAF = (60, 130, 60)


def _draw_wall_clock(pen: Pen, look: Look) -> None:
    if look.form % 2:
        half = stretched(look, 0.38)
        pen.box(0.5 - half, 0.04, 0.5 + half, 0.96, look.body, radius=0.08)
    else:
        pen.disc(0.5, 0.5, 0.46, look.body)
    pen.disc(0.5, 0.5, 0.28, WHITE)
    for x, y in ((0.5, 0.27), (0.73, 0.5), (0.5, 0.73), (0.27, 0.5)):
        pen.disc(x, y, 0.028, DARK, outline=False)
    pen.line([(0.5, 0.5), (0.5, 0.3)], DARK, 0.045, outline=False)
    pen.line([(0.5, 0.5), (0.64, 0.58)], DARK, 0.055, outline=False)


def _draw_poster(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.36)
    left, right = 0.5 - half, 0.5 + half
    pen.box(left, 0.04, right, 0.96, look.body)
    if look.form % 2:
        for y in (0.18, 0.44, 0.7):
            pen.polygon(
                [(left, y + 0.14), (right, y), (right, y + 0.09), (left, y + 0.23)], WHITE, outline=False
            )
    else:
        pen.disc(0.5, 0.34, 0.15, WHITE, outline=False)
        peaks = [(left + 0.02, 0.94), (left + 0.02, 0.78), (0.4, 0.54), (0.52, 0.7), (0.64, 0.6)]
        pen.polygon(
            [*peaks, (right - 0.02, 0.78), (right - 0.02, 0.94)], darker(look.body, 0.45), outline=False
        )
    for x in (left + 0.05, right - 0.05):
        pen.disc(x, 0.08, 0.03, DARK)


def _draw_potted_fern(pen: Pen, look: Look) -> None:
    top = 0.52 - stretched(look, 0.04)
    fans = ((0.1, 0.42), (0.16, 0.2), (0.36, 0.06), (0.64, 0.06), (0.84, 0.2), (0.9, 0.42))
    for x, y in fans:
        pen.line([(0.5, 0.54), ((x + 0.5) / 2, y - 0.02 + (0.54 - y) * 0.25), (x, y)], LEAF, 0.085)
    pen.box(0.16, top, 0.84, top + 0.14, look.body, radius=0.03)
    low = 0.26 if look.form % 2 else 0.3
    pen.polygon([(0.2, top + 0.13), (0.8, top + 0.13), (1 - low, 0.96), (low, 0.96)], look.body)
    pen.line([(0.26, top + 0.2), (0.74, top + 0.2)], darker(look.body, 0.3), 0.03, outline=False)


def _draw_window(pen: Pen, look: Look) -> None:
    sky = (200, 226, 244)
    half = stretched(look, 0.36)
    left, right = 0.5 - half, 0.5 + half
    pen.box(left, 0.1, right, 0.96, look.body)
    pen.box(left + 0.08, 0.18, right - 0.08, 0.88, sky)
    pen.box(0.465, 0.16, 0.535, 0.9, look.body)
    if look.form % 2:
        pen.box(left + 0.06, 0.52, right - 0.06, 0.59, look.body)
    for edge, side in ((left, 1), (right, -1)):
        inner = [(edge + side * 0.7 * half, 0.1), (edge + side * 0.3 * half, 0.48)]
        pen.polygon([(edge, 0.1), *inner, (edge + side * 0.42 * half, 0.94), (edge, 0.94)], look.body)
        pen.line([(edge, 0.48), (edge + side * 0.28 * half, 0.48)], WHITE, 0.03, outline=False)
    pen.line([(0.06, 0.08), (0.94, 0.08)], DARK, 0.05)


def _draw_globe(pen: Pen, look: Look) -> None:
    foot = stretched(look, 0.2)
    pen.arc(0.5, 0.4, 0.4, -60, 120, GREY, 0.06)
    pen.line([(0.5, 0.78), (0.5, 0.9)], GREY, 0.08)
    pen.box(0.5 - foot, 0.88, 0.5 + foot, 0.96, DARK, radius=0.03)
    pen.disc(0.47, 0.4, 0.34, look.body)
    land = lighter(look.body, 0.55)
    if look.form % 2:
        pen.polygon([(0.24, 0.24), (0.42, 0.16), (0.46, 0.3), (0.34, 0.4), (0.24, 0.36)], land, outline=False)
        pen.polygon([(0.38, 0.46), (0.52, 0.5), (0.46, 0.68), (0.38, 0.6)], land, outline=False)
        pen.polygon([(0.58, 0.22), (0.72, 0.28), (0.74, 0.46), (0.62, 0.44)], land, outline=False)
        return
    pen.polygon([(0.3, 0.2), (0.5, 0.12), (0.64, 0.22), (0.5, 0.34), (0.32, 0.32)], land, outline=False)
    pen.polygon([(0.46, 0.4), (0.64, 0.4), (0.7, 0.5), (0.58, 0.66), (0.5, 0.52)], land, outline=False)
    pen.disc(0.28, 0.52, 0.06, land, outline=False)


def _draw_radio(pen: Pen, look: Look) -> None:
    top = 0.44 - stretched(look, 0.08)
    pen.line([(0.8, top), (0.94, 0.07)], GREY, 0.04)
    if look.form % 2:
        pen.line([(0.2, top), (0.2, top - 0.14), (0.68, top - 0.14), (0.68, top)], DARK, 0.05)
    pen.box(0.04, top, 0.96, 0.92, look.body, radius=0.09)
    pen.disc(0.3, 0.66, 0.19, DARK)
    for y in (0.59, 0.66, 0.73):
        pen.line([(0.19, y), (0.41, y)], GREY, 0.022, outline=False)
    pen.box(0.56, top + 0.08, 0.88, top + 0.2, WHITE, radius=0.02)
    pen.disc(0.64, 0.78, 0.06, WHITE)
    pen.disc(0.81, 0.78, 0.06, WHITE)


def _draw_fan(pen: Pen, look: Look) -> None:
    foot = stretched(look, 0.24)
    pen.line([(0.5, 0.6), (0.5, 0.9)], look.body, 0.08)
    pen.box(0.5 - foot, 0.87, 0.5 + foot, 0.96, look.body, radius=0.04)
    count = 4 if look.form % 2 else 3
    for blade in range(count):
        turn = 2 * math.pi * blade / count - math.pi / 2
        cos, sin = math.cos(turn), math.sin(turn)
        shape = [(0.0, 0.0), (0.12, -0.13), (0.28, -0.12), (0.32, 0.03), (0.22, 0.1), (0.08, 0.06)]
        pen.polygon([(0.5 + x * cos - y * sin, 0.4 + x * sin + y * cos) for x, y in shape], look.body)
    pen.arc(0.5, 0.4, 0.33, 0, 360, look.body, 0.045)
    pen.disc(0.5, 0.4, 0.07, WHITE)


def _draw_aquarium(pen: Pen, look: Look) -> None:
    if look.form % 2:
        pen.disc(0.5, 0.52, 0.44, look.body)
        pen.box(0.24, 0.08, 0.76, 0.2, WHITE, radius=0.04)
    else:
        top = 0.26 - stretched(look, 0.06)
        pen.box(0.04, top, 0.96, 0.92, look.body, radius=0.03)
        pen.box(0.04, top, 0.96, top + 0.09, DARK)
        pen.box(0.04, 0.84, 0.96, 0.92, DARK)
    for x, y in ((0.42, 0.5), (0.62, 0.7)):
        pen.polygon([(x - 0.1, y), (x - 0.2, y - 0.09), (x - 0.2, y + 0.09)], WHITE)
        pen.ellipse(x - 0.14, y - 0.09, x + 0.12, y + 0.09, WHITE)
        pen.disc(x + 0.05, y - 0.02, 0.022, DARK, outline=False)
    for x, y in ((0.72, 0.52), (0.76, 0.4), (0.7, 0.34)):
        pen.disc(x, y, 0.03, lighter(look.body, 0.7), outline=False)


def _draw_floor_lamp(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.29)
    pen.line([(0.5, 0.36), (0.5, 0.9)], DARK, 0.055)
    pen.ellipse(0.24, 0.87, 0.76, 0.97, look.body)
    if look.form % 2:
        pen.polygon(
            [(0.5, 0.04), (0.58, 0.06), (0.5 + half, 0.38), (0.5 - half, 0.38), (0.42, 0.06)], look.body
        )
    else:
        pen.polygon([(0.34, 0.04), (0.66, 0.04), (0.5 + half, 0.4), (0.5 - half, 0.4)], look.body)
    pen.ellipse(0.52 - half, 0.35, 0.48 + half, 0.44, (255, 240, 190))
    pen.line([(0.62, 0.43), (0.62, 0.58)], GREY, 0.03)


def _draw_calendar(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.38)
    left, right = 0.5 - half, 0.5 + half
    pen.box(left, 0.12, right, 0.96, look.body, radius=0.03)
    pen.box(left, 0.12, right, 0.3, darker(look.body, 0.35), radius=0.03)
    for x in (left + 0.16, right - 0.16):
        pen.line([(x, 0.07), (x, 0.2)], GREY, 0.055)
    step = (right - left - 0.08) / 4
    for row in range(3):
        for column in range(4):
            x, y = left + 0.07 + column * step, 0.37 + row * 0.19
            marked = look.form % 2 == 1 and (row, column) == (1, 2)
            pen.box(x, y, x + step * 0.7, y + 0.12, DARK if marked else WHITE, outline=False)


def _draw_guitar(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.32)
    pen.box(0.44, 0.1, 0.56, 0.56, DARK)
    pen.polygon([(0.41, 0.04), (0.59, 0.04), (0.57, 0.17), (0.43, 0.17)], look.body)
    if look.form % 2:
        horns = [(0.42, 0.56), (0.46 - half, 0.42), (0.54 - half, 0.66), (0.48 - half, 0.88), (0.5, 0.96)]
        pen.polygon(
            [*horns, (0.52 + half, 0.88), (0.46 + half, 0.66), (0.54 + half, 0.42), (0.58, 0.56)], look.body
        )
    else:
        pen.ellipse(0.57 - half, 0.4, 0.43 + half, 0.7, look.body)
        pen.ellipse(0.5 - half, 0.56, 0.5 + half, 0.96, look.body)
        pen.ellipse(0.59 - half, 0.42, 0.41 + half, 0.7, look.body, outline=False)
    pen.box(0.45, 0.3, 0.55, 0.6, DARK, outline=False)
    pen.disc(0.5, 0.64, 0.09, DARK)
    pen.box(0.38, 0.79, 0.62, 0.84, DARK)
    pen.line([(0.5, 0.16), (0.5, 0.8)], WHITE, 0.018, outline=False)


def _draw_trophy(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.25)
    pen.arc(0.5 - half, 0.24, 0.13, 60, 290, look.body, 0.06)
    pen.arc(0.5 + half, 0.24, 0.13, -110, 120, look.body, 0.06)
    pen.box(0.44, 0.52, 0.56, 0.78, look.body)
    cup = [(0.5 - half, 0.05), (0.5 + half, 0.05), (0.48 + half, 0.32), (0.58, 0.58), (0.42, 0.58)]
    pen.polygon([*cup, (0.52 - half, 0.32)], look.body)
    pen.box(0.32, 0.74, 0.68, 0.82, look.body)
    pen.box(0.24, 0.8, 0.76, 0.96, DARK, radius=0.02)
    if look.form % 2:
        pen.disc(0.5, 0.25, 0.09, WHITE, outline=False)
    else:
        star = [(0.18 - 0.1 * (i % 2), math.pi * i / 5 - math.pi / 2) for i in range(10)]
        pen.polygon([(0.5 + r * 0.7 * math.cos(a), 0.26 + r * 0.7 * math.sin(a)) for r, a in star], WHITE)


def _draw_coat_rack(pen: Pen, look: Look) -> None:
    low = 0.66 + stretched(look, 0.06)
    pen.line([(0.5, 0.08), (0.5, 0.9)], DARK, 0.075)
    pen.polygon([(0.5, 0.82), (0.74, 0.96), (0.26, 0.96)], DARK)
    for side in (-1, 1):
        pen.line([(0.5, 0.2), (0.5 + side * 0.26, 0.1)], DARK, 0.055)
    coat = [(0.24, 0.14), (0.36, 0.2), (0.44, 0.28), (0.46, low), (0.12, low), (0.16, 0.3)]
    pen.polygon(coat, look.body)
    pen.line([(0.22, 0.36), (0.22, low - 0.16)], darker(look.body), 0.025, outline=False)
    if look.form % 2:
        pen.polygon(
            [(0.64, 0.16), (0.84, 0.16), (0.74, 0.5), (0.84, 0.84), (0.64, 0.84), (0.66, 0.5)], look.body
        )
    else:
        pen.box(0.62, 0.06, 0.88, 0.24, look.body, radius=0.06)
        pen.ellipse(0.54, 0.2, 0.96, 0.3, look.body)


def _draw_bird_cage(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.31)
    left, right = 0.5 - half, 0.5 + half
    pen.arc(0.5, 0.1, 0.045, 0, 360, look.body, 0.03)
    if look.form % 2:
        roof = [(left, 0.38), (0.5, 0.14), (right, 0.38)]
    else:
        roof = [
            (0.5 - half * math.cos(a), 0.46 - 0.32 * math.sin(a))
            for a in (math.pi * i / 12 for i in range(13))
        ]
    pen.polygon([*roof, (right, 0.82), (left, 0.82)], WHITE)
    pen.polygon(roof, look.body)
    pen.ellipse(0.4, 0.56, 0.62, 0.72, DARK, outline=False)
    pen.disc(0.6, 0.55, 0.07, DARK, outline=False)
    for i in range(5):
        x = left + (right - left) * i / 4
        pen.line([(x, 0.44), (x, 0.84)], look.body, 0.05, outline=False)
    pen.box(left - 0.04, 0.8, right + 0.04, 0.96, look.body, radius=0.03)


def _draw_fire_extinguisher(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.2)
    left, right = 0.5 - half, 0.5 + half
    pen.line([(0.5, 0.2), (0.22, 0.22), (0.16, 0.44), (0.16, 0.66)], DARK, 0.06)
    pen.polygon([(0.12, 0.62), (0.2, 0.62), (0.24, 0.82), (0.08, 0.82)], DARK)
    pen.box(left, 0.26, right, 0.96, look.body, radius=0.12)
    pen.box(0.43, 0.14, 0.57, 0.29, GREY)
    pen.polygon([(0.36, 0.14), (0.8, 0.04), (0.82, 0.1), (0.4, 0.2)], DARK)
    pen.line([(0.5, 0.2), (0.78, 0.2)], DARK, 0.045)
    if look.form % 2:
        pen.box(left, 0.52, right, 0.6, WHITE, outline=False)
        pen.box(left, 0.72, right, 0.8, WHITE, outline=False)
    else:
        pen.box(left + 0.06, 0.5, right - 0.06, 0.74, WHITE, radius=0.02)


def _draw_toolbox(pen: Pen, look: Look) -> None:
    top = 0.42 - stretched(look, 0.06)
    pen.line([(0.3, top), (0.3, top - 0.18), (0.7, top - 0.18), (0.7, top)], DARK, 0.075)
    if look.form % 2:
        pen.polygon([(0.14, top - 0.06), (0.86, top - 0.06), (0.96, 0.56), (0.04, 0.56)], look.body)
    else:
        pen.box(0.04, top - 0.05, 0.96, 0.58, look.body, radius=0.04)
    pen.box(0.06, 0.54, 0.94, 0.92, look.body, radius=0.03)
    pen.line([(0.07, 0.56), (0.93, 0.56)], DARK, 0.04, outline=False)
    for x in (0.2, 0.68):
        pen.box(x, 0.48, x + 0.12, 0.68, GREY, radius=0.01)


def _draw_ladder(pen: Pen, look: Look) -> None:
    spread = stretched(look, 0.12)
    if look.form % 2:
        pen.line([(0.62, 0.08), (0.86, 0.93)], GREY, 0.065)
        left, right = (0.38, 0.3 - spread), (0.58, 0.56)
    else:
        left, right = (0.36 - spread / 2, 0.34 - spread), (0.64 + spread / 2, 0.66 + spread)
    for step in range(5):
        share = 0.12 + step * 0.19
        y = 0.08 + 0.84 * share
        x0, x1 = (side[0] + (side[1] - side[0]) * share for side in (left, right))
        pen.line([(x0, y), (x1, y)], look.body, 0.07)
    for start, end in (left, right):
        pen.line([(start, 0.09), (end, 0.91)], look.body, 0.1)


def _draw_cactus(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.13)
    pen.line([(0.5, 0.56), (0.22, 0.56), (0.2, 0.3)], look.body, 0.14)
    right = (
        [(0.5, 0.46), (0.78, 0.46), (0.8, 0.22)] if look.form % 2 else [(0.5, 0.5), (0.76, 0.5), (0.78, 0.36)]
    )
    pen.line(right, look.body, 0.14)
    pen.box(0.5 - half, 0.04, 0.5 + half, 0.8, look.body, radius=0.12)
    for x, y in ((0.46, 0.18), (0.56, 0.28), (0.46, 0.4), (0.55, 0.52), (0.46, 0.62), (0.21, 0.42)):
        pen.disc(x, y, 0.02, WHITE, outline=False)
    pen.box(0.26, 0.7, 0.74, 0.79, GREY, radius=0.02)
    pen.polygon([(0.3, 0.79), (0.7, 0.79), (0.64, 0.96), (0.36, 0.96)], GREY)


def _draw_balloon(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.29)
    pen.line([(0.5, 0.7), (0.44, 0.78), (0.56, 0.87), (0.5, 0.95)], DARK, 0.03, outline=False)
    pen.polygon([(0.5, 0.64), (0.58, 0.75), (0.42, 0.75)], look.body)
    pen.ellipse(0.5 - half, 0.04, 0.5 + half, 0.7, look.body)
    if look.form % 2:
        for x in (0.5 - half * 0.5, 0.5, 0.5 + half * 0.5):
            pen.disc(x, 0.38, 0.045, WHITE, outline=False)
    else:
        pen.ellipse(0.5 - half * 0.6, 0.12, 0.5 - half * 0.2, 0.3, lighter(look.body, 0.7), outline=False)


def _draw_flag(pen: Pen, look: Look) -> None:
    low = 0.54 + stretched(look, 0.08)
    pen.line([(0.12, 0.08), (0.12, 0.93)], GREY, 0.06)
    pen.disc(0.12, 0.08, 0.055, DARK)
    if look.form % 2:
        pen.polygon([(0.14, 0.1), (0.95, (0.1 + low) / 2), (0.14, low)], look.body)
        pen.disc(0.34, (0.1 + low) / 2, 0.09, WHITE, outline=False)
        return
    upper = [(0.14, 0.12), (0.34, 0.07), (0.56, 0.14), (0.76, 0.2), (0.96, 0.14)]
    pen.polygon([*upper, *[(x, y + low - 0.12) for x, y in reversed(upper)]], look.body)
    mid = (low - 0.12) * 0.42
    pen.polygon(
        [*[(x, y + mid) for x, y in upper], *[(x, y + mid + 0.09) for x, y in reversed(upper)]],
        WHITE,
        outline=False,
    )


def _draw_crate(pen: Pen, look: Look) -> None:
    top = 0.16 - stretched(look, 0.08)
    plank = lighter(look.body, 0.15)
    pen.box(0.06, top, 0.94, 0.94, darker(look.body, 0.6))
    tall = (0.94 - top) / 4
    for row in range(4):
        pen.box(0.06, top + row * tall, 0.94, top + (row + 0.76) * tall, look.body, outline=False)
    if look.form % 2:
        pen.line([(0.14, top + 0.08), (0.86, 0.86)], plank, 0.11)
    pen.line([(0.14, 0.86), (0.86, top + 0.08)], plank, 0.12)
    for x in (0.04, 0.82):
        pen.box(x, top, x + 0.14, 0.96, plank)
        pen.disc(x + 0.07, top + 0.08, 0.028, DARK, outline=False)
        pen.disc(x + 0.07, 0.88, 0.028, DARK, outline=False)


def _draw_mask(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.34)
    left, right = 0.5 - half, 0.5 + half
    if look.form % 2:
        pen.polygon([(left, 0.3), (left + 0.04, 0.04), (0.36, 0.18), (0.5, 0.04)], look.body)
        pen.polygon([(right, 0.3), (right - 0.04, 0.04), (0.64, 0.18), (0.5, 0.04)], look.body)
    face = [
        (left, 0.14),
        (0.5, 0.2),
        (right, 0.14),
        (right - 0.02, 0.6),
        (0.5 + half * 0.6, 0.84),
        (0.5, 0.96),
    ]
    pen.polygon([*face, (0.5 - half * 0.6, 0.84), (left + 0.02, 0.6)], look.body)
    for side in (-1, 1):
        x = 0.5 + side * half * 0.48
        pen.ellipse(x - 0.1, 0.34, x + 0.1, 0.48, DARK)
        pen.line([(x - 0.09, 0.28 + side * 0.03), (x + 0.09, 0.28 - side * 0.03)], DARK, 0.035, outline=False)
    pen.polygon([(0.5, 0.44), (0.56, 0.6), (0.44, 0.6)], darker(look.body, 0.3))
    pen.polygon([(0.3, 0.66), (0.5, 0.72), (0.7, 0.66), (0.62, 0.82), (0.5, 0.86), (0.38, 0.82)], WHITE)


def _draw_barrel(pen: Pen, look: Look) -> None:
    bulge = stretched(look, 0.38)
    left, right = 0.5 - bulge, 0.5 + bulge
    sides = [(left + 0.1, 0.08), (left + 0.02, 0.3), (left, 0.5), (left + 0.02, 0.72), (left + 0.1, 0.94)]
    pen.polygon([*sides, *[(1 - x, y) for x, y in reversed(sides)]], look.body)
    for share in (-0.4, 0.0, 0.4):
        x = 0.5 + share * bulge
        pen.line([(x, 0.12), (x, 0.92)], darker(look.body, 0.4), 0.022, outline=False)
    for y, inset in ((0.22, 0.05), (0.72, 0.03)):
        pen.polygon(
            [(left + inset, y), (right - inset, y), (right - inset, y + 0.09), (left + inset, y + 0.09)], DARK
        )
    pen.ellipse(left + 0.1, 0.04, right - 0.1, 0.16, lighter(look.body, 0.3))
    if look.form % 2:
        pen.disc(0.5, 0.52, 0.07, DARK)
        pen.disc(0.5, 0.52, 0.035, GREY)


def _draw_kite(pen: Pen, look: Look) -> None:
    half = stretched(look, 0.32)
    middle = 0.57
    pen.line([(middle, 0.7), (0.46, 0.8), (0.3, 0.84), (0.14, 0.92)], DARK, 0.035, outline=False)
    for x, y in ((0.44, 0.8), (0.2, 0.89)):
        pen.polygon([(x - 0.09, y - 0.06), (x, y), (x - 0.09, y + 0.06)], look.body)
        pen.polygon([(x + 0.09, y - 0.06), (x, y), (x + 0.09, y + 0.06)], look.body)
    pen.polygon([(middle, 0.04), (middle + half, 0.3), (middle, 0.74), (middle - half, 0.3)], look.body)
    if look.form % 2:
        pen.polygon(
            [(middle, 0.3), (middle + half, 0.3), (middle, 0.74)], darker(look.body, 0.35), outline=False
        )
    pen.line([(middle, 0.06), (middle, 0.71)], WHITE, 0.03, outline=False)
    pen.line([(middle - half + 0.02, 0.3), (middle + half - 0.02, 0.3)], WHITE, 0.03, outline=False)
