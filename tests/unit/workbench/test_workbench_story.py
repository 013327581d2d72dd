"""How the synthetic world is worded: every phrase has room for its object and its place."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from eval.workbench.catalogue import ACTIONS, KINDS, PROPS, SCENES, SPLITS, Action, allows
from eval.workbench.passages import world_passages
from eval.workbench.shapes import FIXTURE_RECIPES, KIND_RECIPES, PROP_RECIPES
from eval.workbench.story import VARIANTS


def fields(phrase: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(phrase) if name)


@pytest.mark.parametrize("what", ACTIONS, ids=lambda what: what.action_id)
def test_a_phrase_names_its_object_and_its_place_once(what: Action) -> None:
    for split in SPLITS:
        assert len(what.phrases[split]) >= 2
        for phrase in what.phrases[split]:
            assert fields(phrase) == (["o", "p"] if what.places else ["o"])
    assert any(allows(what, thing) for thing in KINDS)


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
