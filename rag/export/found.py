"""Selects out of what a search or an answer found: its JSON documents, and citations."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from corpora.errors import UsageError
from corpora.records import kind_name
from rag.export.records import Select
from rag.records import VideoCitation

LISTS = ("results", "citations", "windows", "selects")
"""Keys under which `rag.search/1`, `rag.ask/1`, `rag.localize/1` and a list of selects have windows."""
QUERIES = ("query", "question")

FindPath = Callable[[str, str], str]
"""Path and video id, either may be empty, to the path of a video that exists."""


def select_of(citation: VideoCitation) -> Select:
    """A citation as a select."""
    lines = tuple(f"{kind_name(item.kind)}: {item.text}" for item in citation.evidence)
    return Select(citation.path, citation.video_id, citation.start, citation.end, evidence=lines)


def read_documents(text: str, find_path: FindPath) -> list[Select]:
    """The windows of videos in one JSON document, or in JSON lines of several.

    Passages are left out, and what is below the threshold of a document, which is only the nearest.
    Raises `UsageError` for what is none of the documents that have windows.
    """
    return [select for document in _documents(text) for select in _selects(document, find_path)]


def _documents(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "what is to be exported is no JSON of 'rag search --json', 'rag ask --json' "
            "or 'rag localize --json'"
        ) from error


def _selects(document: Any, find_path: FindPath) -> Iterator[Select]:
    if not isinstance(document, Mapping):
        document = {"selects": document}
    if "citation" in document:
        document = {**document, "citations": [document["citation"]]}
    key = next((key for key in LISTS if isinstance(document.get(key), list)), None)
    if key is None:
        raise UsageError(f"a JSON document to export has one of the lists {', '.join(LISTS)}")
    query = next((document[name] for name in QUERIES if isinstance(document.get(name), str)), "")
    threshold = None
    if document.get("threshold") is not None:
        threshold = _number(document, "threshold")
    for item in document[key]:
        if not isinstance(item, Mapping):
            raise UsageError(f"an entry of {key!r} is no window of a video")
        if item.get("kind", "video") != "video":
            continue
        if threshold is None or item.get("relevance") is None or _number(item, "relevance") >= threshold:
            # The windows of `rag.localize/1` are of one video, whose path the document has.
            yield _select({"path": document.get("path"), **item}, query, find_path)


def _select(item: Mapping[str, Any], query: str, find_path: FindPath) -> Select:
    video_id, score = _text(item, "video_id"), item.get("score")
    return Select(
        path=find_path(_text(item, "path"), video_id),
        video_id=video_id,
        start=_number(item, "start"),
        end=_number(item, "end"),
        name=_text(item, "name"),
        note=_text(item, "note"),
        query=_text(item, "query") or query,
        score=None if score is None else _number(item, "score"),
        evidence=tuple(_evidence(item.get("evidence") or ())),
    )


def _evidence(entries: Any) -> Iterator[str]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping):
            yield f"{kind_name(_text(entry, 'kind'))}: {_text(entry, 'text')}"


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{key!r} of a window is no text")
    return value


def _number(item: Mapping[str, Any], key: str) -> float:
    value = item.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            if math.isfinite(number := float(value)):
                return number
    raise UsageError(f"{key!r} is no number")
