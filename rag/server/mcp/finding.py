"""Tools that find: `search_library`, `ask_library`, `find_in_video`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from corpora.records import AudioClass, Style, Tone
from rag.library import Library
from rag.records import Verdict, doubt, lead, rounded_down
from rag.rendering.terminal import clock
from rag.server import questions
from rag.server.documents import LONGEST_TEXT
from rag.server.health import unsearchable
from rag.server.mcp.rows import (
    Absent,
    Arguments,
    Found,
    Query,
    Reply,
    Row,
    Seconds,
    State,
    Video,
    call,
    cleaned,
    fitting,
    following,
    found_row,
    links,
    quoted,
    rating,
    stated,
    video_of,
)
from rag.server.questions import AskBody, LocalizeBody, MomentFilter, SearchBody, SpanFilter
from rag.server.service import Service

LONGEST_ANSWER = 800
LONGEST_OPTION = 40
MOST_RESULTS = 1_000
PEAKS, PEAK_SECONDS = 5, 5.0
CURVE_POINTS = 400


class SearchArguments(Arguments):
    """Of `search_library`."""

    query: Query
    kind: Literal["all", "video", "passage"] = Field(
        "all", description="Windows of videos, passages, or both."
    )
    top_k: int = Field(8, ge=1, le=50, description="Number of results.")
    skip: int = Field(
        0, ge=0, le=950, description="Results to leave out from the top: pass what `next` names."
    )
    video: Video | Absent = Field(None, description="Only in this video, by id or citation.")
    path: str | Absent = Field(
        None,
        min_length=1,
        max_length=1000,
        description="Only files whose path ends like this glob: *.mp4, talks/*.",
    )
    start: Seconds = Field(None, description="Only what overlaps the seconds from here on.")
    end: Seconds = Field(None, description="Only what overlaps the seconds up to here.")
    tone: Tone | Absent = Field(None, description="Only shots of this colour tone.")
    style: Style | Absent = Field(None, description="Only shots of this style.")
    audio: AudioClass | Absent = Field(None, description="Only intervals with this class of sound.")
    min_height: Annotated[int, Field(ge=1, le=100_000)] | Absent = Field(
        None, description="Least lines of the video."
    )
    after: str | Absent = Field(
        None, min_length=1, max_length=1000, description="Seen in the video up to 60 s before the moment."
    )
    before: str | Absent = Field(
        None, min_length=1, max_length=1000, description="Seen in the video up to 60 s after the moment."
    )


class SearchResult(Row):
    """Of `search_library`."""

    matched: bool = Field(description="False: nothing matches the query, the results are only the nearest.")
    verdict: Verdict = Field(description="Whether it is sure, possibly right, or nothing.")
    threshold: float = Field(description="Least relevance of a match.")
    results: list[Found]
    next: str | Absent = Field(None, description="The call with the results that follow.")


def search_library(service: Service, library: Library, given: SearchArguments) -> Reply:
    """Windows and passages for a query, best first."""
    where = MomentFilter(
        videos=None if given.video is None else [video_of(library, given.video)],
        paths=[] if given.path is None else [given.path],
        **given.model_dump(include=MomentFilter.model_fields.keys() - {"videos", "paths"}),
    )
    # One more than asked for says whether there are more.
    body = SearchBody(query=given.query, kind=given.kind, top_k=given.skip + given.top_k + 1, filter=where)
    shape = questions.find(library, body)
    found = [found_row(service, hit, shape["threshold"]) for hit in shape["results"][given.skip :]]
    shown = fitting(found[: given.top_k], Found.line)
    skip = given.skip + len(shown)
    more = len(found) > len(shown) and skip < MOST_RESULTS
    again = given.model_dump(exclude_defaults=True) | {"skip": skip}
    result = SearchResult(
        matched=shape["matched"],
        verdict=shape["verdict"],
        threshold=shape["threshold"],
        results=shown,
        next=call("search_library", **again) if more else None,
    )
    lines = doubt(result.verdict, "result")
    if not result.matched:
        lines = ["Nothing in the library matches; these are only the nearest:"]
    if not shown:
        lines = ["No results. Try other words, or list_videos to see what there is."]
    lines += [f"{number}. {row.line()}" for number, row in enumerate(shown, given.skip + 1)]
    if not result.matched:
        lines += unsearchable_lines(library)
    return Reply(result, [*lines, *links(service), *following(result.next)])


def unsearchable_lines(library: Library) -> list[str]:
    """What the videos may have all the same: no search finds it in this library."""
    return [f"Not searchable in this library: {line}" for line in unsearchable(library)]


class AskArguments(Arguments):
    """Of `ask_library`."""

    question: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The question.")]
    options: list[str] = Field([], max_length=26, description="Options to choose from, in order A, B, ...")
    video: Video | Absent = Field(None, description="Only from this video, by id or citation.")
    top_k: Annotated[int, Field(ge=1, le=50)] | Absent = Field(None, description="Clips to look into.")
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | Absent = Field(
        None, description="Least confidence for which there is an answer."
    )


class Scored(Row):
    """An option and its probability."""

    label: str
    text: str
    score: float


class AskResult(Row):
    """Of `ask_library`."""

    matched: bool = Field(description="False: nothing in the library answers the question.")
    verdict: Verdict = Field(description="Whether it is sure, possibly right, or nothing.")
    choice: str | Absent = Field(None, description="Label of the chosen option.")
    answer: str
    confidence: float
    explanation: str
    best_confidence: float | Absent = Field(
        None, description="Where nothing matched: of the best answer found, below the threshold."
    )
    options: list[Scored]
    citations: list[Found] = Field(description="What the answer rests on.")
    next: str | Absent = Field(None, description="What to call where citations were left out.")


def ask_library(service: Service, library: Library, given: AskArguments) -> Reply:
    """An answer with citations."""
    videos = None if given.video is None else [video_of(library, given.video)]
    body = AskBody(
        question=given.question,
        options=given.options,
        top_k=given.top_k,
        threshold=given.threshold,
        filter=SpanFilter(videos=videos),
    )
    shape = questions.answer(library, body)
    answer = shape["answer"]
    result = AskResult(
        matched=answer["matched"],
        verdict=answer["verdict"],
        choice=answer["choice"],
        answer=cleaned(answer["text"], LONGEST_ANSWER),
        confidence=answer["confidence"],
        explanation=cleaned(answer["explanation"], LONGEST_ANSWER),
        best_confidence=answer.get("best_confidence"),
        options=[
            Scored(label=row["label"], text=cleaned(row["text"], LONGEST_OPTION), score=row["score"])
            for row in shape["options"]
        ],
        citations=[],
    )
    cited = [found_row(service, citation) for citation in shape["citations"]]
    result.citations = fitting(cited, Found.line, result.size())
    if len(result.citations) < len(cited):
        result.next = call("search_library", query=given.question[:LONGEST_ANSWER])
    because = [f"Because: {quoted(result.explanation, LONGEST_ANSWER)}"] if result.explanation else []
    if not result.matched:
        return Reply(result, [result.answer, *because, *unsearchable_lines(library)])
    chosen = lead(result.verdict)
    chosen += f"{result.choice}. " if result.choice else ""
    confidence = f"confidence {rounded_down(result.confidence):.2f}"
    lines = [f"{chosen}{quoted(result.answer, LONGEST_ANSWER)} ({confidence})", *because]
    lines += [
        f"{option.label}. {quoted(option.text)} {rounded_down(option.score):.2f}" for option in result.options
    ]
    lines += [f"Citation {number}: {row.line()}" for number, row in enumerate(result.citations, 1)]
    return Reply(result, [*lines, *links(service), *following(result.next)])


class FindArguments(Arguments):
    """Of `find_in_video`."""

    video: Video
    query: Query
    count: int = Field(3, ge=1, le=20, description="Windows to return.")
    window_seconds: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] | Absent = Field(
        None, description="Length of a window; default that of the settings."
    )


class Window(Row):
    """A window of a video."""

    citation: str
    start: float
    end: float
    score: float = Field(description="Orders the windows of this result.")
    relevance: float = Field(description="How well it matches, from 0 to 1.")


class Peak(Row):
    """A moment at which the query's score has a local maximum."""

    time: float
    score: float


class FindResult(Row):
    """Of `find_in_video`."""

    video_id: str
    state: State | Absent = None
    matched: bool = Field(
        description="False: nothing in the video matches, the windows are only the nearest."
    )
    verdict: Verdict = Field(description="Whether it is sure, possibly right, or nothing.")
    threshold: float = Field(description="Least relevance of a match.")
    windows: list[Window]
    peaks: list[Peak] = Field(
        description="The highest moments of the score over the whole video, best first."
    )


def find_in_video(service: Service, library: Library, given: FindArguments) -> Reply:
    """The windows of one video that fit a query best, and the peaks of its score."""
    video_id = video_of(library, given.video)
    shape = questions.windows(
        library,
        LocalizeBody(
            video_id=video_id,
            query=given.query,
            count=given.count,
            window_seconds=given.window_seconds,
            curve=CURVE_POINTS,
        ),
    )
    result = FindResult(
        video_id=video_id,
        state=shape.get("state"),
        matched=shape["matched"],
        verdict=shape["verdict"],
        threshold=shape["threshold"],
        windows=[
            Window(**{name: window[name] for name in Window.model_fields}) for window in shape["windows"]
        ],
        peaks=peaks_of(shape["curve"]["times"], shape["curve"]["scores"]),
    )
    if not result.windows:
        say = "Nothing in this video can be compared with the query: no stored frames, and no such text."
        return Reply(result, [f"{say} See {call('describe_video', video=video_id)}."])
    lines = doubt(result.verdict, "window")
    if not result.matched:
        lines = ["Nothing in this video matches; these are only the nearest:"]
    for number, row in enumerate(result.windows, 1):
        rated = rating(row.relevance, near=row.relevance < result.threshold)
        times = f"{clock(row.start)}-{clock(row.end)}"
        lines.append(f"{number}. {row.citation}  {times}{rated}{stated(result.state)}")
    peaks = ", ".join(f"{peak.time:g} s ({peak.score:.3f})" for peak in result.peaks)
    return Reply(result, [*lines, f"Peaks of the score: {peaks}", *links(service)])


def peaks_of(times: Sequence[float], scores: Sequence[float]) -> list[Peak]:
    """The highest local maxima of a curve that are `PEAK_SECONDS` apart, best first."""
    last = len(scores) - 1
    local = [
        i
        for i, score in enumerate(scores)
        if (i == 0 or score > scores[i - 1]) and (i == last or score >= scores[i + 1])
    ]
    best: list[int] = []
    for i in sorted(local, key=lambda i: -scores[i]):
        if len(best) < PEAKS and all(abs(times[i] - times[kept]) >= PEAK_SECONDS for kept in best):
            best.append(i)
    return [Peak(time=times[i], score=scores[i]) for i in best]
