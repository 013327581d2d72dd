"""Full text: how words are cut, and how a person's words become a query that cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rag.store.records import Hit
from rag.store.schema import FULL_TEXT
from rag.store.vector_index import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

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
FEWEST_READ = 400
"""Rows whose scores are read for one query, at least: texts of one length tie, and to ask Lance for 82 rows
takes twice as long as for these."""
ROWS_A_SCORE = 4096
"""Rows of a table for each score that is read at first: among millions, thousands tie."""
MOST_READ = 2**20
"""Rows whose scores are read for one query, about."""


KeysAt: TypeAlias = "Callable[[NDArray[np.int64]], Any]"
"""The key of each row id, int64 (n,), an Arrow array of strings; null for one that is unknown."""


def plain_query(text: str) -> str:
    """The words of `text`, without lone surrogates, at most 256 of them."""
    words = text.encode("utf-8", "ignore").decode("utf-8").split()
    return " ".join(words[:MAX_QUERY_WORDS])[:8192]


def probe(dataset: Any) -> None:
    """Ask for words of the first text; raises as Lance does where files of the full-text index are missing or
    damaged."""
    from lance.query import MatchQuery

    rows = dataset.scanner(columns=[FULL_TEXT], filter=f"{FULL_TEXT} != ''", limit=1).to_table()
    if words := plain_query(" ".join(rows[FULL_TEXT].to_pylist())):
        query = MatchQuery(words, FULL_TEXT)
        dataset.scanner(columns=["_score"], full_text_query=query, limit=1).to_table()


def match(dataset: Any, text: str, k: int, where: str | None, keys_at: KeysAt) -> list[Hit]:
    """The k best rows of `dataset` by BM25, best first, ties by key; one hit for each key.

    Any of the words may match. `where`: a SQL filter that is applied before the ranking. Where more than
    `MOST_READ` rows tie, those of them that Lance gives are ranked.
    """
    import numpy as np
    import pyarrow as pa
    from lance.query import MatchQuery

    words = plain_query(text)
    if not words or k < 1:
        return []
    limit, wanted = max(k + 32, FEWEST_READ, dataset.count_rows() // ROWS_A_SCORE), k
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
        order = np.argsort(-scores, kind="stable")
        whole = len(order) < limit
        if (
            not whole
            and (len(order) <= wanted or scores[order[-1]] == scores[order[wanted - 1]])
            and limit < MOST_READ
        ):
            limit = min(8 * limit, MOST_READ)
            continue
        # With all that tie with the last one: which of them are answered, their keys decide.
        last = np.count_nonzero(scores >= scores[order[min(wanted, len(order)) - 1]]) if len(order) else 0
        row_ids = found["_rowid"].to_numpy()[order[:last]].astype(np.int64)
        in_order = np.argsort(row_ids)  # in which index files are read the quickest
        row_ids, tied = row_ids[in_order], scores[order[:last]][in_order]
        best = _best_keys(pa.table({"key": keys_at(row_ids), "score": tied}).drop_null(), k)
        if len(best) >= k or last == len(order):
            return [Hit(key, score) for key, score in best.items()]
        wanted *= 2


def _best_keys(rows: Any, k: int) -> dict[str, float]:
    """The score of the best row of each of at most k keys, best first, ties by key.

    `rows`: of `key` and `score`; thousands may tie, of which few become strings of Python.
    """
    import pyarrow.compute as pc

    asked = k
    # PyArrow before 26 fails on a table without rows.
    while rows.num_rows:
        first = rows.take(pc.select_k_unstable(rows, asked, [("score", "descending"), ("key", "ascending")]))
        best: dict[str, float] = {}
        for key, score in zip(*(column.to_pylist() for column in first.columns), strict=True):
            best.setdefault(key, score)
        if len(best) >= k or asked >= rows.num_rows:
            return dict(list(best.items())[:k])
        asked *= 2
    return {}
