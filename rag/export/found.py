"""Selects out of what a search or an answer found: its JSON documents, and citations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, FiniteFloat, ValidationError

from corpora.errors import UsageError
from corpora.records import SubtitleTrack, kind_name
from rag.export.records import Select
from rag.records import VideoCitation, is_still

LISTS = ("results", "citations", "windows", "selects")
"""Keys under which `rag.search/1`, `rag.ask/1`, `rag.localize/1` and a list of selects have windows."""
QUERIES = ("query", "question")

FindPath = Callable[[str, str], str]
"""Path and video id, either may be empty, to the path of a video that exists."""


class _Line(BaseModel):
    kind: str = ""
    text: str = ""
    track: SubtitleTrack | None = None


class _Window(BaseModel):
    start: FiniteFloat
    end: FiniteFloat
    path: str = ""
    video_id: str = ""
    name: str = ""
    note: str = ""
    query: str = ""
    score: FiniteFloat | None = None
    relevance: FiniteFloat = math.inf
    evidence: list[str | _Line] = []


def select_of(citation: VideoCitation) -> Select:
    """A citation as a select."""
    lines = tuple(f"{kind_name(item.kind, item.track)}: {item.text}" for item in citation.evidence)
    return Select(citation.path, citation.video_id, citation.start, citation.end, evidence=lines)


def read_documents(text: str, find_path: FindPath) -> list[Select]:
    """The windows of videos in one JSON document, or in JSON lines of several.

    Passages and photographs are left out, and what is below the threshold of a document, which is only the
    nearest. Raises `UsageError` for what is none of the documents that have windows.
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
            "what --from names is not the JSON of 'rag search --json', 'rag ask --json' "
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
    threshold = least if isinstance(least := document.get("threshold"), int | float) else 0.0
    for item in document[key]:
        if isinstance(item, Mapping) and item.get("kind", "video") != "video":
            continue
        try:
            # Other programs write null for what a window does not have.
            held = item
            if isinstance(item, Mapping):
                held = {name: value for name, value in item.items() if value is not None}
            window = _Window.model_validate(held)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "an entry"
            raise UsageError(f"a window to export: {where}: {first['msg']}") from error
        if window.relevance < threshold or is_still(window.start, window.end):
            continue
        yield Select(
            # The windows of `rag.localize/1` are of one video, whose path the document has.
            path=find_path(window.path or str(document.get("path") or ""), window.video_id),
            video_id=window.video_id,
            start=window.start,
            end=window.end,
            name=window.name,
            note=window.note,
            query=window.query or query,
            score=window.score,
            evidence=tuple(
                line if isinstance(line, str) else f"{kind_name(line.kind, line.track)}: {line.text}"
                for line in window.evidence
            ),
        )
