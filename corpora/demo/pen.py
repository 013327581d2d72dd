"""Smooth drawing with Pillow: everything is drawn twice as large and scaled down once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PIL import Image, ImageDraw

__all__ = ["SIDE", "Color", "Pen", "mix"]

Color = tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float]

SIDE = 270
"""Side of a thing's picture, in pixels of the film."""
SCALE = 2


class Pen:
    """Draws on a transparent square in coordinates of the film, origin at its upper left."""

    def __init__(self, width: int = SIDE, height: int = SIDE) -> None:
        self._size = (width, height)
        self._image = Image.new("RGBA", (width * SCALE, height * SCALE), (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self._image, "RGBA")

    def disc(self, x: float, y: float, rx: float, ry: float | None = None, *, fill: Color) -> None:
        ry = rx if ry is None else ry
        self._draw.ellipse(_scaled([(x - rx, y - ry), (x + rx, y + ry)]), fill=fill)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Color, round: float = 0) -> None:
        self._draw.rounded_rectangle(_scaled([(x0, y0), (x1, y1)]), round * SCALE, fill=fill)

    def shape(self, points: Sequence[Point], fill: Color) -> None:
        self._draw.polygon(_scaled(points), fill=fill)

    def line(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """With round ends and corners."""
        self._draw.line(_scaled(points), fill=fill, width=int(width * SCALE), joint="curve")
        for x, y in (points[0], points[-1]):
            self.disc(x, y, width / 2, fill=fill)

    def arc(self, x: float, y: float, r: float, start: float, end: float, width: float, fill: Color) -> None:
        """Degrees clockwise from three o'clock."""
        self._draw.arc(_scaled([(x - r, y - r), (x + r, y + r)]), start, end, fill, int(width * SCALE))

    def turned(self, degrees: float, x: float, y: float) -> Pen:
        """All that was drawn so far, turned counter-clockwise around (x, y), under what comes."""
        turned = Pen(*self._size)
        turned._image = self._image.rotate(degrees, Image.Resampling.BILINEAR, center=(x * SCALE, y * SCALE))
        turned._draw = ImageDraw.Draw(turned._image, "RGBA")
        return turned

    def over(self, other: Pen) -> Pen:
        """This drawing laid over the other one."""
        other._image.alpha_composite(self._image)
        return other

    def picture(self) -> Image.Image:
        """RGBA, of the size that was asked for."""
        return self._image.reduce(SCALE)


def mix(one: Color, other: Color, share: float) -> Color:
    """The colour `share` of the way from one to the other."""
    share = min(1.0, max(0.0, share))
    mixed = tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return cast("Color", mixed)


def _scaled(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(x * SCALE, y * SCALE) for x, y in points]
