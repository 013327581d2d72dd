"""Full text: how words are cut, and how a person's words become a query that cannot fail."""

from __future__ import annotations

from typing import Any

from rag.store.records import Hit
from rag.store.schema import FULL_TEXT
from rag.store.vector_index import DECIMALS

TOKENIZER: dict[str, Any] = {
    # ICU knows where words end in Chinese, Japanese, Thai and the like, where no spaces say it.
    "base_tokenizer": "icu",
    "language": "English",
    "stem": True,
    "lower_case": True,
    "ascii_folding": True,
    # BM25 weighs common words down by itself, and "who" or "it" can be all that is asked for.
    "remove_stop_words": False,
    "with_position": False,
}

MAX_QUERY_WORDS = 256


def plain_query(text: str) -> str:
    """The words of `text`, without lone surrogates, at most 256 of them."""
    words = text.encode("utf-8", "ignore").decode("utf-8").split()
    return " ".join(words[:MAX_QUERY_WORDS])[:8192]


def match(dataset: Any, key: str, text: str, k: int, where: str | None) -> list[Hit]:
    """The k best rows of `dataset` by BM25, best first, ties by key; one hit for each key.

    Any of the words may match. `where`: a SQL filter that is applied before the ranking.
    """
    from lance.query import MatchQuery

    words = plain_query(text)
    if not words or k < 1:
        return []
    limit = k + 32
    while True:
        found = dataset.scanner(
            columns=[key, "_score"],
            full_text_query=MatchQuery(words, FULL_TEXT),
            filter=where,
            prefilter=where is not None,
            limit=limit,
            disable_scoring_autoprojection=True,
        ).to_table()
        hits = _ranked(found[key].to_pylist(), found["_score"].to_pylist())
        settled = len(hits) > k and hits[-1].score < hits[k - 1].score
        if settled or found.num_rows < limit:
            return hits[:k]
        limit *= 4


def _ranked(keys: list[str], scores: list[float]) -> list[Hit]:
    best: dict[str, float] = {}
    for key, score in zip(keys, scores, strict=True):
        rounded = round(score, DECIMALS)
        if rounded > best.get(key, float("-inf")):
            best[key] = rounded
    return [Hit(key, score) for key, score in sorted(best.items(), key=lambda item: (-item[1], item[0]))]
