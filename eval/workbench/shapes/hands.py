"""Hands, seen by the one who wears the camera: the arm comes from below, the palm lies at the middle.

Every pose goes with certain actions (eval/workbench/gestures.py), so that a hand says what it does even
where the thing in it is hidden.
"""

from __future__ import annotations

from eval.workbench.pen import Look, Pen, Recipe, darker


def _arm(pen: Pen, look: Look) -> None:
    pen.polygon([(0.38, 0.66), (0.62, 0.66), (0.70, 1.0), (0.30, 1.0)], look.accent)
    pen.box(0.36, 0.62, 0.64, 0.72, darker(look.accent, 0.2), radius=0.02)


def claw(pen: Pen, look: Look) -> None:
    """Fingers spread and bent over what is taken."""
    _arm(pen, look)
    pen.ellipse(0.34, 0.42, 0.66, 0.70, look.body)
    for x0, x1, x2 in ((0.36, 0.20, 0.30), (0.45, 0.38, 0.43), (0.55, 0.60, 0.55), (0.64, 0.82, 0.70)):
        pen.line([(x0, 0.48), (x1, 0.26), (x2, 0.10)], look.body, 0.075)


def palm(pen: Pen, look: Look) -> None:
    """Flat and open, the fingers together, as when something is set down."""
    _arm(pen, look)
    pen.box(0.30, 0.32, 0.70, 0.68, look.body, radius=0.10)
    pen.box(0.32, 0.12, 0.68, 0.40, look.body, radius=0.06)
    for x in (0.41, 0.50, 0.59):
        pen.line([(x, 0.14), (x, 0.36)], darker(look.body, 0.4), 0.012, outline=False)
    pen.line([(0.32, 0.56), (0.12, 0.42)], look.body, 0.09)


def fist(pen: Pen, look: Look) -> None:
    """Closed around a handle."""
    _arm(pen, look)
    pen.box(0.30, 0.34, 0.70, 0.68, look.body, radius=0.14)
    for x in (0.40, 0.50, 0.60):
        pen.line([(x, 0.36), (x, 0.52)], darker(look.body, 0.4), 0.014, outline=False)
    pen.line([(0.30, 0.60), (0.56, 0.58)], look.body, 0.09)


def pinch(pen: Pen, look: Look) -> None:
    """Thumb and first finger meet, the others bent away."""
    _arm(pen, look)
    pen.ellipse(0.36, 0.44, 0.68, 0.70, look.body)
    pen.line([(0.60, 0.48), (0.62, 0.30), (0.50, 0.14)], look.body, 0.08)
    pen.line([(0.40, 0.50), (0.34, 0.30), (0.46, 0.14)], look.body, 0.08)


HAND_RECIPES: dict[str, Recipe] = {"claw": claw, "palm": palm, "fist": fist, "pinch": pinch}
