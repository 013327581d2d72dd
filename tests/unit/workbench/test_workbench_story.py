"""The synthetic world: what is named can be rendered, and the page counts what there is."""

from __future__ import annotations

from pathlib import Path

from eval.workbench.catalogue import ACTIONS, KINDS, PROPS, SCENES, SPLITS
from eval.workbench.passages import world_passages
from eval.workbench.shapes import FIXTURE_RECIPES, KIND_RECIPES, PROP_RECIPES
from eval.workbench.story import VARIANTS


def test_everything_that_is_named_can_be_rendered() -> None:
    assert {thing.kind_id for thing in KINDS} == set(KIND_RECIPES)
    assert set(PROPS) == set(PROP_RECIPES)
    assert {place for what in ACTIONS for place in what.places} - {"person"} <= set(FIXTURE_RECIPES)


def test_the_page_counts_what_there_is() -> None:
    page = " ".join(Path("docs/design/workbench.md").read_text(encoding="utf-8").split())
    looks = len({look for split in SPLITS for look in VARIANTS[split]})
    assert (len(SCENES), len(ACTIONS)) == (8, 19), "the page has these two in words"
    assert f"Eight scenes, {len(KINDS)} kinds of objects in {looks} looks each" in page
    assert f"{len(PROPS)} kinds of decor, nineteen actions" in page
    passages = f"{len(world_passages())} passages"
    assert passages in Path("CHANGELOG.md").read_text(encoding="utf-8")
