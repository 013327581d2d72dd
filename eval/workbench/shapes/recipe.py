"""What a recipe is: a function that draws one kind of thing."""

from __future__ import annotations

from collections.abc import Callable

from eval.workbench.pen import Look, Pen

Recipe = Callable[[Pen, Look], None]
"""Draws every variant of one kind in the unit square from the look alone."""
