"""Recipes for the outdoor kinds."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, Pen, Point, Recipe, darker, lighter, mix
from eval.workbench.shapes.curves import bowed, rounded, turned

_WHITE: Color = (248, 248, 244)
_STEEL: Color = (182, 188, 196)
_INK: Color = (40, 42, 48)
_SOIL: Color = (84, 56, 38)
_LEAF: Color = (76, 160, 66)
_WOOD: Color = (188, 136, 82)


def flower_pot(pen: Pen, look: Look) -> None:
    """A flower pot, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def trowel(pen: Pen, look: Look) -> None:
    """A trowel, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def rake(pen: Pen, look: Look) -> None:
    """A rake, in 2 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def pruning_shears(pen: Pen, look: Look) -> None:
    """Pruning shears, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def garden_glove(pen: Pen, look: Look) -> None:
    """A garden glove, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def sponge(pen: Pen, look: Look) -> None:
    """A sponge, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def ball(pen: Pen, look: Look) -> None:
    """A ball, in 3 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


def bicycle_pump(pen: Pen, look: Look) -> None:
    """A bicycle pump, in 6 designs (`look.form`) and of variable proportions (`look.stretch`)."""
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


RECIPES: dict[str, Recipe] = {
    "flower_pot": flower_pot,
    "trowel": trowel,
    "rake": rake,
    "pruning_shears": pruning_shears,
    "garden_glove": garden_glove,
    "sponge": sponge,
    "ball": ball,
    "bicycle_pump": bicycle_pump,
}
