"""The retriever and the query engine, over a library that answers what the test sets."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode

from corpora.records import Clip, Evidence, Passage
from rag.llamaindex import LibraryQueryEngine, LibraryRetriever
from rag.records import Answer, PassageCitation, PassageHit, Question, VideoCitation, VideoHit

SAID = (
    Evidence("v1", 10.0, 12.0, "subtitle", "This mirror is made of glass."),
    Evidence("v1", 11.0, 13.0, "ocr", "TELESCOPES"),
)
WINDOW = VideoHit("a/v.mp4", "v1", 10.0, 15.0, Clip("v1:00000", "v1", 0.0, 30.0), 0.75, SAID, "Mirrors", 0.4)
PASSAGE = PassageHit("a/t.pdf", Passage("p1", "d1", "Glass", "Glass is hard.", (4,)), 0.5)


class Searched:
    """In place of a library: remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []

    def search(self, query, *, kind="all", top_k=None):
        self.asked.append((query, kind, top_k))
        return [WINDOW, PASSAGE]

    def ask(self, text, *, options=()):
        self.asked.append((text, options))
        return Answer(
            Question("q", text, tuple(options)),
            "B" if options else None,
            "glass",
            0.9,
            "It is said.",
            True,
            citations=(
                VideoCitation("a/v.mp4", "v1", 10.0, 15.0, 0.75, SAID),
                PassageCitation("a/t.txt", "p1", "Glass", "Glass is hard.", 0.5),
            ),
        )


def test_hits_become_nodes_with_their_place():
    library = Searched()
    window, passage = LibraryRetriever(library, kind="video", top_k=7).retrieve("mirror")
    assert library.asked == [("mirror", "video", 7)]
    assert window.text == "This mirror is made of glass.\nTELESCOPES"
    assert window.score == 0.75
    assert window.metadata == {
        "kind": "video",
        "path": "a/v.mp4",
        "title": "Mirrors",
        "video_id": "v1",
        "start": 10.0,
        "end": 15.0,
        "relevance": 0.4,
    }
    assert (passage.node_id, passage.text, passage.score) == ("p1", "Glass is hard.", 0.5)
    assert passage.metadata["relevance"] == 0.0
    assert (passage.metadata["passage_id"], passage.metadata["pages"]) == ("p1", [4])
    assert "start: 10.0" in window.node.get_content(MetadataMode.LLM)


def test_retrieving_works_in_an_event_loop_too():
    nodes = asyncio.run(LibraryRetriever(Searched()).aretrieve("mirror"))
    assert [node.node_id for node in nodes] == ["v1:10.000-15.000", "p1"]


@pytest.mark.parametrize("options", [(), ("steel", "glass")])
def test_an_answer_comes_with_its_citations(options):
    library = Searched()
    response = LibraryQueryEngine(library=library, options=options).query("What is it made of?")
    assert library.asked == [("What is it made of?", options)]
    assert str(response) == "glass"
    assert [source.node_id for source in response.source_nodes] == ["v1:10.000-15.000", "p1"]
    assert response.source_nodes[0].text.startswith("This mirror")
    assert response.metadata["answer"].explanation == "It is said."
    assert response.metadata["choice"] == ("B" if options else None)
    assert (response.metadata["confidence"], response.metadata["matched"]) == (0.9, True)


def test_the_retriever_serves_any_other_engine():
    from llama_index.core.llms.mock import MockLLM

    engine = RetrieverQueryEngine.from_args(LibraryRetriever(Searched()), llm=MockLLM())
    response = engine.query("What is it made of?")
    assert "This mirror is made of glass." in str(response), "the mock says its prompt, which holds the nodes"
    assert len(response.source_nodes) == 2
