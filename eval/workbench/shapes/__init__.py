"""Drawing recipes of everything in the synthetic world, by id."""

from __future__ import annotations

from collections.abc import Iterable

from eval.workbench.pen import Recipe
from eval.workbench.shapes import (
    bath,
    cookware,
    food,
    hand_tools,
    household,
    instruments,
    office,
    outdoors,
    places,
    props,
    vessels,
)

__all__ = ["FIXTURE_RECIPES", "KIND_RECIPES", "PROP_RECIPES", "Recipe"]


def _merged(parts: Iterable[dict[str, Recipe]]) -> dict[str, Recipe]:
    return {drawn_id: recipe for part in parts for drawn_id, recipe in part.items()}


KIND_RECIPES: dict[str, Recipe] = _merged(
    family.RECIPES for family in (hand_tools, vessels, cookware, food, household, office, bath, outdoors)
)
"""One recipe for each kind of `eval.workbench.catalogue`."""
FIXTURE_RECIPES: dict[str, Recipe] = _merged((places.RECIPES, instruments.RECIPES))
"""What an event happens at or is done with."""
PROP_RECIPES: dict[str, Recipe] = _merged((props.RECIPES,))
"""Decor, whose main colour is the `body` of the look."""
