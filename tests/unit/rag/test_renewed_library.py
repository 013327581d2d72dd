"""Questions to an open library of which another process removes files and cleans old versions away."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.library import Library
from rag.settings import Settings
from rag.store import head
from rag.store.writing import Writer
from tests.fakes.answer_world import BagOfWords, ImageWords, build_library

SEEN = {"red": "lamp", "blue": "lamp", "green": "drill", "grey": "drill"}
SCRIPT = {name: [(0.0, 6.0, seen, f"The {name} lamp is on.")] for name, seen in SEEN.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(head, "PIN_SECONDS", 0)
    return build_library(tmp_path / "library", SCRIPT, {}, ImageWords())


def without_green(folder: Path) -> None:
    """The head that a new one replaces is kept, so that it takes two runs to clean it away."""
    for name in ("green", "grey"):
        with Writer.open(folder) as writer:
            writer.remove_paths([f"/videos/{name}.mp4"])
            writer.maintain()


def test_a_question_is_asked_of_the_newest_state_where_what_it_found_is_gone(folder: Path) -> None:
    with Library.open(folder, settings=Settings()) as library:
        vars(library.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
        assert library.search("the red lamp")[0].path == "/videos/red.mp4"
        without_green(folder)
        assert {hit.path for hit in library.search("the green lamp")} == {
            "/videos/red.mp4",
            "/videos/blue.mp4",
        }


@pytest.mark.parametrize("call", ["localize", "search_like"])
def test_a_video_that_is_gone_is_unknown(folder: Path, call: str) -> None:
    asked = ("green.mp4@0-6",) if call == "search_like" else ("green.mp4", "the green lamp")
    with Library.open(folder, settings=Settings()) as library:
        vars(library.engine).update(text_encoder=BagOfWords(), tower=ImageWords())
        assert library.search("the red lamp")
        without_green(folder)
        with pytest.raises(UsageError, match=r"green\.mp4"):
            getattr(library, call)(*asked)
