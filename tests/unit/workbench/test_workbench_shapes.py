"""Every recipe draws a thing of its own inside the square, in every style and design."""

from __future__ import annotations

import numpy as np
import pytest

from eval.workbench.pen import Look, Pen, Recipe
from eval.workbench.shapes import FIXTURE_RECIPES, KIND_RECIPES, PROP_RECIPES

SIZE = 48
LOOKS = (
    Look(),
    Look(body=(52, 110, 190), accent=(236, 180, 60), stretch=-1.0, form=1, style="flat"),
    Look(body=(70, 150, 90), accent=(230, 226, 214), stretch=1.0, form=2, style="shaded"),
    Look(body=(226, 170, 50), accent=(110, 60, 130), stretch=0.5, form=3, style="graphics"),
    Look(body=(240, 240, 240), accent=(20, 20, 20), stretch=-0.5, form=4),
    Look(body=(30, 30, 34), accent=(200, 60, 60), stretch=1.0, form=5, style="flat"),
)


TABLES = {"kind": KIND_RECIPES, "fixture": FIXTURE_RECIPES, "prop": PROP_RECIPES}
RECIPES = {f"{table}.{name}": recipe for table, recipes in TABLES.items() for name, recipe in recipes.items()}


def _rendered(recipe: Recipe, look: Look) -> np.ndarray:
    pen = Pen(SIZE, look.style)
    recipe(pen, look)
    return np.asarray(pen.image())


def test_no_two_tables_draw_the_same_thing() -> None:
    things = [name.partition(".")[2] for name in RECIPES]
    assert len(things) == 129
    assert len(set(things)) == len(things)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_every_look_fills_enough_of_the_square_and_stays_inside(name: str) -> None:
    for look in LOOKS:
        seen = _rendered(RECIPES[name], look)[..., 3] > 60
        assert seen.mean() >= 0.08, look
        # An outline may touch an edge; a thing that is cut off fills a good part of it.
        assert max(edge.mean() for edge in (seen[0], seen[-1], seen[:, 0], seen[:, -1])) <= 0.25, look


@pytest.mark.parametrize("look", LOOKS)
def test_every_thing_has_an_image_of_its_own(look: Look) -> None:
    images = {name: _rendered(recipe, look).tobytes() for name, recipe in RECIPES.items()}
    assert len(set(images.values())) == len(images)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_draws_the_same_image_again(name: str) -> None:
    assert np.array_equal(_rendered(RECIPES[name], LOOKS[1]), _rendered(RECIPES[name], LOOKS[1]))
