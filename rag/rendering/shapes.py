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
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from corpora.records import Clip, Evidence, EvidenceKind, Shot
from rag.records import (
    Answer,
    Citation,
    PassageCitation,
    PassageHit,
    ScoreCurve,
    UnmeasuredVideos,
    Verdict,
    VideoCitation,
    VideoHit,
    passage_citation,
    verdict_of,
    window_name,
)
from rag.store.records import FileState

if TYPE_CHECKING:
    from localization.windows import LocalizedWindow, Window

Kind = Literal["video", "passage"]
T = TypeVar("T", bound="OfFile")


class Span(TypedDict):
    """Half-open [start, end) in seconds."""

    start: float
    end: float


class TrackItem(TypedDict, total=False):
    """What is known of the subtitles that a text is of."""

    source: str
    language: str
    forced: bool
    hearing_impaired: bool


class EvidenceItem(Span):
    """Text of a video."""

    kind: EvidenceKind
    text: str
    track: NotRequired[TrackItem]


class OfFile(TypedDict):
    """What every row that cites a file has."""

    path: str
    state: NotRequired[FileState]
    """Present if the file is no longer the one that was indexed."""
    also_at: NotRequired[list[str]]
    """Paths of other files with the same content."""


class CitationItem(OfFile):
    """What an answer rests on: the keys of a window, or those of a passage."""

    kind: Kind
    citation: str
    score: Annotated[
        float, Field(description="Orders the rows of one result, and is no measure of how well one matches.")
    ]
    video_id: NotRequired[str]
    start: NotRequired[float]
    end: NotRequired[float]
    evidence: NotRequired[list[EvidenceItem]]
    proof: NotRequired[Annotated[list[int], Field(description="Indexes of the evidence, best proof first.")]]
    passage_id: NotRequired[str]
    title: NotRequired[str]
    pages: NotRequired[list[int]]
    text: NotRequired[str]
    link: NotRequired[Annotated[str, Field(description="Where the page shows it; in results of MCP.")]]


class Hit(CitationItem):
    """A result of a search: the keys of a window, or those of a passage."""

    relevance: Annotated[float, Field(description="How well it matches by itself, from 0 to 1.")]
    clip: NotRequired[Span]
    shot: NotRequired[dict[str, Any] | None]
    doc_id: NotRequired[str]


class SearchDocument(TypedDict):
    """`rag.search/1`."""

    schema: Literal["rag.search/1"]
    query_id: NotRequired[str]
    query: str | None
    results: list[Hit]
    matched: NotRequired[
        Annotated[bool, Field(description="False: nothing matches the query, the results are the nearest.")]
    ]
    verdict: NotRequired[Verdict]
    threshold: NotRequired[Annotated[float, Field(description="Least relevance of a match.")]]
    unjudged: NotRequired[dict[str, Any]]


class AnswerItem(TypedDict):
    """The answer itself."""

    choice: str | None
    text: str
    confidence: float
    explanation: str
    matched: bool
    verdict: Verdict
    best_confidence: NotRequired[float]


class OptionItem(TypedDict):
    """An option and its probability."""

    label: str
    text: str
    score: float


class AskDocument(TypedDict):
    """`rag.ask/1`."""

    schema: Literal["rag.ask/1"]
    question_id: NotRequired[str]
    question: str
    answer: AnswerItem
    citations: list[CitationItem]
    options: list[OptionItem]
    usage: NotRequired[dict[str, Any]]
    timings: NotRequired[dict[str, float]]


class WindowItem(Span):
    """A window of a video."""

    video_id: str
    citation: str
    score: float
    relevance: float


class Curve(TypedDict):
    """The score of a query over a video."""

    of: Literal["frames", "text"]
    times: list[float]
    scores: list[float]


class LocalizeDocument(OfFile):
    """`rag.localize/1`."""

    schema: Literal["rag.localize/1"]
    video: str
    video_id: str
    query: str
    windows: list[WindowItem]
    matched: bool
    verdict: Verdict
    threshold: float
    curve: NotRequired[Curve]


def to_json(shape: Mapping[str, Any], *, indent: int | None = None) -> str:
    """One JSON document in ASCII; without `indent` it is one line. NaN is refused."""
    return json.dumps(shape, ensure_ascii=True, allow_nan=False, indent=indent)


def answer_shape(answer: Answer, *, batch: bool = False) -> AskDocument:
    """`rag.ask/1`; `batch` adds `question_id`, by which a batch is resumed."""
    said: AnswerItem = {
        "choice": answer.choice,
        "text": answer.text,
        "confidence": _score(answer.confidence),
        "explanation": answer.explanation,
        "matched": answer.matched,
        "verdict": answer.verdict,
    }
    if answer.best_confidence is not None:
        said["best_confidence"] = _score(answer.best_confidence)
    shape: AskDocument = {
        "schema": "rag.ask/1",
        "question": answer.question.text,
        "answer": said,
        "citations": [citation_shape(citation) for citation in answer.citations],
        "options": [
            {"label": option.label, "text": option.text, "score": _score(option.score)}
            for option in answer.options
        ],
        "usage": plain(answer.usage),
        "timings": plain(answer.timings),
    }
    if batch:
        shape["question_id"] = answer.question.question_id
    return shape


def citation_shape(citation: Citation) -> CitationItem:
    """One citation of `rag.ask/1` or `rag.show/1`."""
    shape: CitationItem = (
        _window_shape(citation) if isinstance(citation, VideoCitation) else _passage_shape(citation)
    )
    return shape


def _passage_shape(citation: PassageCitation) -> Any:
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


def _window_shape(window: VideoCitation | VideoHit) -> Any:
    return {
        "kind": "video",
        "path": window.path,
        "video_id": window.video_id,
        **_span(window),
        "citation": citation_id(window),
        "score": _score(window.score),
        "evidence": [evidence_shape(item) for item in window.evidence],
    }


def with_states(shapes: Iterable[T], stale: Mapping[str, FileState]) -> list[T]:
    """Citations or hits, each with `state` where `Library.stale_files` has one for its path."""
    found = list(shapes)
    for shape in found:
        if shape["path"] in stale:
            shape["state"] = stale[shape["path"]]
    return found


def with_copies(shapes: Iterable[T], others: Mapping[str, Sequence[str]]) -> list[T]:
    """Citations or hits, each with `also_at` where other files have the content of its path."""
    found = list(shapes)
    for shape in found:
        if shape["path"] in others:
            shape["also_at"] = list(others[shape["path"]])
    return found


def search_shape(
    query: str | None,
    hits: Iterable[VideoHit | PassageHit],
    *,
    query_id: str | None = None,
    shots: Sequence[Shot | None] | None = None,
    unmeasured: UnmeasuredVideos | None = None,
    threshold: float | None = None,
) -> SearchDocument:
    """`rag.search/1`; `query_id` in batches only; `query` is null for a filter without a query.

    `threshold`: least relevance of a match, which decides `matched`; hits below it come last. `shots`: those
    of the hits. `unmeasured`: the videos that the filter could not decide about. Both only under a filter on
    shots.
    """
    found = list(hits)
    results = [hit_shape(hit) for hit in found]
    for hit, shot in zip(results, shots or (), strict=shots is not None):
        hit["shot"] = plain(shot)
    shape: SearchDocument = {
        "schema": "rag.search/1",
        "query": query,
        "results": [results[index] for index in matches_first(found, threshold)],
    }
    if query_id is not None:
        shape["query_id"] = query_id
    if threshold is not None:
        best = max((hit.relevance for hit in found), default=-1.0)
        verdict = verdict_of(best, threshold)
        shape |= {"matched": verdict != "nothing", "verdict": verdict, "threshold": _score(threshold)}
    if unmeasured is not None:
        shape["unjudged"] = plain(unmeasured)
    return shape


def matches_first(hits: Sequence[VideoHit | PassageHit], threshold: float | None) -> list[int]:
    """Indices of the hits, those whose relevance is below `threshold` last, else as they are."""
    return sorted(range(len(hits)), key=lambda at: threshold is not None and hits[at].relevance < threshold)


def hit_shape(hit: VideoHit | PassageHit) -> Hit:
    """One result of `rag.search/1`."""
    shape: Hit
    if isinstance(hit, VideoHit):
        shape = _window_shape(hit)
        shape["title"], shape["clip"] = hit.title, _span(hit.clip)
    else:
        shape = _passage_shape(passage_citation(hit.path, hit.passage, hit.score))
        shape["doc_id"] = hit.passage.doc_id
    shape["relevance"] = _score(hit.relevance)
    return shape


def windows_shape(
    video: str, path: str, video_id: str, query: str, windows: Sequence[LocalizedWindow], threshold: float
) -> LocalizeDocument:
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


def curve_shape(curve: ScoreCurve, points: int) -> Curve:
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
    return window_name(window.video_id, window.start, window.end)


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


def evidence_shape(item: Evidence) -> EvidenceItem:
    """A span of text of a video."""
    start, end = _seconds(item.start), _seconds(item.end)
    shape: EvidenceItem = {"kind": item.kind, "start": start, "end": end, "text": item.text}
    if item.track is not None:
        known: Any = {name: value for name, value in plain(item.track).items() if value}
        shape["track"] = known
    return shape


def _span(item: Evidence | Clip | Window | VideoCitation | VideoHit) -> Span:
    return {"start": _seconds(item.start), "end": _seconds(item.end)}


def _seconds(value: float) -> float:
    return round(float(value), 3)


def _score(value: float) -> float:
    return round(float(value), 6)
