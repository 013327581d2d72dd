"""What is drawn: objects, fixtures, hands and decor, by the strokes that `data/strokes.toml` explains.

A hand is seen by the camera wearer: the arm comes from below, the palm is at the middle. Every pose goes
with certain actions (`eval.workbench.event_scene`), so that a hand shows what it does even where the object
in it is hidden. A piece of decor is first of all of one colour, the `body` of the look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from eval.workbench.catalogue import read_data
from eval.workbench.pen import Color, Look, Pen, Point, bowed, darker, lighter, mix, rounded, turned

_COLORS: dict[str, Color] = {
    "white": (244, 242, 236),
    "grey": (150, 152, 158),
    "dark": (46, 46, 52),
    "leaf": (60, 130, 60),
}
_ON_DARK: Color = (248, 248, 246)
_ON_LIGHT: Color = (40, 42, 48)
_HALF_LIGHT = 480
"""Sum of red, green and blue above which a colour is light."""
_NUMBER = re.compile(r"(-?[\d.]+)(?:([+-][\d.]+)s)?(?:>([\d.]+))?")
_CURVES: dict[str, Callable[..., list[Point]]] = {"bow": bowed, "oval": rounded}

STROKES: dict[str, dict[str, list[str]]] = {
    kind: {name: text.splitlines() for name, text in drawings.items()}
    for kind, drawings in read_data("strokes").items()
}
"""By kind (things, fixtures, hands, decor) and then by id."""


def draw(kind: str, name: str, pen: Pen, look: Look) -> None:
    """A drawing of `STROKES` in the unit square. Raises `ValueError` for what is no stroke."""
    for line in STROKES[kind][name]:
        words = line.split()
        if "/" in words[0]:
            designs, count = words.pop(0).split("/")
            if str(look.form % int(count)) not in designs:
                continue
        try:
            _stroke(words, pen, look)
        except (StopIteration, IndexError, KeyError, ValueError) as error:
            raise ValueError(f"strokes.toml: {name}: {line!r} is no stroke") from error


def _stroke(words: list[str], pen: Pen, look: Look) -> None:
    shape, *rest = words
    at = next(number for number, word in enumerate(rest) if word[0] == "#" or word.isalpha())
    place, rest = rest[:at], rest[at:]
    color, rest = _color(rest, look)
    outline = "flat" not in rest
    extra = next((_number(word, look) for word in rest if word != "flat"), 0.0)
    if shape in ("polygon", "line"):
        points = [*_points(place, look)]
        if shape == "polygon":
            pen.polygon(points, color, outline=outline)
        else:
            pen.line(points, color, extra, outline=outline)
        return
    numbers = [_number(part, look) for word in place for part in word.split(",")]
    match shape, numbers:
        case "box", [x0, y0, x1, y1]:
            pen.box(x0, y0, x1, y1, color, radius=extra, outline=outline)
        case "ellipse", [x0, y0, x1, y1]:
            pen.ellipse(x0, y0, x1, y1, color, outline=outline)
        case "disc", [x, y, radius]:
            pen.disc(x, y, radius, color, outline=outline)
        case "arc", [x, y, radius, start, end]:
            pen.arc(x, y, radius, start, end, color, extra, outline=outline)
        case _:
            raise ValueError(shape)


def _number(text: str, look: Look) -> float:
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    number = float(found[1]) + float(found[2] or 0) * look.stretch
    return max(number, float(found[3])) if found[3] else number


def _points(place: list[str], look: Look) -> Iterator[Point]:
    if place[0].startswith("turn("):
        yield from turned([*_points(place[1:], look)], _number(place[0][5:-1], look))
        return
    for word in place:
        curve, _, inner = word.removesuffix(")").rpartition("(")
        numbers = [_number(part, look) for part in inner.split(",")]
        if curve:
            yield from _CURVES[curve](*numbers)
        else:
            x, y = numbers
            yield x, y


def _color(words: list[str], look: Look) -> tuple[Color, list[str]]:
    """The colour that the first words say, and the other words."""
    color, rest = _named(words[0], look), words[1:]
    while rest[:1] and rest[0] in ("darker", "lighter", "mix"):
        if rest[0] == "mix":
            color, rest = mix(color, _named(rest[1], look), float(rest[2])), rest[3:]
        else:
            shade = darker if rest[0] == "darker" else lighter
            color, rest = shade(color, float(rest[1])), rest[2:]
    return color, rest


def _named(name: str, look: Look) -> Color:
    if name.startswith("#"):
        red, green, blue = bytes.fromhex(name[1:])
        return red, green, blue
    contrast = _ON_DARK if sum(look.accent) < _HALF_LIGHT else _ON_LIGHT
    return {**_COLORS, "body": look.body, "accent": look.accent, "contrast": contrast}[name]
