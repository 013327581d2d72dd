"""Misspelled words of a question, over a library of two documents and the bundled sentence encoder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.library import Library
from rag.retrieval.spelling import respelled
from rag.store.reading import EVERYTHING
from tests.fakes.command import run_rag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("spelling")
    (made / "corpus").mkdir()
    (made / "corpus/museum.md").write_text("# Museum\n\nAn annual pass for the museum costs 45 EUR.\n")
    (made / "corpus/boiler.md").write_text(
        "# Boiler\n\nThe guarantee of the boiler lasts five years.\n"
        "\nDaniel Osei is the compliance officer.\n"
    )
    (made / "corpus/water.md").write_text(
        "# Water\n\nThe water has 20 mg of nitrates, sulfate and propane.\n"
    )
    assert run_rag(made, "index", "corpus", "--library", "lib").returncode == 0
    return made


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("How much is an anual pass for the musem?", {"anual": "annual", "musem": "museum"}),
        ("How long is the gaurantee of the Boyler?", {"gaurantee": "guarantee", "boyler": "boiler"}),
        # Words that are spelled as others spell them, or that nothing in the library is like.
        ("How much is the router for the museums?", {}),
        ("How much is a triceratops for the museum?", {}),
        # Words of another meaning, both spelled right.
        ("How much nitrite or sulfite has the water, and how much propene?", {}),
        ("How much is the annualing of a guaranteeship for boilerwork?", {}),
        # In another language a word has forms that the library may not have.
        ("Darf ich in Musees ohne Boilers gehen?", {}),
    ],
)
def test_words_are_read_as_the_library_spells_them(folder: Path, text: str, spelling: dict[str, str]) -> None:
    with Library.open(folder / "lib") as library:
        assert respelled(text, library.engine.new_retriever(), EVERYTHING) == spelling


def test_a_misspelled_question_is_answered_and_says_so(folder: Path) -> None:
    asked = "who is the complience oficer"
    done = json.loads(run_rag(folder, "ask", asked, "--library", "lib").stdout)
    assert done["question"] == asked
    assert "Daniel Osei" in done["answer"]["text"]
    read = "“complience” was read as “compliance”. “oficer” was read as “officer”."
    assert done["answer"]["explanation"].endswith(read)
