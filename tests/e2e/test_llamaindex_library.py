"""The example, run on a real library: indexed, retrieved from and asked through LlamaIndex."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from rag import Library
from rag.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
MIRROR = "The mirror of the telescope is made of borosilicate glass."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    corpus = tmp_path_factory.mktemp("corpus")
    (corpus / "mirror.txt").write_text(MIRROR, encoding="utf-8")
    (corpus / "bread.txt").write_text("Bread is baked in a hot oven for forty minutes.", encoding="utf-8")
    library = tmp_path_factory.mktemp("library") / ".rag"
    Library.index([corpus], settings=Settings(library=library))
    return library


def test_a_passage_is_retrieved_and_a_question_answered_with_its_source(folder):
    from rag.llamaindex import LibraryQueryEngine, LibraryRetriever  # two seconds in each of pytest's workers

    asked = "What is the mirror of the telescope made of?"
    with Library.open(folder) as library:
        best, *_ = LibraryRetriever(library, kind="passage", top_k=1).retrieve("a telescope's mirror")
        response = LibraryQueryEngine(library=library).query(asked)
        chosen = LibraryQueryEngine(library=library, options=("steel", "borosilicate glass")).query(asked)
    assert best.text == MIRROR
    assert best.metadata["path"].endswith("mirror.txt")
    assert "glass" in str(response)
    assert response.metadata["matched"]
    assert [node.metadata["path"].endswith("mirror.txt") for node in response.source_nodes] == [True]
    assert chosen.metadata["choice"] == "B"


def test_the_example_prints_answer_and_sources(folder, capsys):
    example = runpy.run_path(str(ROOT / "examples/llamaindex_query_engine.py"))
    example["main"](str(folder), "What is the mirror of the telescope made of?")
    said = capsys.readouterr().out
    for words in ("Answer: ", "glass", "because of "):
        assert words in said


def test_the_example_says_in_a_line_where_there_is_no_library(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["example", str(tmp_path / "nope"), "What is the mirror made of?"])
    with pytest.raises(SystemExit, match=r"nope: no library here; make one with: rag index FOLDER"):
        runpy.run_path(str(ROOT / "examples/llamaindex_query_engine.py"), run_name="__main__")
