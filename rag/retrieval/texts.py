"""Search over one table of texts, dense and BM25, with a relevance for every hit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag.records import SearchFilter
from rag.relevance import chunk_relevance, content_words, lexical_overlap, text_relevance, tokens
from rag.relevance.words import FUNCTION_WORDS
from rag.store.records import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Dense = Callable[["NDArray[np.floating[Any]]", int, SearchFilter], list[Hit]]
Match = Callable[[str, int, SearchFilter], list[Hit]]


@dataclass(frozen=True, slots=True)
class TextHits:
    """Both rankings of one query over one table, best first, and the cosine of each key.

    A key that only BM25 found is below the dense pool: it gets the pool's least cosine, an upper bound of
    its own.
    """

    dense: tuple[Hit, ...]
    matched: tuple[Hit, ...]
    cosine: dict[str, float]

    def keys(self) -> list[str]:
        """Everything found, sorted."""
        return sorted(self.cosine)

    def relevance(self, query: str, texts: dict[str, str], *, chunks: bool = False) -> dict[str, float]:
        """In [0, 1] for each key. `texts`: by key; `chunks`: they are passages, not sentences."""
        wanted = content_words(query)
        found = {}
        for key, cosine in self.cosine.items():
            overlap = lexical_overlap(wanted, set(content_words(texts[key])))
            found[key] = (
                chunk_relevance(cosine, overlap, len(wanted)) if chunks else text_relevance(cosine, overlap)
            )
        return found


def text_hits(
    query: str, vector: NDArray[np.float32], pool: int, where: SearchFilter, dense: Dense, match: Match
) -> TextHits:
    """Both rankings for `query`, `pool` hits each. `vector`: float32 (dim,), unit, of the query."""
    near = dense(vector, pool, where)
    words = match(search_words(query), pool, where)
    least = min((hit.score for hit in near), default=0.0) if len(near) >= pool else 0.0
    cosine = {hit.key: hit.score for hit in near}
    for hit in words:
        cosine.setdefault(hit.key, max(0.0, least))
    return TextHits(tuple(near), tuple(words), cosine)


def search_words(query: str) -> str:
    """The words for full-text search: without function words, unless there are no others."""
    words = tokens(query)
    kept: Sequence[str] = [word for word in words if word not in FUNCTION_WORDS]
    return " ".join(kept or words)
