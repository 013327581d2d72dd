"""Points along rounded edges, for the polygons and strokes of the recipes."""

from __future__ import annotations

import math

from eval.workbench.pen import Point


def rounded(x: float, y: float, across: float, down: float, start: float, end: float) -> list[Point]:
    """Along an ellipse with half-axes `across` and `down`, degrees clockwise from the right."""
    steps = max(3, round(abs(end - start) / 12))
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return [(x + across * math.cos(a), y + down * math.sin(a)) for a in angles]


def bowed(start: Point, pull: Point, end: Point, steps: int = 8) -> list[Point]:
    """Along the quadratic curve from `start` to `end` that leans towards `pull`."""
    found = []
    for i in range(steps + 1):
        t = i / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        found.append((a * start[0] + b * pull[0] + c * end[0], a * start[1] + b * pull[1] + c * end[1]))
    return found


def turned(points: list[Point], degrees: float) -> list[Point]:
    """Turned clockwise about the middle of the square."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        (0.5 + (x - 0.5) * cosine - (y - 0.5) * sine, 0.5 + (x - 0.5) * sine + (y - 0.5) * cosine)
        for x, y in points
    ]
