"""Full text: how words are cut, and how a person's words become a query that cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rag.store.records import Hit
from rag.store.schema import FULL_TEXT
from rag.store.vectors import DECIMALS

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


TIMED = ("video_id", "start", "end")
"""Columns that a filter on times needs."""
Passing: TypeAlias = "Callable[[Any], NDArray[np.bool_]]"
"""bool (n,): the rows of an Arrow table, with the columns of `TIMED`, that pass a filter."""


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


def match(dataset: Any, key: str, text: str, k: int, where: str | None, passing: Passing | None) -> list[Hit]:
    """The k best rows of `dataset` by BM25, best first, ties by the column `key`; one hit for each key.

    Any of the words may match. `where`: a SQL filter that is applied before the ranking; `passing`: a filter
    that is applied after. Where more than `MOST_READ` rows tie, those of them that Lance gives are ranked.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    from lance.query import MatchQuery

    words = plain_query(text)
    if not words or k < 1:
        return []
    limit = max(k + 32, FEWEST_READ, dataset.count_rows() // ROWS_A_SCORE)
    while True:
        found = dataset.scanner(
            columns=[key, "_score", *(TIMED if passing else ())],
            full_text_query=MatchQuery(words, FULL_TEXT),
            filter=where,
            prefilter=where is not None,
            limit=limit,
            disable_scoring_autoprojection=True,
        ).to_table()
        scores = found["_score"].to_numpy().astype(np.float64).round(DECIMALS)
        whole = len(scores) < limit or limit >= MOST_READ
        # Of the rows that tie with the last one some may be missing.
        keep = np.ones(len(scores), np.bool_) if whole else scores > scores.min()
        if passing:
            keep &= passing(found)
        rows = pa.table({"key": found[key], "score": scores}).filter(keep)
        best = rows.group_by("key").aggregate([("score", "max")])
        if whole or best.num_rows >= k:
            break
        limit = min(8 * limit, MOST_READ)
    if not best.num_rows:
        return []  # PyArrow before 26 fails on a table without rows.
    best = best.take(pc.select_k_unstable(best, k, [("score_max", "descending"), ("key", "ascending")]))
    return [Hit(*each) for each in zip(best["key"].to_pylist(), best["score_max"].to_pylist(), strict=True)]
