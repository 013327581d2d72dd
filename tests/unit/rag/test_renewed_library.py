"""Questions to an open library of which another process removes files and cleans old versions away."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.library import Library
from rag.settings import Settings
from rag.store import maintenance, snapshot
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, build_library

SCRIPT = {name: [(0.0, 6.0, "lamp", f"The {name} lamp is on.")] for name in ("red", "blue", "green")}


def test_a_question_is_asked_of_the_newest_state_where_what_it_found_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PIN_SECONDS", 0)
    monkeypatch.setattr(snapshot, "TEXTS_IN_MEMORY", {})
    folder = build_library(tmp_path / "library", SCRIPT, {}, ImageWords())
    with Library.open(folder, settings=Settings()) as library:
        vars(library.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
        assert library.search("the red lamp")[0].path == "/videos/red.mp4"
        with Writer.open(folder) as writer:
            writer.remove_paths(["/videos/green.mp4"])
            writer.maintain()
        assert {hit.path for hit in library.search("the green lamp")} == {
            "/videos/red.mp4",
            "/videos/blue.mp4",
        }
        with pytest.raises(KeyError, match="own"):
            library._over_reachable(lambda: {}["own"])
