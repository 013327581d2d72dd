"""Full text: how words are cut, and how a person's words become a query that cannot fail."""

from __future__ import annotations

from collections.abc import Callable
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
MOST_READ = 2**20
"""Rows whose scores are read for one query, about."""
MOST_TIED = 256
"""Rows that tie with the last hit and whose keys are compared."""


def plain_query(text: str) -> str:
    """The words of `text`, without lone surrogates, at most 256 of them."""
    words = text.encode("utf-8", "ignore").decode("utf-8").split()
    return " ".join(words[:MAX_QUERY_WORDS])[:8192]


def match(
    dataset: Any,
    key: str,
    text: str,
    k: int,
    where: str | None,
    found_rows: Callable[[list[str], list[int]], None] | None = None,
) -> list[Hit]:
    """The k best rows of `dataset` by BM25, best first, ties by key; one hit for each key.

    Any of the words may match. `where`: a SQL filter that is applied before the ranking. Where more than
    `MOST_TIED` rows tie with the last hit, those that were stored first are answered.
    `found_rows` is given the keys of these rows, and their row ids.
    """
    import numpy as np
    from lance.query import MatchQuery

    words = plain_query(text)
    if not words or k < 1:
        return []
    limit, wanted = k + 32, k
    while True:
        # Scores alone: keys are strings, and to read those of thousands of ties takes 20 times as long.
        found = dataset.scanner(
            columns=["_score"],
            full_text_query=MatchQuery(words, FULL_TEXT),
            filter=where,
            prefilter=where is not None,
            limit=limit,
            with_row_id=True,
            disable_scoring_autoprojection=True,
        ).to_table()
        scores = found["_score"].to_numpy().astype(np.float64).round(DECIMALS)
        row_ids = found["_rowid"].to_numpy()
        order = np.lexsort((row_ids, -scores))
        whole = len(order) < limit
        if (
            not whole
            and (len(order) <= wanted or scores[order[-1]] == scores[order[wanted - 1]])
            and limit < MOST_READ
        ):
            limit *= 4
            continue
        last = np.count_nonzero(scores >= scores[order[min(wanted, len(order)) - 1]]) if len(order) else 0
        chosen = order[: min(last, wanted + MOST_TIED)]
        hits = _ranked(dataset, key, row_ids[chosen].tolist(), scores[chosen].tolist(), found_rows)
        # Of several rows with one key there is one hit.
        if len(hits) >= k or len(chosen) == len(order):
            return hits[:k]
        wanted *= 2


def _ranked(
    dataset: Any,
    key: str,
    row_ids: list[int],
    scores: list[float],
    found_rows: Callable[[list[str], list[int]], None] | None,
) -> list[Hit]:
    where = f"_rowid IN ({','.join(map(str, row_ids))})" if row_ids else "false"
    rows = dataset.scanner(columns=[key], filter=where, with_row_id=True).to_table()
    if found_rows is not None:
        found_rows(rows[key].to_pylist(), rows["_rowid"].to_pylist())
    score = dict(zip(row_ids, scores, strict=True))
    best: dict[str, float] = {}
    for name, row_id in zip(rows[key].to_pylist(), rows["_rowid"].to_pylist(), strict=True):
        best[name] = max(score[row_id], best.get(name, float("-inf")))
    return [Hit(name, found) for name, found in sorted(best.items(), key=lambda item: (-item[1], item[0]))]
