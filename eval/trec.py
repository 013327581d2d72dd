"""TREC runs: written so that every scorer ranks them as we do, and read strictly.

A line is `query_id Q0 doc_id rank score tag`, six columns between blanks.
trec_eval ignores the rank, keeps the score as a 32-bit float, and breaks ties
by the larger document id; so scores are written strictly descending in 32
bits, which says the order in the only column that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.errors import UsageError

_ESCAPED = re.compile(r"%([0-9A-F]{2})")
_TO_ESCAPE = re.compile(r"%(?=[0-9A-F]{2})|[\s\x00-\x1f\x7f-\x9f\udc80-\udcff\ufeff]")


@dataclass(frozen=True, slots=True)
class RunRow:
    """A line of a TREC run file."""

    query_id: str
    doc_id: str
    rank: int
    """From 1."""
    score: float
    tag: str


def escape_id(identifier: str) -> str:
    """An id that fits into one column.

    Blanks, control characters and undecodable bytes become `%` and two hex
    digits for each byte of their UTF-8; a `%` is itself escaped only where two
    hex digits follow it, so that most ids stay as the judgements have them.
    `unescape_id` gives every id back. Raises `ValueError` for an empty id.
    """
    if not identifier:
        raise ValueError("an id in a run cannot be empty")
    return _TO_ESCAPE.sub(_percent, identifier)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogateescape"))


def unescape_id(column: str) -> str:
    """The id that `escape_id` was given."""
    parts = []
    end = 0
    for match in _ESCAPED.finditer(column):
        parts += [column[end : match.start()].encode("utf-8"), bytes([int(match[1], 16)])]
        end = match.end()
    return b"".join([*parts, column[end:].encode("utf-8")]).decode("utf-8", "surrogateescape")


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


def read_run(path: Path) -> Iterator[RunRow]:
    """The rows of a run in file order, ids unescaped.

    Strict: six columns, `Q0`, ranks from 1 without a gap within a query,
    scores that do not rise, no document twice in a query, each query in one
    piece. Raises `UsageError` naming file and line.
    """
    seen_queries: set[str] = set()
    docs: set[str] = set()
    last: RunRow | None = None
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            row = _row(path, number, line)
            if last is None or row.query_id != last.query_id:
                _require(row.query_id not in seen_queries, path, number, f"query {row.query_id} began before")
                seen_queries.add(row.query_id)
                docs = set()
                last = None
            expected = 1 if last is None else last.rank + 1
            _require(row.rank == expected, path, number, f"rank {row.rank} where {expected} is due")
            _require(last is None or row.score <= last.score, path, number, "the score rises")
            _require(row.doc_id not in docs, path, number, f"document {row.doc_id} occurs twice")
            docs.add(row.doc_id)
            last = row
            yield row


def _row(path: Path, number: int, line: str) -> RunRow:
    columns: Sequence[str] = line.split()
    _require(len(columns) == 6, path, number, f"{len(columns)} columns instead of 6")
    query, iteration, doc, rank, score, tag = columns
    _require(iteration == "Q0", path, number, f"second column {iteration!r} instead of 'Q0'")
    try:
        row = RunRow(unescape_id(query), unescape_id(doc), int(rank), float(score), unescape_id(tag))
    except ValueError as error:
        raise UsageError(f"{path}:{number}: {error}") from error
    _require(bool(np.isfinite(row.score)), path, number, f"score {score}")
    return row


def _require(holds: bool, path: Path, number: int, message: str) -> None:
    if not holds:
        raise UsageError(f"{path}:{number}: {message}; not a TREC run")
