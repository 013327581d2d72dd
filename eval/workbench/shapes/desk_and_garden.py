"""Office and outdoor objects."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, Point, bowed, darker, lighter, mix, rounded, turned

_PAPER: Color = (246, 246, 242)
_SILVER: Color = (186, 192, 200)
_GRAPHITE: Color = (38, 40, 46)
_SCREEN: Color = (74, 160, 226)
_WHITE: Color = (248, 248, 244)
_STEEL: Color = (182, 188, 196)
_INK: Color = (40, 42, 48)
_SOIL: Color = (84, 56, 38)
_LEAF: Color = (76, 160, 66)
_WOOD: Color = (188, 136, 82)


def _draw_laptop(pen: Pen, look: Look) -> None:
    top = 0.16 - 0.06 * look.stretch
    pen.box(0.15, top, 0.85, 0.64, look.body, radius=0.03)
    pen.box(0.20, top + 0.05, 0.80, 0.60, _SCREEN)
    if look.form % 3 == 0:
        for y, end in ((0.28, 0.64), (0.38, 0.70), (0.48, 0.54)):
            pen.line([(0.28, y), (end, y)], _PAPER, 0.035, outline=False)
    elif look.form % 3 == 1:
        for x, y in ((0.30, 0.50), (0.43, 0.42), (0.56, 0.34)):
            pen.box(x, y, x + 0.09, 0.57, (255, 210, 70), outline=False)
    else:
        pen.box(0.28, 0.28, 0.62, 0.52, _PAPER)
        pen.box(0.28, 0.28, 0.62, 0.33, look.accent, outline=False)
    pen.polygon([(0.15, 0.64), (0.85, 0.64), (0.96, 0.84), (0.04, 0.84)], lighter(look.body, 0.2))
    pen.polygon([(0.19, 0.66), (0.81, 0.66), (0.86, 0.75), (0.14, 0.75)], look.accent)
    pen.line([(0.16, 0.705), (0.84, 0.705)], lighter(look.accent, 0.5), 0.012, outline=False)
    pen.polygon([(0.40, 0.77), (0.60, 0.77), (0.62, 0.82), (0.38, 0.82)], darker(look.body, 0.25))
    pen.box(0.04, 0.83, 0.96, 0.88, darker(look.body, 0.25), radius=0.02)


def _draw_computer_mouse(pen: Pen, look: Look) -> None:
    half = 0.25 * (1 + 0.12 * look.stretch)
    side = -1 if look.form % 2 else 1
    cord = bowed((0.5, 0.36), (0.5, 0.14), (0.5 + side * 0.20, 0.20))
    cord += bowed((0.5 + side * 0.20, 0.20), (0.5 + side * 0.36, 0.24), (0.5 + side * 0.38, 0.07))
    pen.line(cord, look.accent, 0.05)
    pen.polygon(rounded(0.5, 0.63, half, 0.33, 0, 360), look.body)
    buttons = [*rounded(0.5, 0.60, half * 0.98, 0.30, 180, 360), (0.5, 0.64)]
    pen.polygon(buttons, lighter(look.body, 0.25))
    pen.line([(0.5, 0.31), (0.5, 0.62)], darker(look.body, 0.6), 0.025, outline=False)
    pen.box(0.455, 0.38, 0.545, 0.56, look.accent, radius=0.04)
    if look.form % 3 == 1:
        pen.disc(0.5, 0.80, 0.06, look.accent)
    elif look.form % 3 == 2:
        pen.line(rounded(0.5, 0.66, half * 0.7, 0.22, 30, 150), look.accent, 0.04, outline=False)


def _draw_stapler(pen: Pen, look: Look) -> None:
    tip = 0.30 - 0.07 * look.stretch
    pen.polygon(
        [(0.04, 0.80), (0.10, 0.76), (0.92, 0.74), (0.96, 0.78), (0.96, 0.87), (0.04, 0.87)], look.accent
    )
    pen.box(0.06, 0.74, 0.22, 0.79, _SILVER)
    pen.polygon([(0.80, 0.52), (0.94, 0.52), (0.94, 0.78), (0.74, 0.78)], darker(look.body, 0.3))
    pen.polygon(
        [(0.08, tip + 0.22), (0.12, tip + 0.18), (0.88, 0.56), (0.88, 0.66), (0.10, tip + 0.30)], _SILVER
    )
    arm = [(0.05, tip + 0.17), *bowed((0.05, tip + 0.08), (0.10, tip - 0.05), (0.30, tip))]
    arm += bowed((0.30, tip), (0.90, 0.36), (0.96, 0.56))
    pen.polygon([*arm, (0.94, 0.60), (0.86, 0.62)], look.body)
    pen.disc(0.84, 0.60, 0.045, _SILVER)
    if look.form % 2:
        pen.line([(0.22, tip + 0.10), (0.66, 0.48)], look.accent, 0.05, outline=False)
    else:
        pen.polygon(
            [(0.10, tip + 0.06), (0.30, tip + 0.06), (0.30, tip + 0.17), (0.10, tip + 0.13)], look.accent
        )


def _draw_scissors(pen: Pen, look: Look) -> None:
    spread = 0.15 + 0.04 * look.stretch
    ring = 0.13 if look.form % 2 else 0.115
    for side in (-1, 1):
        tip: Point = (0.5 + side * spread, 0.04)
        near: list[Point] = [(0.5 - side * 0.08, 0.54), (0.5 + side * 0.05, 0.48)]
        blade = _SILVER if side == 1 else lighter(_SILVER, 0.35)
        pen.polygon(
            [tip, (0.5 + side * (spread + 0.015), 0.14), *reversed(near), (0.5 - side * 0.07, 0.44)], blade
        )
        pen.line([(0.5 - side * 0.03, 0.53), (0.5 - side * 0.14, 0.655)], look.body, 0.08)
    for side in (-1, 1):
        color = look.accent if look.form % 3 == 2 and side == 1 else look.body
        oval = rounded(0.5 + side * 0.20, 0.77, ring, 0.14, 0, 360)
        pen.line([*oval, oval[1]], color, 0.07)
    pen.disc(0.5, 0.50, 0.04, look.accent)


def _draw_pencil(pen: Pen, look: Look) -> None:
    half, aslant = 0.075 * (1 + 0.25 * look.stretch), 45 if look.form % 2 == 0 else -45
    low, neck = 0.5 + half, 0.90

    def part(points: list[Point], color: Color, *, outline: bool = True) -> None:
        pen.polygon(turned(points, aslant), color, outline=outline)

    def bar(start: float, end: float, above: float, below: float) -> list[Point]:
        return [(above, start), (below, start), (below, end), (above, end)]

    part(bar(-0.06, 0.02, 1 - low, low), (240, 130, 140))
    part(bar(0.02, 0.11, 1 - low, low), _SILVER)
    part(bar(0.11, neck, 1 - low, low), look.body)
    part(
        bar(0.12, neck - 0.01, 0.5 - half * 0.35, 0.5 + half * 0.35), lighter(look.body, 0.35), outline=False
    )
    if look.form % 3 == 2:
        part(bar(0.14, 0.22, 1 - low, low), look.accent)
    part([(1 - low, neck), (low, neck), (0.5, 1.09)], mix((236, 196, 140), look.body, 0.1))
    part([(0.5 - half * 0.42, 1.01), (0.5 + half * 0.42, 1.01), (0.5, 1.09)], _GRAPHITE)


def _draw_phone(pen: Pen, look: Look) -> None:
    half = 0.255 * (1 + 0.1 * look.stretch)
    left, right = 0.5 - half, 0.5 + half
    pen.box(left, 0.04, right, 0.96, look.body, radius=0.08)
    pen.box(left + 0.035, 0.11, right - 0.035, 0.86, _GRAPHITE)
    pen.line([(0.44, 0.075), (0.56, 0.075)], _GRAPHITE, 0.025, outline=False)
    pen.disc(0.5, 0.91, 0.03, _PAPER)
    apps: tuple[Color, ...] = (
        (84, 200, 120),
        (250, 200, 60),
        (238, 90, 90),
        look.accent,
        (90, 160, 240),
        (180, 110, 220),
    )
    if look.form % 2:
        pen.box(left + 0.05, 0.12, right - 0.05, 0.85, _SCREEN, outline=False)
        pen.box(left + 0.09, 0.22, right - 0.14, 0.36, _PAPER, radius=0.04)
        pen.box(left + 0.14, 0.42, right - 0.09, 0.56, (120, 220, 130), radius=0.04)
        pen.box(left + 0.09, 0.62, right - 0.18, 0.76, _PAPER, radius=0.04)
        return
    for place, color in enumerate(apps):
        x = 0.5 + (place % 2 * 2 - 1) * half * 0.40
        y = 0.25 + place // 2 * 0.22
        pen.box(x - 0.07, y - 0.07, x + 0.07, y + 0.07, color, radius=0.03, outline=False)


def _draw_headphones(pen: Pen, look: Look) -> None:
    wide = 0.36 + 0.03 * look.stretch
    band = [(0.5 - wide, 0.62), *rounded(0.5, 0.49, wide, 0.38, 180, 360), (0.5 + wide, 0.62)]
    pen.line(band, look.body, 0.09)
    if look.form % 2:
        pen.line(rounded(0.5, 0.49, wide, 0.38, 235, 305), look.accent, 0.12)
    for side in (-1, 1):
        outer, inner = 0.5 + side * (wide + 0.07), 0.5 + side * (wide - 0.06)
        pad = 0.5 + side * (wide - 0.15)
        pen.box(min(inner, pad), 0.55, max(inner, pad), 0.91, look.accent, radius=0.04)
        pen.box(min(inner, outer), 0.51, max(inner, outer), 0.94, look.body, radius=0.06)
    if look.form % 3 == 2:
        pen.line(bowed((0.5 - wide, 0.86), (0.42, 0.98), (0.52, 0.86)), look.body, 0.04)
        pen.disc(0.53, 0.84, 0.05, _GRAPHITE)


def _draw_desk_lamp(pen: Pen, look: Look) -> None:
    elbow: Point = (0.20 - 0.06 * look.stretch, 0.46)
    pen.line([(0.42, 0.86), elbow, (0.52, 0.16)], look.accent, 0.055)
    pen.polygon([(0.62, 0.44), (0.92, 0.30), (0.96, 0.72), (0.60, 0.72)], (255, 240, 150), outline=False)
    if look.form % 2:
        shade = [*rounded(0.68, 0.34, 0.27, 0.27, 152, 333)]
    else:
        shade = [(0.50, 0.10), (0.62, 0.05), (0.95, 0.29), (0.50, 0.50)]
    pen.polygon(shade, look.body)
    pen.polygon(rounded(0.74, 0.40, 0.09, 0.07, 0, 360), (255, 214, 80))
    pen.disc(elbow[0], elbow[1], 0.055, _SILVER)
    pen.polygon(
        [(0.20, 0.92), *rounded(0.42, 0.92, 0.24, 0.10, 180, 360), (0.66, 0.96), (0.18, 0.96)], look.body
    )


def _draw_calculator(pen: Pen, look: Look) -> None:
    half = 0.32 * (1 + 0.12 * look.stretch)
    left, right = 0.5 - half, 0.5 + half
    pen.box(left, 0.04, right, 0.96, look.body, radius=0.06)
    pen.box(left + 0.06, 0.10, right - 0.06, 0.30, (188, 214, 164))
    pen.line([(right - 0.12, 0.15), (right - 0.12, 0.25)], _GRAPHITE, 0.03, outline=False)
    pen.line([(right - 0.20, 0.15), (right - 0.20, 0.25)], _GRAPHITE, 0.03, outline=False)
    columns = 3 if look.form % 2 else 4
    step = (right - left - 0.12) / columns
    for row in range(4):
        for column in range(columns):
            x, y = left + 0.06 + (column + 0.12) * step, 0.37 + row * 0.145
            color = look.accent if column == columns - 1 else _PAPER
            if (row, column) == (3, 0):
                color = (226, 70, 60)
            pen.box(x, y, x + 0.76 * step, y + 0.105, color, radius=0.02, outline=False)


def _draw_envelope(pen: Pen, look: Look) -> None:
    top, low = 0.22 - 0.05 * look.stretch, 0.78 + 0.05 * look.stretch
    paper = lighter(look.body, 0.35)
    middle = (top + low) / 2
    if look.form % 3 == 2:
        pen.polygon([(0.04, top + 0.08), (0.5, top - 0.10), (0.96, top + 0.08)], darker(paper, 0.25))
        pen.box(0.14, top - 0.04, 0.86, low - 0.10, _PAPER)
        for y in (0.06, 0.14):
            pen.line([(0.22, top + y), (0.78, top + y)], look.accent, 0.03, outline=False)
        pen.polygon(
            [(0.04, top + 0.08), (0.5, middle + 0.08), (0.96, top + 0.08), (0.96, low), (0.04, low)], paper
        )
        pen.line([(0.06, low - 0.02), (0.40, middle + 0.03)], darker(paper), 0.02, outline=False)
        pen.line([(0.94, low - 0.02), (0.60, middle + 0.03)], darker(paper), 0.02, outline=False)
        return
    pen.box(0.04, top, 0.96, low, paper)
    pen.line([(0.06, low - 0.02), (0.42, middle)], darker(paper), 0.02, outline=False)
    pen.line([(0.94, low - 0.02), (0.58, middle)], darker(paper), 0.02, outline=False)
    pen.polygon([(0.04, top), (0.96, top), (0.5, middle + 0.08)], lighter(paper, 0.35))
    if look.form % 3 == 1:
        heart = [
            *rounded(0.455, middle, 0.055, 0.05, 180, 360),
            *rounded(0.545, middle, 0.055, 0.05, 180, 360),
        ]
        pen.polygon([*heart, (0.5, middle + 0.12)], look.accent)
    else:
        pen.disc(0.5, middle + 0.03, 0.085, look.accent)


def _draw_flower_pot(pen: Pen, look: Look) -> None:
    half = 0.34 + 0.04 * look.stretch
    pen.line([(0.5, 0.44), (0.5, 0.20)], _LEAF, 0.04)
    for side in (-1, 1):
        leaf = bowed((0.5, 0.30), (0.5 + side * 0.04, 0.08), (0.5 + side * 0.28, 0.10))
        leaf += bowed((0.5 + side * 0.28, 0.10), (0.5 + side * 0.26, 0.32), (0.5, 0.30))
        pen.polygon(leaf, _LEAF)
    pen.polygon(rounded(0.5, 0.44, half - 0.02, 0.07, 0, 360), _SOIL)
    pot = mix((202, 104, 62), look.body, 0.6)
    pen.polygon([(0.5 - half + 0.06, 0.54), (0.5 + half - 0.06, 0.54), (0.70, 0.96), (0.30, 0.96)], pot)
    if look.form % 3 == 1:
        low = 0.20 + (half - 0.26) * 0.67
        pen.polygon(
            [(0.5 - low, 0.68), (0.5 + low, 0.68), (0.5 + low - 0.02, 0.80), (0.52 - low, 0.80)], look.accent
        )
    elif look.form % 3 == 2:
        for x in (0.34, 0.5, 0.66):
            pen.disc(x, 0.76, 0.05, look.accent, outline=False)
    pen.box(0.5 - half - 0.02, 0.44, 0.5 + half + 0.02, 0.60, pot, radius=0.03)


def _draw_trowel(pen: Pen, look: Look) -> None:
    half = 0.19 * (1 + 0.2 * look.stretch)
    aslant = 45.0 if look.form % 2 == 0 else -45.0
    pen.line(turned([(0.5, 0.24), (0.5, 0.52)], aslant), _STEEL, 0.055)
    blade: list[Point] = [
        (0.5 - half * 0.9, 0.46),
        *bowed((0.5 - half, 0.60), (0.5 - half * 0.95, 0.88), (0.5, 1.04)),
    ]
    blade += [*bowed((0.5, 1.04), (0.5 + half * 0.95, 0.88), (0.5 + half, 0.60)), (0.5 + half * 0.9, 0.46)]
    blade += [(0.5, 0.41)]
    pen.polygon(turned(blade, aslant), mix(_STEEL, look.accent, 0.2))
    pen.line(turned([(0.5, 0.52), (0.5, 0.92)], aslant), darker(_STEEL, 0.3), 0.03, outline=False)
    pen.line(turned([(0.5, -0.03), (0.5, 0.22)], aslant), look.body, 0.13)
    if look.form % 3 == 1:
        pen.line(turned([(0.5, -0.03), (0.5, -0.025)], aslant), look.accent, 0.13)
    else:
        pen.line(turned([(0.45, 0.20), (0.55, 0.20)], aslant), look.accent, 0.06)


def _draw_rake(pen: Pen, look: Look) -> None:
    half = 0.34 + 0.04 * look.stretch
    pen.line([(0.5, 0.11), (0.5, 0.66)], mix(_WOOD, look.accent, 0.25), 0.06)
    pen.line([(0.5, 0.11), (0.5, 0.20)], look.accent, 0.085)
    if look.form % 2:
        for place in range(7):
            share = (place - 3) / 3
            x = 0.5 + share * half
            pen.line([(0.5 + share * 0.04, 0.54), (x, 0.86), (x + share * 0.02, 0.94)], look.body, 0.035)
        pen.line([(0.5 - half * 0.62, 0.74), (0.5 + half * 0.62, 0.74)], look.body, 0.045)
        pen.disc(0.5, 0.56, 0.06, look.body)
        return
    for place in range(6):
        x = 0.5 + (place - 2.5) / 2.5 * half
        pen.polygon([(x - 0.032, 0.70), (x + 0.032, 0.70), (x + 0.012, 0.95), (x - 0.012, 0.95)], look.body)
    pen.polygon([(0.44, 0.56), (0.56, 0.56), (0.66, 0.68), (0.34, 0.68)], look.body)
    pen.line([(0.5 - half, 0.70), (0.5 + half, 0.70)], look.body, 0.085)


def _draw_pruning_shears(pen: Pen, look: Look) -> None:
    spread = 0.22 + 0.04 * look.stretch
    hook = [
        *bowed((0.54, 0.46), (0.72, 0.32), (0.60, 0.09)),
        *bowed((0.66, 0.06), (0.92, 0.32), (0.60, 0.52)),
    ]
    pen.polygon(hook, darker(_STEEL, 0.3))
    blade = [
        *bowed((0.45, 0.50), (0.24, 0.28), (0.36, 0.05)),
        *bowed((0.36, 0.05), (0.62, 0.20), (0.58, 0.46)),
    ]
    pen.polygon(blade, lighter(_STEEL, 0.35))
    zigzag: list[Point] = [(0.42, 0.61), (0.58, 0.64), (0.42, 0.68), (0.58, 0.72), (0.42, 0.76)]
    pen.line(zigzag, _STEEL, 0.025)
    for side in (-1, 1):
        grip = bowed(
            (0.5 + side * 0.03, 0.50), (0.5 + side * (spread + 0.10), 0.58), (0.5 + side * spread, 0.88)
        )
        pen.line(grip, look.body, 0.13)
        if look.form % 2:
            pen.line(grip[6:], look.accent, 0.13)
    pen.disc(0.5, 0.48, 0.07, look.accent)
    if look.form % 3 == 2:
        pen.line([(0.5 - spread + 0.04, 0.90), (0.5 + spread - 0.04, 0.90)], look.accent, 0.045)


def _draw_garden_glove(pen: Pen, look: Look) -> None:
    wide = 0.13 * (1 + 0.08 * look.stretch)
    fingers = ((-1.45, 0.20, -0.05), (-0.5, 0.11, -0.02), (0.5, 0.12, 0.02), (1.45, 0.22, 0.05))
    tips = look.accent if look.form % 2 else look.body
    pen.line([(0.62, 0.66), (0.80, 0.52), (0.86, 0.44)], look.body, 0.14)
    for share, top, lean in fingers:
        x = 0.44 + share * wide
        pen.line([(x - lean * 0.5, 0.52), (x + lean, top)], look.body, 0.115)
        if look.form % 2:
            pen.line([(x + lean * 0.8, top + 0.08), (x + lean, top)], tips, 0.115)
    left, right = 0.44 - 2.0 * wide, 0.44 + 2.0 * wide
    pen.polygon(
        [(left, 0.46), (right, 0.46), (right, 0.64), (right - 0.05, 0.82), (left + 0.05, 0.82)], look.body
    )
    if look.form % 3 == 0:
        for x, y in ((0.34, 0.54), (0.54, 0.54), (0.44, 0.62), (0.34, 0.70), (0.54, 0.70)):
            pen.disc(x, y, 0.035, look.accent, outline=False)
    elif look.form % 3 == 2:
        pen.polygon(rounded(0.44, 0.62, 0.16, 0.12, 0, 360), look.accent)
    pen.box(left, 0.78, right, 0.96, look.accent, radius=0.03)
    pen.line([(left + 0.03, 0.87), (right - 0.03, 0.87)], lighter(look.accent, 0.4), 0.025, outline=False)


def _draw_sponge(pen: Pen, look: Look) -> None:
    top = 0.44 - 0.06 * look.stretch
    foam = mix((246, 208, 70), look.body, 0.5)
    low, back = 0.84, 0.18
    pad = look.accent
    pen.polygon([(0.80, top), (0.96, top - back), (0.96, low - back), (0.80, low)], darker(foam, 0.25))
    pen.polygon([(0.04, top), (0.20, top - back), (0.96, top - back), (0.80, top)], lighter(pad, 0.15))
    pen.box(0.04, top, 0.80, low, foam, radius=0.02)
    if look.form % 3 == 1:
        pen.box(0.04, low - 0.12, 0.80, low, pad)
        pen.polygon(
            [(0.80, low - 0.12), (0.96, low - back - 0.12), (0.96, low - back), (0.80, low)], darker(pad)
        )
    else:
        pen.box(0.04, top, 0.80, top + 0.12, pad)
        pen.polygon(
            [(0.80, top), (0.96, top - back), (0.96, top - back + 0.12), (0.80, top + 0.12)], darker(pad)
        )
    shift = -0.10 if look.form % 3 == 1 else 0.0
    holes = (
        (0.14, 0.66, 0.04),
        (0.28, 0.75, 0.05),
        (0.40, 0.64, 0.035),
        (0.53, 0.73, 0.05),
        (0.68, 0.65, 0.045),
    )
    for x, y, radius in holes:
        hole = rounded(x, y + shift, radius, radius * 0.8, 0, 360)
        pen.polygon(hole, darker(foam, 0.45), outline=False)
    for x, y in ((0.86, 0.56), (0.91, 0.44)):
        pen.disc(x, y, 0.025, darker(foam, 0.5), outline=False)


def _draw_ball(pen: Pen, look: Look) -> None:
    radius = 0.435 + 0.02 * look.stretch
    top, low = 0.5 - radius, 0.5 + radius
    pen.disc(0.5, 0.5, radius, look.body)
    if look.form % 3 == 0:
        for colour, outer, inner in ((look.accent, 0.74, 0.44), (_WHITE, 0.44, 0.14)):
            for side in (-1, 1):
                panel = bowed((0.5, top), (0.5 + side * radius * outer * 1.9, 0.5), (0.5, low))
                panel += bowed((0.5, low), (0.5 + side * radius * inner * 1.9, 0.5), (0.5, top))
                pen.polygon(panel, colour)
        pen.disc(0.5, top + 0.04, 0.05, _WHITE)
        return
    if look.form % 3 == 1:
        for half, colour in ((23, _WHITE), (12, look.accent)):
            left = rounded(0.5, 0.5, radius, radius, 180 - half, 180 + half)
            pen.polygon([*left, *rounded(0.5, 0.5, radius, radius, -half, half)], colour)
    else:
        star: list[Point] = []
        for angle in range(-90, 270, 72):
            star.append(rounded(0.5, 0.5, radius * 0.66, radius * 0.66, angle, angle)[0])
            star.append(rounded(0.5, 0.5, radius * 0.28, radius * 0.28, angle + 36, angle + 36)[0])
        pen.polygon(star, look.accent)
    gleam = rounded(0.5 - radius * 0.45, 0.5 - radius * 0.58, 0.09, 0.06, 0, 360)
    pen.polygon(gleam, lighter(look.body, 0.6), outline=False)


def _draw_bicycle_pump(pen: Pen, look: Look) -> None:
    half = 0.075 * (1 + 0.25 * look.stretch)
    handle = 0.09 if look.form % 2 else 0.17
    hose = bowed((0.42, 0.78), (0.84, 0.92), (0.84, 0.56)) + bowed((0.84, 0.56), (0.84, 0.30), (0.70, 0.42))
    pen.line(hose, _INK, 0.05)
    pen.line([(0.70, 0.42), (0.67, 0.50)], _STEEL, 0.07)
    pen.line([(0.40, handle), (0.40, 0.40)], _STEEL, 0.05)
    pen.line([(0.19, handle), (0.61, handle)], look.accent, 0.09)
    pen.box(0.40 - half, 0.32, 0.40 + half, 0.88, look.body)
    pen.box(0.40 - half - 0.02, 0.29, 0.40 + half + 0.02, 0.36, look.accent)
    pen.box(0.14, 0.86, 0.66, 0.95, look.accent, radius=0.03)
    if look.form % 3 == 1:
        pen.box(0.40 - half, 0.52, 0.40 + half, 0.60, _WHITE, outline=False)
    else:
        pen.disc(0.40, 0.74, 0.10, _WHITE)
        pen.line([(0.40, 0.74), (0.45, 0.69)], (220, 50, 40), 0.025, outline=False)
