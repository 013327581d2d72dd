"""Drawing: supersampled shapes in a unit square, shaded by style; points along curves; strokes on a frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw

Color = tuple[int, int, int]
Point = tuple[float, float]
Style = Literal["live", "flat", "shaded", "graphics"]
STYLES: tuple[Style, ...] = ("live", "flat", "shaded", "graphics")
"""Live action, flat 2D, shaded 3D, pure graphics."""
SUPERSAMPLING = 3


def mix(one: Color, other: Color, share: float) -> Color:
    """`one` with `share` in [0, 1] of `other`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def darker(color: Color, share: float = 0.35) -> Color:
    """The colour with `share` of black."""
    return mix(color, (0, 0, 0), share)


def lighter(color: Color, share: float = 0.35) -> Color:
    """The colour with `share` of white."""
    return mix(color, (255, 255, 255), share)


@dataclass(frozen=True, slots=True)
class Look:
    """How one variant of a thing looks; its strokes draw every variant from this alone."""

    body: Color = (180, 60, 50)
    accent: Color = (70, 70, 80)
    stretch: float = 0.0
    """In [-1, 1]: how slim or stout, how short or long, as far as the thing allows."""
    form: int = 0
    """Which of a thing's designs (handle type, pattern, lid), modulo what it has."""


@dataclass
class Pen:
    """Draws in the unit square, x right, y down, onto a transparent image of `size` pixels.

    Shapes are filled and outlined (outline=None: none); `width` is in units of the square.
    """

    size: int
    style: Style = "live"
    _canvas: Image.Image = field(init=False)
    _draw: ImageDraw.ImageDraw = field(init=False)

    def __post_init__(self) -> None:
        pixels = self.size * SUPERSAMPLING
        self._canvas = Image.new("RGBA", (pixels, pixels), (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self._canvas)

    def polygon(self, points: Sequence[Point], fill: Color, *, outline: bool = True) -> None:
        """A closed shape through the points."""
        scaled = [self._at(point) for point in points]
        self._draw.polygon(scaled, fill=self._fill(fill))
        if outline and self.style != "shaded":
            self._draw.line(
                [*scaled, scaled[0]], fill=self._edge(fill), width=self._edge_width(), joint="curve"
            )

    def box(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        fill: Color,
        *,
        radius: float = 0.0,
        outline: bool = True,
    ) -> None:
        """A rectangle between two corners, with rounded corners of `radius`."""
        edge = self._edge(fill) if outline and self.style != "shaded" else None
        self._draw.rounded_rectangle(
            (*self._at((x0, y0)), *self._at((x1, y1))),
            radius=radius * self._canvas.width,
            fill=self._fill(fill),
            outline=edge,
            width=self._edge_width(),
        )

    def ellipse(
        self, x0: float, y0: float, x1: float, y1: float, fill: Color, *, outline: bool = True
    ) -> None:
        """The ellipse in the box between two corners."""
        edge = self._edge(fill) if outline and self.style != "shaded" else None
        self._draw.ellipse(
            (*self._at((x0, y0)), *self._at((x1, y1))),
            fill=self._fill(fill),
            outline=edge,
            width=self._edge_width(),
        )

    def disc(self, x: float, y: float, radius: float, fill: Color, *, outline: bool = True) -> None:
        """A circle about (x, y)."""
        self.ellipse(x - radius, y - radius, x + radius, y + radius, fill, outline=outline)

    def line(self, points: Sequence[Point], color: Color, width: float, *, outline: bool = True) -> None:
        """A stroke with round joints and ends, outlined like a filled shape."""
        scaled = [self._at(point) for point in points]
        thick = max(1, round(width * self._canvas.width))
        if outline and self.style != "shaded":
            self._stroke(scaled, self._edge(color), thick + 2 * self._edge_width())
        self._stroke(scaled, self._fill(color), thick)

    def arc(
        self,
        x: float,
        y: float,
        radius: float,
        start: float,
        end: float,
        color: Color,
        width: float,
        *,
        outline: bool = True,
    ) -> None:
        """A stroke along a circle, degrees clockwise from the right."""
        steps = max(2, round(abs(end - start) / 10))
        angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
        points = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]
        self.line(points, color, width, outline=outline)

    def image(self) -> Image.Image:
        """RGBA, `size` x `size`, antialiased; lit from the upper left in the styles that are lit."""
        small = self._canvas.resize((self.size, self.size), Image.Resampling.BOX)
        if self.style in ("live", "shaded"):
            return _lit(small, 0.18 if self.style == "live" else 0.42)
        return small

    def _at(self, point: Point) -> Point:
        return point[0] * self._canvas.width, point[1] * self._canvas.height

    def _fill(self, color: Color) -> Color:
        if self.style == "graphics":
            red, green, blue = (min(255, 64 * round(part / 64)) for part in color)
            return red, green, blue
        return color

    def _edge(self, color: Color) -> Color:
        if self.style == "graphics":
            return (16, 16, 16)
        return darker(color, 0.6 if self.style == "flat" else 0.45)

    def _edge_width(self) -> int:
        share = {"live": 0.010, "flat": 0.018, "shaded": 0.0, "graphics": 0.024}[self.style]
        return max(1, round(share * self._canvas.width))

    def _stroke(self, points: Sequence[Point], color: Color, thick: int) -> None:
        self._draw.line(points, fill=color, width=thick, joint="curve")
        for x, y in (points[0], points[-1]):
            half = thick / 2
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill=color)


def _lit(image: Image.Image, depth: float) -> Image.Image:
    """Lighter at the upper left, darker at the lower right, by up to `depth` of full scale."""
    pixels = np.asarray(image).astype(np.float32)
    ramp = np.linspace(1.0, -1.0, image.width, dtype=np.float32)
    light = (ramp[:, None] + ramp[None, :]) * (depth * 127)
    pixels[..., :3] = np.clip(pixels[..., :3] + light[..., None], 0, 255)
    return Image.fromarray(pixels.astype(np.uint8), "RGBA")


def rounded(x: float, y: float, across: float, down: float, start: float, end: float) -> list[Point]:
    """Draw along an ellipse with half-axes `across` and `down`, degrees clockwise from the right."""
    steps = max(3, round(abs(end - start) / 12))
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return [(x + across * math.cos(a), y + down * math.sin(a)) for a in angles]


def bowed(x0: float, y0: float, x1: float, y1: float, x2: float, y2: float, steps: float = 8) -> list[Point]:
    """Draw the quadratic curve from the first to the last point that leans towards the second."""
    found = []
    for i in range(int(steps) + 1):
        t = i / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        found.append((a * x0 + b * x1 + c * x2, a * y0 + b * y1 + c * y2))
    return found


def turned(points: list[Point], degrees: float) -> list[Point]:
    """Turned clockwise about the middle of the square."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        (0.5 + (x - 0.5) * cosine - (y - 0.5) * sine, 0.5 + (x - 0.5) * sine + (y - 0.5) * cosine)
        for x, y in points
    ]


class Canvas:
    """Draws on an image in frame heights; (0, 0) lies `margin` of them inside its upper left corner."""

    def __init__(self, image: Image.Image, height: int, margin: float = 0.0) -> None:
        self.image, self.height, self._margin = image, height, margin
        self._draw = ImageDraw.Draw(image)

    def at(self, x: float, y: float) -> Point:
        """The place in pixels."""
        return (x + self._margin) * self.height, (y + self._margin) * self.height

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Color, edge: Color | None = None) -> None:
        """A rectangle between two corners."""
        self._draw.rectangle((*self.at(x0, y0), *self.at(x1, y1)), fill=fill, outline=edge)

    def line(self, x0: float, y0: float, x1: float, y1: float, fill: Color, width: float = 0.006) -> None:
        """A stroke between two points."""
        self._draw.line((*self.at(x0, y0), *self.at(x1, y1)), fill, max(1, round(width * self.height)))

    def disc(self, x: float, y: float, radius: float, fill: Color) -> None:
        """A filled circle."""
        self._draw.ellipse((*self.at(x - radius, y - radius), *self.at(x + radius, y + radius)), fill=fill)

    def arc(self, x: float, y: float, radius: float, angles: Point, color: Color, fineness: int) -> None:
        """An arc between two angles, degrees clockwise from the right; 1/`fineness` of the frame wide."""
        box = (*self.at(x - radius, y - radius), *self.at(x + radius, y + radius))
        self._draw.arc(box, *angles, fill=color, width=max(1, self.height // fineness))

    def polygon(self, points: Sequence[Point], fill: Color) -> None:
        """A filled shape through the points."""
        self._draw.polygon([self.at(x, y) for x, y in points], fill=fill)

    def paste(self, sprite: Image.Image, x: float, y: float) -> None:
        """The sprite's centre at (x, y)."""
        left, top = self.at(x, y)
        self.image.paste(sprite, (round(left - sprite.width / 2), round(top - sprite.height / 2)), sprite)
