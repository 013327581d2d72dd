"""TREC runs, written so that every scorer ranks them as we do.

A line is `query_id Q0 doc_id rank score tag`, six columns between blanks.
trec_eval ignores the rank, keeps the score as a 32-bit float, and breaks ties
by the larger document id; so scores are written strictly descending in 32
bits, which says the order in the only column that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

_TO_ESCAPE = re.compile(r"%(?=[0-9A-F]{2})|[\s\x00-\x1f\x7f-\x9f\udc80-\udcff\ufeff]")


def escape_id(identifier: str) -> str:
    """An id that fits into one column.

    Blanks, control characters and undecodable bytes become `%` and two hex
    digits for each byte of their UTF-8; a `%` is itself escaped only where two
    hex digits follow it, so that most ids stay as the judgements have them,
    and different ids stay different. Raises `ValueError` for an empty id.
    """
    if not identifier:
        raise ValueError("an id in a run cannot be empty")
    return _TO_ESCAPE.sub(_percent, identifier)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogateescape"))


def run_lines(query_id: str, ranking: Iterable[tuple[str, float]], tag: str) -> Iterator[str]:
    """The lines of one query, without line ends.

    `ranking`: (document id, score), best first; of a document named again only
    the first counts. Raises `ValueError` where a score is above the one before
    it or is not finite.
    """
    query, name = escape_id(query_id), escape_id(tag)
    seen: set[str] = set()
    last_given, last_written = np.inf, np.float32(np.inf)
    for doc_id, score in ranking:
        if not np.isfinite(score) or score > last_given:
            raise ValueError(f"query {query_id}: score {score} after {last_given} is no ranking")
        if doc_id in seen:
            continue
        seen.add(doc_id)
        written = np.float32(score)
        if not written < last_written:
            written = np.nextafter(last_written, np.float32(-np.inf))
        last_given, last_written = score, written
        yield f"{query} Q0 {escape_id(doc_id)} {len(seen)} {written!s} {name}"
