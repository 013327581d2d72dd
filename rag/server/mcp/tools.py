"""The tools: the signature of each is what a client may give, its docstring what the tool is said to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from corpora.records import SPOKEN, EvidenceKind
from rag.rendering.shapes import evidence_shape
from rag.server import library_routes, questions
from rag.server.health import unsearchable
from rag.server.mcp import frames
from rag.server.mcp.rows import Absent, Opened, Query, Skip, Video, Within, call, cite, cut, fit, video_of
from rag.server.problems import LONGEST_TEXT, Problem
from rag.server.questions import AskBody, LocalizeBody, MomentFilter, SearchBody, SpanFilter
from rag.server.service import Service

LONGEST_ANSWER = 800
LONGEST_OPTION = 40
LONGEST_LINE = 1_000
MOST_RESULTS = 1_000
CURVE_POINTS = 24
MOST_CHAPTERS = 15
MOST_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool: its title, and its function."""

    title: str
    run: Callable[..., Any]
    """A function of what was opened for it, or of the service where it only needs jobs."""
    needs: Literal["models", "library", "jobs"] = "library"
    """What needs models takes its turn: questions use them one at a time. Jobs need no library."""
    read_only: bool = True
    more: tuple[type[BaseModel], ...] = ()
    """Models of the API whose fields are arguments too."""

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.run.__name__


class Where(MomentFilter, strict=False):
    """The filters of `/v1/search`, in which a citation names its video."""

    videos: list[Video] | None = Field(None, max_length=50, description="Only in these, by id or citation.")


def search_library(
    opened: Opened,
    query: Query,
    kind: Annotated[
        Literal["all", "video", "passage"], Field(description="Windows of videos, passages, or both.")
    ] = "all",
    top_k: Annotated[int, Field(ge=1, le=50, description="Number of results.")] = 8,
    skip: Annotated[Skip, Field(le=950)] = 0,
    **where: Any,
) -> dict[str, Any]:
    """Find the moments of videos and the passages of documents that match a query, best first.

    Use it first, to find where something is seen, said, written on screen or described. Each result has a
    citation, `VIDEO_ID@START-END` or the id of a passage, which the other tools take, and the words that
    matched. `matched` is false where nothing matches: the results are then only the nearest, as is each
    result whose relevance is below `threshold`. Scores compare within one search only. It does not answer
    questions: ask_library does.
    """
    videos = None if where["videos"] is None else [video_of(opened.library, each) for each in where["videos"]]
    chosen = MomentFilter(**{**where, "videos": videos})
    # One more than asked for says whether there are more.
    body = SearchBody(query=query, kind=kind, top_k=skip + top_k + 1, filter=chosen)
    shape = questions.find(opened.library, body)
    rest = shape["results"][skip:]
    shape["results"] = rest[:top_k]
    cite(opened.service, shape["results"])
    made: dict[str, Any] = cut(shape)
    if not shape.get("matched", True):
        made["unsearchable"] = list(unsearchable(opened.library))
    fit(made, "results", opened, more=len(rest) > top_k and skip + top_k < MOST_RESULTS)
    return made


def ask_library(
    opened: Opened,
    question: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The question.")],
    options: Annotated[
        list[str], Field(max_length=26, description="Options to choose from, in order A, B, ...")
    ] = [],  # noqa: B006  # read only
    video: Within = None,
    top_k: Annotated[
        Annotated[int, Field(ge=1, le=50)] | Absent, Field(description="Clips to look into.")
    ] = None,
    threshold: Annotated[
        Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | Absent,
        Field(description="Least confidence for which there is an answer."),
    ] = None,
) -> dict[str, Any]:
    """Answer a question from the videos and documents, with a confidence and the citations that prove it.

    The question is open or has options. `matched` is false where the library has no answer. It takes longer
    than search_library. Look at the citations with show_frames before you rely on what is seen in them.
    """
    videos = None if video is None else [video_of(opened.library, video)]
    body = AskBody(
        question=question, options=options, top_k=top_k, threshold=threshold, filter=SpanFilter(videos=videos)
    )
    shape = questions.answer(opened.library, body)
    cite(opened.service, shape["citations"])
    made: dict[str, Any] = cut(shape)
    made["answer"] = cut(shape["answer"], LONGEST_ANSWER)
    made["options"] = cut(shape["options"], LONGEST_OPTION)
    fit(made, "citations", opened)
    if "next" in made:
        made["next"] = call("search_library", query=question[:LONGEST_ANSWER])
    return made


def find_in_video(
    opened: Opened,
    video: Video,
    query: Query,
    count: Annotated[int, Field(ge=1, le=20, description="Windows to return.")] = 3,
    window_seconds: Annotated[
        Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] | Absent,
        Field(description="Length of a window; default that of the settings."),
    ] = None,
) -> dict[str, Any]:
    """Find when in one video something happens: the windows that fit a query best.

    `curve` is the query's score over the whole video, in a few points. Use it when the video is known;
    search_library looks in all. Scores compare within one call only. Without windows nothing of the video can
    be compared with the query: describe_video says what it has.
    """
    body = LocalizeBody(
        video_id=video_of(opened.library, video),
        query=query,
        count=count,
        window_seconds=window_seconds,
        curve=CURVE_POINTS,
    )
    made: dict[str, Any] = cut(questions.windows(opened.library, body))
    return made


KINDS: dict[str, tuple[str, ...]] = {
    "speech": SPOKEN,
    "screen": ("ocr",),
    "chapters": ("chapter",),
    "all": get_args(EvidenceKind),
}


def read_transcript(
    opened: Opened,
    video: Video,
    start: Annotated[float, Field(ge=0, allow_inf_nan=False, description="Seconds to read from.")] = 0,
    end: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | Absent,
        Field(description="Seconds to read up to; default the end of the video."),
    ] = None,
    kind: Annotated[
        Literal["speech", "screen", "chapters", "all"],
        Field(description="Subtitles and recognized speech; text on screen; chapter titles; or all of them."),
    ] = "speech",
    skip: Skip = 0,
) -> dict[str, Any]:
    """Read what is said in a video, or written on screen, with times in seconds, from `start` to `end`."""
    found = library_routes.known_video(opened.library, video_of(opened.library, video))
    spans = library_routes.spans_of(opened.library, found, KINDS[kind], start, end)
    rows = [cut(evidence_shape(span), LONGEST_LINE) for span in spans[skip:]]
    made: dict[str, Any] = {"video_id": found.video_id, "evidence": rows}
    if not rows:
        made["kinds"] = sorted(opened.library.engine.reader.evidence_kinds().get(found.video_id, ()))
    fit(made, "evidence", opened)
    return made


def list_videos(
    opened: Opened,
    query: Annotated[
        str, Field(max_length=1000, description="Only videos whose title or path has these letters.")
    ] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="Most rows.")] = 25,
    skip: Skip = 0,
) -> dict[str, Any]:
    """List the videos of the library, by path: id, title, duration, kinds of text, and the state of the file.

    `query` filters by title and path, not by content: search_library does that. `problems` counts the files
    that could not be indexed, or not completely.
    """
    shape = library_routes.videos_shape(opened.library, query, skip, limit)
    made: dict[str, Any] = {
        "total": shape["total"],
        "videos": cut(shape["videos"], 100),
        "problems": len(opened.library.problems()),
    }
    fit(made, "videos", opened, more=shape["next"] is not None)
    return made


def describe_video(opened: Opened, video: Video, skip: Skip = 0) -> dict[str, Any]:
    """What is stored of one video.

    Its title, description, tags, chapters, shots with colour tone and style, and problems of its
    file.
    """
    found = library_routes.known_video(opened.library, video_of(opened.library, video))
    row = library_routes.video_row(opened.library, found, opened.library.engine.reader.evidence_kinds())
    chapters = library_routes.spans_of(opened.library, found, KINDS["chapters"])[:MOST_CHAPTERS]
    shots = opened.library.shots(found.video_id)
    problems = [each.reason for each in opened.library.problems() if each.path in row["paths"]]
    made: dict[str, Any] = cut(
        {
            **row,
            "description": found.description,
            "tags": [cut(tag, 40) for tag in found.tags[:10]],
            "chapters": [cut(evidence_shape(chapter), 80) for chapter in chapters],
            "problems": [cut(problem, 160) for problem in problems[:MOST_PROBLEMS]],
            "shots": [
                {"start": each.start, "end": each.end, "tone": each.tone, "style": each.style}
                for each in shots[skip:]
            ],
            "shots_total": len(shots),
        }
    )
    fit(made, "shots", opened)
    return made


JobId = Annotated[str, Field(min_length=1, max_length=64, description="From start_indexing or get_job.")]


def start_indexing(
    service: Service,
    folder: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4096,
            description="Absolute path of a folder or file that the user names.",
        ),
    ],
    dry_run: Annotated[
        bool, Field(description="Only forecast how long it would take; nothing is indexed.")
    ] = False,
) -> dict[str, Any]:
    """Start to index a folder or file that the user names, below the folders that this server may index.

    Returns a job at once; ask get_job how it is doing. With `dry_run` it only forecasts the time.
    search_library finds what was indexed when the job has ended.
    """
    return _job(service.jobs.start_index(folder, dry_run=dry_run))


def get_job(
    service: Service,
    job_id: Annotated[
        str | Absent, Field(min_length=1, max_length=64, description="Default: the newest job.")
    ] = None,
) -> dict[str, Any]:
    """The state of a job: its progress in seconds of media, the time to go and the files with problems."""
    if job_id is not None:
        return _job(service.jobs.get(job_id))
    jobs = service.jobs.all()
    if not jobs:
        raise Problem(404, "unknown-id", "there is no job yet")
    return _job(jobs[0])


def cancel_job(service: Service, job_id: JobId) -> dict[str, Any]:
    """Stop a job. What it has indexed stays."""
    return _job(service.jobs.cancel(job_id))


def _job(shape: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = cut({**shape, "problems": shape["problems"][:MOST_PROBLEMS], "result": None})
    if made["state"] in ("queued", "running", "cancelling"):
        made["next"] = call("get_job", job_id=made["job_id"])
    return made


TOOLS = (
    Entry("Search the library", search_library, "models", more=(Where,)),
    Entry("Ask the library", ask_library, "models"),
    Entry("Find a moment in one video", find_in_video, "models"),
    Entry("Show frames of a video", frames.show_frames),
    Entry("Read the transcript of a video", read_transcript),
    Entry("List the videos", list_videos),
    Entry("Describe a video", describe_video),
)
"""The tools that only read."""
INDEX_TOOLS = (
    Entry("Index a folder", start_indexing, "jobs", read_only=False),
    Entry("Look at a job", get_job, "jobs"),
    Entry("Cancel a job", cancel_job, "jobs", read_only=False),
)
"""Those of a server that may index."""
