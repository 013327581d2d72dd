"""Hands and decor, which vary in colour alone: their strokes are data, which `data/strokes.toml` explains.

A hand is seen by the camera wearer: the arm comes from below, the palm is at the middle. Every pose goes
with certain actions (`eval.workbench.event_scene`), so that a hand shows what it does even where the object
in it is hidden. A piece of decor is first of all of one colour, the `body` of the look, and has two designs.
"""

from __future__ import annotations

import re

from eval.workbench.catalogue import read_data
from eval.workbench.pen import Color, Look, Pen, Recipe, darker, lighter

COLORS: dict[str, Color] = {
    "white": (244, 242, 236),
    "grey": (150, 152, 158),
    "dark": (46, 46, 52),
    "leaf": (60, 130, 60),
}
_STROKE = re.compile(
    r"(?:(?P<design>[01]) )?(?P<shape>\w+) (?P<place>[-\d., ]+) (?P<color>[a-z]+|#[0-9a-f]{6})"
    r"(?: (?P<shade>darker|lighter) (?P<share>[\d.]+))?(?: (?P<extra>[\d.]+))?(?P<flat> flat)?"
)


def _recipe(text: str) -> Recipe:
    strokes = [_stroke(line) for line in text.splitlines()]

    def draw(pen: Pen, look: Look) -> None:
        for stroke in strokes:
            if stroke["design"] in (None, str(look.form % 2)):
                _draw(stroke, pen, look)

    return draw


def _stroke(line: str) -> re.Match[str]:
    found = _STROKE.fullmatch(line)
    if found is None:
        raise ValueError(f"strokes.toml: {line!r} is no stroke")
    return found


def _draw(stroke: re.Match[str], pen: Pen, look: Look) -> None:
    place = [float(part) for part in re.split("[ ,]", stroke["place"])]
    points = list(zip(place[::2], place[1::2], strict=False))
    color, extra, outline = _color(stroke, look), float(stroke["extra"] or 0), not stroke["flat"]
    match stroke["shape"], place:
        case "polygon", _:
            pen.polygon(points, color, outline=outline)
        case "line", _:
            pen.line(points, color, extra, outline=outline)
        case "box", [x0, y0, x1, y1]:
            pen.box(x0, y0, x1, y1, color, radius=extra, outline=outline)
        case "ellipse", [x0, y0, x1, y1]:
            pen.ellipse(x0, y0, x1, y1, color, outline=outline)
        case "disc", [x, y, radius]:
            pen.disc(x, y, radius, color, outline=outline)
        case "arc", [x, y, radius, start, end]:
            pen.arc(x, y, radius, start, end, color, extra, outline=outline)
        case _:
            raise ValueError(f"strokes.toml: {stroke[0]!r} is no stroke")


def _color(stroke: re.Match[str], look: Look) -> Color:
    name = stroke["color"]
    if name.startswith("#"):
        red, green, blue = bytes.fromhex(name[1:])
        return red, green, blue
    color = {**COLORS, "body": look.body, "accent": look.accent}[name]
    if stroke["shade"] is None:
        return color
    return (darker if stroke["shade"] == "darker" else lighter)(color, float(stroke["share"]))


_DATA = read_data("strokes")
HAND_RECIPES = {pose: _recipe(text) for pose, text in _DATA["hands"].items()}
"""By pose."""
PROP_RECIPES = {prop: _recipe(text) for prop, text in _DATA["decor"].items()}
