"""Drawing recipes of everything in the synthetic world, by id.

The modules hold functions `_draw_ID(pen, look)`: `look.form`, modulo what an object has, selects its design
(handle, pattern, lid), `look.stretch` its proportions.
"""

from __future__ import annotations

from types import ModuleType

from eval.workbench.pen import Recipe
from eval.workbench.shapes import desk_and_garden, fixtures, home, instruments, kitchen, workshop


def _recipes(*modules: ModuleType) -> dict[str, Recipe]:
    return {
        name.removeprefix("_draw_"): value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("_draw_")
    }


KIND_RECIPES = _recipes(workshop, kitchen, home, desk_and_garden)
"""One recipe for each kind of `eval.workbench.catalogue`."""
FIXTURE_RECIPES = _recipes(fixtures, instruments)
"""What an event happens at or is done with."""
