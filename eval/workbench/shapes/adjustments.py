"""The two adjustments that fixtures and props make to their numbers and colours."""

from __future__ import annotations

from eval.workbench.pen import Color, Look, mix


def stretched(look: Look, length: float) -> float:
    """`length`, in units of the square, made up to 20 % shorter or longer."""
    return length * (1 + 0.2 * look.stretch)


def tinted(look: Look, color: Color) -> Color:
    """A colour that belongs to the thing itself, with a quarter of the variant's own."""
    return mix(color, look.body, 0.25)
