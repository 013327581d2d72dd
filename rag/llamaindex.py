"""A LlamaIndex retriever and query engine over a library.

    from rag import Library
    from rag.llamaindex import LibraryQueryEngine, LibraryRetriever

    with Library.open(".rag") as library:
        nodes = LibraryRetriever(library).retrieve("polishing a mirror")
        response = LibraryQueryEngine(library=library).query("What is the mirror made of?")

Importing this imports LlamaIndex, which takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag.records import (
    Answer,
    Citation,
    PassageCitation,
    PassageHit,
    VideoCitation,
    VideoHit,
    lead,
    passage_citation,
)

if TYPE_CHECKING:
    from rag.library import Library
    from rag.retrieval.retriever import Kind


class LibraryRetriever(BaseRetriever):  # type: ignore[misc]  # LlamaIndex is Any to mypy: following it takes minutes
    """Windows of videos and passages for a query, best first.

    A node's text is the text evidence of the window, or the passage. Its metadata:
    `kind`, `path`, `title`, `video_id`, `start`, `end` (seconds, half-open) or `passage_id`, `pages`, and
    `relevance`: scores order the nodes of one query, relevance compares between queries, with
    `search.threshold` too.
    `top_k`: hits at most; None takes the library's setting.
    """

    def __init__(self, library: Library, *, kind: Kind = "all", top_k: int | None = None) -> None:
        super().__init__()
        self._library = library
        self._kind = kind
        self._top_k = top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._library.search(query_bundle.query_str, kind=self._kind, top_k=self._top_k)
        return [_hit_node(hit) for hit in hits]


class LibraryQueryEngine(CustomQueryEngine):  # type: ignore[misc]  # as above
    """Answers with citations: `response.source_nodes` are the citations, `metadata["answer"]` the `Answer`.

    `options`: of a multiple-choice question; the response's text is then the text of the chosen one.
    """

    library: Any
    """A `rag.Library`; LlamaIndex makes this class a pydantic model, which need not validate it."""
    options: tuple[str, ...] = ()

    def custom_query(self, query_str: str) -> Response:
        """Answer `query_str`. Raises as `Library.ask` does."""
        answer: Answer = self.library.ask(query_str, options=self.options)
        return Response(
            response=f"{lead(answer.verdict)}{answer.text}",
            source_nodes=[_citation_node(citation) for citation in answer.citations],
            metadata={
                "answer": answer,
                "choice": answer.choice,
                "confidence": answer.confidence,
                "matched": answer.matched,
                "verdict": answer.verdict,
            },
        )


def _hit_node(hit: VideoHit | PassageHit) -> NodeWithScore:
    if isinstance(hit, VideoHit):
        node = _window_node(hit, hit.title)
    else:
        node = _passage_node(passage_citation(hit.path, hit.passage, hit.score))
    node.metadata["relevance"] = hit.relevance
    return node


def _citation_node(citation: Citation) -> NodeWithScore:
    if citation.kind == "video":
        return _window_node(citation)
    return _passage_node(citation)


def _window_node(window: VideoHit | VideoCitation, title: str = "") -> NodeWithScore:
    span = {"video_id": window.video_id, "start": window.start, "end": window.end}
    node = TextNode(
        id_=f"{window.video_id}:{window.start:.3f}-{window.end:.3f}",
        text="\n".join(item.text for item in window.evidence),
        metadata={"kind": "video", "path": window.path, "title": title, **span},
    )
    return NodeWithScore(node=node, score=window.score)


def _passage_node(cited: PassageCitation) -> NodeWithScore:
    metadata: dict[str, Any] = {"kind": "passage", "path": cited.path, "title": cited.title}
    metadata |= {"passage_id": cited.passage_id, "pages": list(cited.pages)}
    node = TextNode(id_=cited.passage_id, text=cited.text, metadata=metadata)
    return NodeWithScore(node=node, score=cited.score)
