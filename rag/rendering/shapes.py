"""The JSON output, made from records here and nowhere else (docs/reference/json.md).

Every document carries `schema`, a name and a version: keys may be added
within a version, and are removed or change their meaning only in the next.
Times are seconds rounded to milliseconds, scores are rounded to 6 decimals.
Names of files are text with undecodable bytes as surrogate escapes (PEP 383),
which `to_json` writes as `\\udcXX`, so the output is always ASCII.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from corpora.records import Clip, Evidence, Shot
from rag.records import (
    Answer,
    Citation,
    PassageCitation,
    PassageHit,
    ScoreCurve,
    UnmeasuredVideos,
    VideoCitation,
    VideoHit,
    span_name,
    verdict_of,
)

if TYPE_CHECKING:
    from localization.windows import LocalizedWindow, Window
    from rag.store.records import FileState


def to_json(shape: Mapping[str, Any], *, indent: int | None = None) -> str:
    """One JSON document in ASCII; without `indent` it is one line. NaN is refused."""
    return json.dumps(shape, ensure_ascii=True, allow_nan=False, indent=indent)


def answer_shape(answer: Answer, *, batch: bool = False) -> dict[str, Any]:
    """`rag.ask/1`; `batch` adds `question_id`, by which a batch is resumed."""
    shape: dict[str, Any] = {"schema": "rag.ask/1"}
    if batch:
        shape["question_id"] = answer.question.question_id
    return shape | {
        "question": answer.question.text,
        "answer": {
            "choice": answer.choice,
            "text": answer.text,
            "confidence": _score(answer.confidence),
            "explanation": answer.explanation,
            "matched": answer.matched,
            "verdict": answer.verdict,
            **({} if answer.best_confidence is None else {"best_confidence": _score(answer.best_confidence)}),
        },
        "citations": [citation_shape(citation) for citation in answer.citations],
        "options": [
            {"label": option.label, "text": option.text, "score": _score(option.score)}
            for option in answer.options
        ],
        "usage": plain(answer.usage),
        "timings": plain(answer.timings),
    }


def problems_shape(left_out: Sequence[str]) -> dict[str, Any]:
    """`problems` of `rag.ask/1` and `rag.search/1`: what is wrong with each library that was not asked."""
    return {"problems": list(left_out)} if left_out else {}


def citation_shape(citation: Citation) -> dict[str, Any]:
    """One citation of `rag.ask/1` or `rag.show/1`."""
    match citation:
        case VideoCitation():
            return {
                "kind": "video",
                "path": citation.path,
                "video_id": citation.video_id,
                **_span(citation),
                "citation": citation_id(citation),
                "score": _score(citation.score),
                "evidence": [evidence_shape(item) for item in citation.evidence],
            }
        case PassageCitation():
            return {
                "kind": "passage",
                "path": citation.path,
                "passage_id": citation.passage_id,
                "citation": citation.passage_id,
                "title": citation.title,
                "pages": list(citation.pages),
                "text": citation.text,
                "score": _score(citation.score),
            }


def with_states(shapes: Iterable[Mapping[str, Any]], stale: Mapping[str, FileState]) -> list[dict[str, Any]]:
    """Citations or hits, each with `state` where `Library.stale_files` has one for its path."""
    return [
        {**shape, "state": stale[shape["path"]]} if shape["path"] in stale else dict(shape)
        for shape in shapes
    ]


def with_copies(
    shapes: Iterable[Mapping[str, Any]], others: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Citations or hits, each with `also_at` where other files have the content of its path."""
    return [
        {**shape, "also_at": list(others[shape["path"]])} if shape["path"] in others else dict(shape)
        for shape in shapes
    ]


def search_shape(
    query: str | None,
    hits: Iterable[VideoHit | PassageHit],
    *,
    query_id: str | None = None,
    shots: Sequence[Shot | None] | None = None,
    unmeasured: UnmeasuredVideos | None = None,
    threshold: float | None = None,
) -> dict[str, Any]:
    """`rag.search/1`; `query_id` in batches only; `query` is null for a filter without a query.

    `threshold`: least relevance of a match, which decides `matched`; hits below it come last. `shots`: those
    of the hits. `unmeasured`: the videos that the filter could not decide about. Both only under a filter on
    shots.
    """
    shape: dict[str, Any] = {"schema": "rag.search/1"}
    if query_id is not None:
        shape["query_id"] = query_id
    found = list(hits)
    results = [hit_shape(hit) for hit in found]
    if shots is not None:
        results = [{**hit, "shot": plain(shot)} for hit, shot in zip(results, shots, strict=True)]
    shape |= {"query": query, "results": [results[index] for index in matches_first(found, threshold)]}
    if threshold is not None:
        best = max((hit.relevance for hit in found), default=-1.0)
        verdict = verdict_of(best, threshold)
        shape |= {"matched": verdict != "nothing", "verdict": verdict, "threshold": _score(threshold)}
    return shape if unmeasured is None else shape | {"unjudged": plain(unmeasured)}


def matches_first(hits: Sequence[VideoHit | PassageHit], threshold: float | None) -> list[int]:
    """Indices of the hits, those whose relevance is below `threshold` last, else as they are."""
    return sorted(range(len(hits)), key=lambda at: threshold is not None and hits[at].relevance < threshold)


def hit_shape(hit: VideoHit | PassageHit) -> dict[str, Any]:
    """One result of `rag.search/1`."""
    match hit:
        case VideoHit():
            return {
                "kind": "video",
                "path": hit.path,
                "video_id": hit.video_id,
                "title": hit.title,
                **_span(hit),
                "citation": citation_id(hit),
                "clip": _span(hit.clip),
                "score": _score(hit.score),
                "relevance": _score(hit.relevance),
                "evidence": [evidence_shape(item) for item in hit.evidence],
            }
        case PassageHit():
            return {
                "kind": "passage",
                "path": hit.path,
                "passage_id": hit.passage.passage_id,
                "citation": hit.passage.passage_id,
                "doc_id": hit.passage.doc_id,
                "title": hit.passage.title,
                "pages": list(hit.passage.pages),
                "text": hit.passage.text,
                "score": _score(hit.score),
                "relevance": _score(hit.relevance),
            }


def windows_shape(
    video: str, path: str, video_id: str, query: str, windows: Sequence[LocalizedWindow], threshold: float
) -> dict[str, Any]:
    """`rag.localize/1`; `video`: as it was named in the question; `threshold`: as of `search_shape`."""
    verdict = verdict_of(max((window.relevance for window in windows), default=-1.0), threshold)
    return {
        "schema": "rag.localize/1",
        "video": video,
        "path": path,
        "video_id": video_id,
        "query": query,
        "windows": [
            {
                "video_id": window.video_id,
                **_span(window),
                "citation": citation_id(window),
                "score": _score(window.score),
                "relevance": _score(window.relevance),
            }
            for window in windows
        ],
        "matched": verdict != "nothing",
        "verdict": verdict,
        "threshold": _score(threshold),
    }


def curve_shape(curve: ScoreCurve, points: int) -> dict[str, Any]:
    """A score curve in at most `points` points, each the greatest of its part of the video."""
    import numpy as np

    parts = np.array_split(np.arange(len(curve.times)), min(points, len(curve.times)) or 1)
    best = [int(part[curve.scores[part].argmax()]) for part in parts if len(part)]
    return {
        "of": curve.of,
        "times": [round(float(time), 3) for time in curve.times[best]],
        "scores": [_score(score) for score in curve.scores[best]],
    }


def citation_id(window: VideoCitation | VideoHit | Window) -> str:
    """`VIDEO_ID@START-END`, the name of a window that `Library.resolve` takes; a passage's is its id."""
    return f"{window.video_id}@{span_name(window.start, window.end)}"


def report_shape(schema: str, report: Any) -> dict[str, Any]:
    """A report's own fields under their own names, behind `schema`.

    `report`: a dataclass instance or a mapping.
    """
    return {"schema": schema, **plain(report)}


def plain(value: Any) -> Any:
    """Dataclasses, models, mappings, sets and sequences as JSON; floats rounded, NaN and infinity as null."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return _score(value) if math.isfinite(value) else None
    if isinstance(value, Set):
        return sorted(plain(inner) for inner in value)
    if isinstance(value, Iterable):
        return [plain(inner) for inner in value]
    raise TypeError(f"no JSON shape for {type(value).__name__}")


def evidence_shape(item: Evidence) -> dict[str, Any]:
    """A span of text of a video."""
    return {"kind": item.kind, **_span(item), "text": item.text}


def _span(item: Evidence | VideoCitation | VideoHit | Clip | Window) -> dict[str, float]:
    return {"start": round(float(item.start), 3), "end": round(float(item.end), 3)}


def _score(value: float) -> float:
    return round(float(value), 6)
