"""Instruments that a hand uses on something else."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, darker, lighter, mix, stretched, tinted

WHITE = (242, 242, 238)
STEEL = (178, 186, 196)
SILVER = (212, 218, 226)
DARK = (44, 46, 54)
WOOD = (176, 118, 62)
WATER = (60, 160, 245)
MIST = (190, 226, 255)
RED = (216, 44, 40)
YELLOW = (248, 206, 40)
GREEN = (40, 160, 70)
PAINT = (30, 110, 220)


def _draw_paper_towel(pen: Pen, look: Look) -> None:
    paper = (250, 250, 248)
    half = stretched(look, 0.22)
    pen.ellipse(0.06, 0.84, 0.82, 0.97, tinted(look, WOOD))
    pen.box(0.4, 0.04, 0.48, 0.2, tinted(look, WOOD), radius=0.03)
    pen.polygon([(0.5, 0.2), (0.92, 0.26), (0.96, 0.6), (0.9, 0.84), (0.5, 0.8)], paper)
    pen.box(0.44 - half, 0.2, 0.44 + half, 0.9, paper, radius=0.06)
    pen.ellipse(0.44 - half, 0.13, 0.44 + half, 0.28, mix(paper, DARK, 0.1))
    pen.ellipse(0.37, 0.17, 0.51, 0.24, WOOD)
    print_color = mix(look.body, paper, 0.2)
    for y in (0.42, 0.58, 0.74):
        if look.form % 2:
            pen.disc(0.34, y, 0.035, print_color, outline=False)
            pen.disc(0.54, y, 0.035, print_color, outline=False)
        else:
            pen.line([(0.27, y), (0.6, y)], print_color, 0.03, outline=False)


def _draw_wrench(pen: Pen, look: Look) -> None:
    steel = tinted(look, SILVER)
    width = stretched(look, 0.14)
    pen.line([(0.64, 0.36), (0.2, 0.8)], steel, width)
    pen.line([(0.54, 0.46), (0.3, 0.7)], darker(steel, 0.35), width * 0.4, outline=False)
    pen.arc(0.74, 0.26, 0.15, -12, 282, steel, 0.12)
    if look.form % 2:
        pen.disc(0.19, 0.81, 0.15, steel)
        pen.disc(0.19, 0.81, 0.07, DARK)
        return
    pen.arc(0.19, 0.81, 0.1, 165, 465, steel, 0.09)


def _draw_hex_key(pen: Pen, look: Look) -> None:
    iron = tinted(look, DARK)
    width = stretched(look, 0.11)
    if look.form % 2:
        pen.line([(0.16, 0.12), (0.16, 0.78), (0.22, 0.86), (0.88, 0.86)], iron, width)
        pen.box(0.08, 0.06, 0.24, 0.5, (226, 60, 50), radius=0.05)
    else:
        pen.line([(0.16, 0.12), (0.16, 0.76), (0.24, 0.86), (0.88, 0.86)], iron, width)
        pen.line([(0.14, 0.16), (0.14, 0.74)], lighter(iron, 0.5), 0.025, outline=False)
    pen.polygon(_hexagon(0.84, 0.86, 0.11), STEEL)
    pen.polygon(_hexagon(0.62, 0.34, 0.24), STEEL)
    pen.polygon(_hexagon(0.62, 0.34, 0.12), DARK)


def _hexagon(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    corners = ((1.0, 0.0), (0.5, 0.87), (-0.5, 0.87), (-1.0, 0.0), (-0.5, -0.87), (0.5, -0.87))
    return [(x + radius * right, y + radius * down) for right, down in corners]


def _draw_kitchen_knife(pen: Pen, look: Look) -> None:
    grip = tinted(look, (50, 34, 30))
    belly = 0.58 + stretched(look, 0.16)
    edge = [(0.97, 0.4), (0.9, belly - 0.12), (0.78, belly - 0.03), (0.66, belly), (0.36, belly)]
    pen.polygon([(0.36, 0.3), (0.76, 0.3), (0.9, 0.33), *edge], SILVER)
    hone = [(0.37, belly - 0.09), (0.86, belly - 0.11), (0.66, belly - 0.01), (0.37, belly - 0.01)]
    pen.polygon(hone, WHITE, outline=False)
    if look.form % 2:
        pen.polygon([(0.04, 0.3), (0.36, 0.29), (0.36, 0.47), (0.16, 0.48), (0.1, 0.6), (0.04, 0.54)], grip)
    else:
        pen.box(0.04, 0.29, 0.36, 0.48, grip, radius=0.06)
    pen.box(0.34, 0.28, 0.41, 0.54, STEEL)
    for x in (0.11, 0.19, 0.27):
        pen.disc(x, 0.385, 0.03, SILVER, outline=False)


def _draw_box_cutter(pen: Pen, look: Look) -> None:
    shell = tinted(look, YELLOW)
    half = stretched(look, 0.16)
    top, low = 0.54 - half, 0.54 + half
    pen.polygon([(0.58, top + 0.04), (0.97, top + 0.04), (0.78, low - 0.04), (0.58, low - 0.04)], SILVER)
    for x in (0.7, 0.78, 0.86):
        pen.line([(x, top + 0.06), (x - 0.07, low - 0.06)], DARK, 0.02, outline=False)
    pen.polygon([(0.04, top), (0.56, top), (0.66, 0.54), (0.58, low), (0.04, low)], shell)
    pen.box(0.1, 0.5, 0.54, 0.6, DARK, radius=0.02, outline=False)
    if look.form % 2:
        pen.disc(0.4, 0.48, 0.1, RED)
        return
    pen.box(0.28, top - 0.08, 0.5, 0.58, RED, radius=0.03)
    for x in (0.34, 0.39, 0.44):
        pen.line([(x, top - 0.03), (x, 0.53)], DARK, 0.018, outline=False)


def _draw_paintbrush(pen: Pen, look: Look) -> None:
    wood = tinted(look, (226, 170, 90))
    half = stretched(look, 0.24)
    if look.form % 2:
        pen.polygon([(0.46, 0.04), (0.54, 0.04), (0.6, 0.4), (0.4, 0.4)], wood)
    else:
        pen.polygon([(0.42, 0.04), (0.58, 0.04), (0.55, 0.22), (0.64, 0.4), (0.36, 0.4), (0.45, 0.22)], wood)
        pen.disc(0.5, 0.1, 0.03, DARK)
    pen.box(0.5 - half, 0.38, 0.5 + half, 0.54, STEEL)
    pen.line([(0.53 - half, 0.46), (0.47 + half, 0.46)], DARK, 0.02, outline=False)
    pen.box(0.5 - half, 0.54, 0.5 + half, 0.74, (230, 200, 140))
    right, left = 0.5 + half, 0.5 - half
    tips = [(right + 0.02, 0.88), (0.5 + half / 2, 0.84), (0.5, 0.95), (0.5 - half / 2, 0.86)]
    pen.polygon([(left, 0.7), (right, 0.7), *tips, (left - 0.02, 0.92)], PAINT)


def _draw_paint_roller(pen: Pen, look: Look) -> None:
    grip = tinted(look, (230, 70, 50))
    low = 0.9 + stretched(look, 0.05)
    pen.line([(0.8, 0.2), (0.92, 0.2), (0.92, 0.46), (0.44, 0.46), (0.44, 0.64)], STEEL, 0.045)
    pen.box(0.36, 0.6, 0.52, low, grip, radius=0.05)
    if look.form % 2:
        pen.box(0.34, 0.68, 0.54, 0.74, DARK)
        pen.box(0.34, 0.8, 0.54, 0.86, DARK)
    pen.box(0.04, 0.06, 0.82, 0.34, PAINT, radius=0.08)
    pen.box(0.04, 0.06, 0.12, 0.34, lighter(PAINT, 0.6), radius=0.04)
    pen.box(0.16, 0.1, 0.76, 0.15, lighter(PAINT, 0.4), radius=0.02, outline=False)
    for x, end in ((0.2, 0.5), (0.62, 0.42)):
        pen.line([(x, 0.33), (x, end)], PAINT, 0.05, outline=False)


def _draw_tap(pen: Pen, look: Look) -> None:
    chrome = tinted(look, SILVER)
    pen.box(0.64, 0.42, 0.84, 0.96, WATER, radius=0.06, outline=False)
    pen.line([(0.7, 0.48), (0.7, 0.9)], MIST, 0.035, outline=False)
    pen.ellipse(0.52, 0.86, 0.96, 0.97, WATER, outline=False)
    pen.box(0.04, 0.2, 0.14, 0.6, darker(chrome, 0.2), radius=0.03)
    thick = stretched(look, 0.18)
    pen.line([(0.12, 0.36), (0.66, 0.36), (0.74, 0.42), (0.74, 0.48)], chrome, thick)
    pen.box(0.36, 0.16, 0.46, 0.34, chrome)
    if look.form % 2:
        pen.box(0.18, 0.06, 0.64, 0.18, RED, radius=0.06)
    else:
        for x, y in ((0.3, 0.12), (0.52, 0.12), (0.41, 0.07), (0.41, 0.18)):
            pen.disc(x, y, 0.07, RED)
        pen.disc(0.41, 0.12, 0.05, WHITE)


def _draw_hose(pen: Pen, look: Look) -> None:
    rubber = tinted(look, GREEN)
    thick = stretched(look, 0.075)
    radii = (0.3, 0.2, 0.1) if look.form % 2 else (0.3, 0.17)
    for radius in radii:
        pen.arc(0.38, 0.62, radius, 0, 360, rubber, thick)
    pen.line([(0.38, 0.92), (0.74, 0.9), (0.84, 0.66), (0.76, 0.4)], rubber, thick)
    for x, y in ((0.3, 0.05), (0.36, 0.18), (0.46, 0.08)):
        pen.line([(0.58, 0.22), (x, y)], WATER, 0.045, outline=False)
    pen.polygon([(0.56, 0.14), (0.84, 0.36), (0.72, 0.46), (0.5, 0.26)], (240, 150, 30))
    pen.line([(0.7, 0.44), (0.62, 0.56)], DARK, 0.05)


def _draw_ruler(pen: Pen, look: Look) -> None:
    face = tinted(look, YELLOW)
    wide = stretched(look, 0.15)
    if look.form % 2:
        pen.polygon(
            [(0.04, 0.84 - wide), (0.84 - wide, 0.04), (0.96, 0.04 + wide), (0.04 + wide, 0.96)], face
        )
        _ticks(pen, wide)
        return
    pen.polygon([(0.05, 0.8), (0.8, 0.05), (0.8 + wide, 0.05 + wide), (0.05 + wide, 0.8 + wide)], face)
    _ticks(pen, wide)
    pen.disc(0.12 + wide / 2, 0.73 + wide / 2, 0.03, DARK)


def _ticks(pen: Pen, wide: float) -> None:
    for i in range(9):
        x, y = 0.12 + i * 0.078, 0.73 - i * 0.078
        long = wide * (0.62 if i % 2 == 0 else 0.36)
        pen.line([(x, y), (x + long, y + long)], DARK, 0.024, outline=False)


def _draw_caliper(pen: Pen, look: Look) -> None:
    steel = tinted(look, STEEL)
    reach = 0.7 + stretched(look, 0.2)
    pen.box(0.06, 0.24, 0.96, 0.38, steel)
    for i in range(9):
        pen.line([(0.26 + i * 0.08, 0.25), (0.26 + i * 0.08, 0.31)], DARK, 0.016, outline=False)
    jaw = [(0.0, 0.38), (0.0, 0.1), (0.06, 0.06), (0.12, 0.24), (0.14, 0.42), (0.1, reach), (0.0, 0.5)]
    pen.polygon([(0.06 + x, y) for x, y in jaw], steel)
    pen.polygon([(0.47 - x, y) for x, y in jaw], steel)
    if look.form % 2:
        pen.box(0.36, 0.18, 0.86, 0.52, DARK, radius=0.03)
        pen.box(0.44, 0.23, 0.78, 0.36, (150, 220, 170))
        pen.disc(0.54, 0.44, 0.03, RED)
        pen.disc(0.68, 0.44, 0.03, WATER)
        return
    pen.box(0.36, 0.2, 0.8, 0.44, darker(steel, 0.2))
    pen.disc(0.6, 0.42, 0.19, WHITE)
    pen.line([(0.6, 0.42), (0.7, 0.32)], RED, 0.035, outline=False)
    pen.disc(0.6, 0.42, 0.035, DARK)


def _draw_spray_bottle(pen: Pen, look: Look) -> None:
    plastic = tinted(look, (30, 120, 230))
    for x, y in ((0.1, 0.08), (0.09, 0.22), (0.11, 0.36), (0.21, 0.14), (0.21, 0.28)):
        pen.disc(x, y, 0.048, MIST)
    half = stretched(look, 0.21)
    pen.box(0.54, 0.22, 0.7, 0.46, WHITE)
    left, right = 0.62 - half, 0.62 + half
    if look.form % 2:
        pen.box(left, 0.44, right, 0.96, plastic, radius=0.1)
    else:
        flank = [(right, 0.58), (right, 0.96), (left, 0.96), (left, 0.58)]
        pen.polygon([(0.54, 0.4), (0.7, 0.4), *flank], plastic)
    pen.box(left + 0.05, 0.64, right - 0.05, 0.84, WHITE, radius=0.03)
    pen.line([(0.46, 0.24), (0.36, 0.42)], RED, 0.06)
    pen.polygon([(0.28, 0.12), (0.8, 0.06), (0.88, 0.14), (0.84, 0.26), (0.28, 0.24)], RED)


def _draw_foil(pen: Pen, look: Look) -> None:
    carton = tinted(look, (36, 70, 170))
    low = stretched(look, 0.24)
    torn = [(0.8, 0.96), (0.66, 0.88), (0.5, 0.96), (0.34, 0.88), (0.12, 0.94)]
    pen.polygon([(0.2, 0.36), (0.9, 0.3), (0.96, 0.62), *torn], (226, 230, 236))
    for points in (((0.32, 0.44), (0.22, 0.86)), ((0.56, 0.42), (0.52, 0.88)), ((0.78, 0.42), (0.8, 0.86))):
        pen.line(points, (150, 158, 170), 0.03, outline=False)
    pen.polygon([(0.44, 0.42), (0.64, 0.42), (0.7, 0.66), (0.58, 0.8)], WHITE, outline=False)
    pen.box(0.04, 0.2, 0.96, 0.22 + low, carton, radius=0.02)
    if look.form % 2:
        pen.box(0.12, 0.26, 0.88, 0.33, YELLOW, outline=False)
    else:
        for x in (0.2, 0.4, 0.6, 0.8):
            pen.disc(x, 0.3, 0.05, (240, 150, 30), outline=False)
    pen.box(0.04, 0.08, 0.96, 0.24, SILVER, radius=0.07)
    pen.disc(0.11, 0.16, 0.05, DARK)


def _draw_wrapping_paper(pen: Pen, look: Look) -> None:
    paper = tinted(look, (226, 50, 130))
    dot: Color = YELLOW
    top = 0.34 - stretched(look, 0.08)
    pen.polygon([(0.22, top), (0.96, top + 0.05), (0.9, 0.94), (0.22, 0.9)], lighter(paper, 0.12))
    for x, y in ((0.46, 0.42), (0.72, 0.42), (0.46, 0.78), (0.72, 0.78), (0.59, 0.6), (0.84, 0.6)):
        if look.form % 2:
            pen.polygon([(x, y - 0.08), (x + 0.06, y + 0.05), (x - 0.06, y + 0.05)], dot, outline=False)
        else:
            pen.disc(x, y, 0.055, dot, outline=False)
    pen.box(0.06, 0.16, 0.32, 0.96, paper, radius=0.05)
    for y in (0.5, 0.66, 0.82):
        pen.disc(0.19, y, 0.05, dot, outline=False)
    pen.ellipse(0.06, 0.1, 0.32, 0.24, WHITE)
    pen.ellipse(0.14, 0.14, 0.24, 0.2, DARK)
    pen.polygon([(0.62, 0.2), (0.4, 0.06), (0.4, 0.32)], GREEN)
    pen.polygon([(0.62, 0.2), (0.86, 0.06), (0.86, 0.32)], GREEN)
    pen.disc(0.63, 0.19, 0.07, lighter(GREEN, 0.4))


def _draw_duster(pen: Pen, look: Look) -> None:
    plume = tinted(look, (150, 70, 200))
    pen.line([(0.12, 0.9), (0.5, 0.5)], WOOD, 0.07)
    pen.disc(0.1, 0.91, 0.055, RED)
    size = stretched(look, 0.15)
    if look.form % 2:
        for x, y in ((0.46, 0.42), (0.6, 0.56), (0.56, 0.26), (0.74, 0.42), (0.7, 0.18), (0.8, 0.28)):
            pen.disc(x, y, size * 0.95, plume)
        pen.disc(0.66, 0.34, 0.1, lighter(plume, 0.4), outline=False)
        return
    for x, y in ((0.38, 0.24), (0.78, 0.62), (0.54, 0.14), (0.88, 0.46), (0.72, 0.12), (0.88, 0.28)):
        pen.line([(0.48, 0.52), (x, y)], plume, size)
    for x, y in ((0.56, 0.24), (0.78, 0.44), (0.74, 0.24)):
        pen.line([(0.52, 0.48), (x, y)], lighter(plume, 0.35), size * 0.4, outline=False)


def _draw_vacuum(pen: Pen, look: Look) -> None:
    shell = tinted(look, (224, 60, 50))
    long = stretched(look, 0.24)
    pen.line([(0.62, 0.6), (0.6, 0.3), (0.46, 0.12), (0.28, 0.14), (0.22, 0.3)], DARK, 0.075)
    pen.line([(0.22, 0.26), (0.16, 0.84)], STEEL, 0.06)
    pen.polygon([(0.06, 0.82), (0.26, 0.82), (0.34, 0.95), (0.04, 0.95)], DARK)
    left = 0.7 - long
    if look.form % 2:
        pen.polygon([(left, 0.9), (left + 0.06, 0.58), (0.8, 0.44), (0.94, 0.64), (0.96, 0.9)], shell)
    else:
        pen.box(left, 0.5, 0.96, 0.9, shell, radius=0.16)
    pen.box(left + 0.12, 0.62, 0.74, 0.7, lighter(shell, 0.6), radius=0.03)
    pen.disc(0.84, 0.83, 0.12, DARK)
    pen.disc(0.84, 0.83, 0.05, STEEL)
    pen.disc(left + 0.1, 0.89, 0.06, DARK)


def _draw_camera(pen: Pen, look: Look) -> None:
    case = tinted(look, (40, 42, 50))
    top = 0.36 - stretched(look, 0.06)
    pen.polygon([(0.34, top), (0.4, top - 0.16), (0.62, top - 0.16), (0.68, top)], case)
    pen.box(0.12, top - 0.07, 0.26, top + 0.04, RED, radius=0.02)
    pen.box(0.04, top, 0.96, 0.88, case, radius=0.07)
    pen.box(0.04, top + 0.08, 0.96, top + 0.2, STEEL if look.form % 2 else darker(case, 0.4), outline=False)
    pen.box(0.76, top + 0.03, 0.92, top + 0.14, YELLOW, radius=0.02)
    pen.disc(0.5, 0.6, 0.26, SILVER)
    pen.disc(0.5, 0.6, 0.2, DARK)
    pen.disc(0.5, 0.6, 0.13, (60, 90, 190))
    pen.disc(0.45, 0.55, 0.05, WHITE, outline=False)
