"""The documents of the API as types, for its description: `rag.rendering.shapes` makes them.

Keys may be added within a version. That every answer fits its type is tested.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from corpora.records import EvidenceKind
from rag.records import Verdict
from rag.server.job_log import State
from rag.store.records import FileState

VIDEO_ID = r"^[0-9a-zA-Z_-]{1,64}$"
LONGEST_TEXT = 10_000
"""Characters of a question."""
Kind = Literal["video", "passage"]


class Span(TypedDict):
    """Half-open [start, end) in seconds."""

    start: float
    end: float


class EvidenceItem(Span):
    """Text of a video."""

    kind: EvidenceKind
    text: str


class Hit(TypedDict):
    """A result of a search: the keys of a window, or those of a passage."""

    kind: Kind
    path: str
    citation: str
    title: str
    score: float
    relevance: float
    video_id: NotRequired[str]
    start: NotRequired[float]
    end: NotRequired[float]
    clip: NotRequired[Span]
    evidence: NotRequired[list[EvidenceItem]]
    proof: NotRequired[list[int]]
    shot: NotRequired[dict[str, Any] | None]
    passage_id: NotRequired[str]
    doc_id: NotRequired[str]
    pages: NotRequired[list[int]]
    text: NotRequired[str]
    state: NotRequired[FileState]


class SearchDocument(TypedDict):
    """`rag.search/1`."""

    schema: Literal["rag.search/1"]
    query: str | None
    results: list[Hit]
    matched: NotRequired[bool]
    verdict: NotRequired[Verdict]
    threshold: NotRequired[float]
    unjudged: NotRequired[dict[str, Any]]


class CitationItem(TypedDict):
    """What an answer rests on: the keys of a window, or those of a passage."""

    kind: Kind
    path: str
    citation: str
    score: float
    video_id: NotRequired[str]
    start: NotRequired[float]
    end: NotRequired[float]
    evidence: NotRequired[list[EvidenceItem]]
    proof: NotRequired[list[int]]
    passage_id: NotRequired[str]
    title: NotRequired[str]
    pages: NotRequired[list[int]]
    text: NotRequired[str]
    state: NotRequired[FileState]


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
    question: str
    answer: AnswerItem
    citations: list[CitationItem]
    options: list[OptionItem]
    usage: dict[str, Any]
    timings: dict[str, float]


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


class LocalizeDocument(TypedDict):
    """`rag.localize/1`."""

    schema: Literal["rag.localize/1"]
    video: str
    path: str
    video_id: str
    query: str
    windows: list[WindowItem]
    matched: bool
    verdict: Verdict
    threshold: float
    curve: NotRequired[Curve]
    state: NotRequired[FileState]


class LibraryItem(TypedDict):
    """The library that is served."""

    library_id: str
    folder: str
    version: str
    """Changes when something that was indexed or removed is seen by searches."""
    videos: int
    documents: int
    video_hours: float
    images: bool
    """Whether the library has an image encoder, so that what is seen can be found."""
    unsearchable: list[str]
    """What its videos have that no search finds, and the command that changes that, a line each."""


HealthStatus = Literal["starting", "ready", "empty", "failed"]
ModelState = Literal["cold", "loading", "ready", "failed"]


class HealthDocument(TypedDict):
    """`rag.health/1`."""

    schema: Literal["rag.health/1"]
    version: str
    status: HealthStatus
    models: ModelState
    problem: str | None
    library: LibraryItem | None
    indexing: bool


class VideoRow(TypedDict):
    """A video in a list."""

    video_id: str
    path: str
    paths: list[str]
    title: str
    duration: float
    fps: float
    width: int
    height: int
    audio: bool
    language: str
    damage: str
    evidence: list[EvidenceKind]
    state: FileState


class VideosDocument(TypedDict):
    """`rag.videos/1`."""

    schema: Literal["rag.videos/1"]
    videos: list[VideoRow]
    total: int
    next_cursor: str | None


class MediaItem(TypedDict):
    """How a browser plays a video."""

    play: Literal["file", "remux", "clip", "none"]
    reason: str
    container: str
    codec: str
    audio_codec: str


class VideoDocument(VideoRow):
    """`rag.video/1`."""

    schema: Literal["rag.video/1"]
    description: str
    tags: list[str]
    chapters: list[EvidenceItem]
    media: MediaItem


class ShotsDocument(TypedDict):
    """`rag.shots/1`."""

    schema: Literal["rag.shots/1"]
    path: str
    video_id: str
    width: int
    height: int
    shots: list[dict[str, Any]]
    sound: list[dict[str, Any]] | None
    copies: list[dict[str, Any]] | None
    uncompared: int | None


class EvidenceDocument(TypedDict):
    """`rag.evidence/1`."""

    schema: Literal["rag.evidence/1"]
    video_id: str
    evidence: list[EvidenceItem]
    next_cursor: str | None


class DocumentRow(TypedDict):
    """A file of passages."""

    path: str
    id: str
    state: FileState


class DocumentsDocument(TypedDict):
    """`rag.documents/1`."""

    schema: Literal["rag.documents/1"]
    documents: list[DocumentRow]
    total: int
    next_cursor: str | None


class ShowDocument(TypedDict):
    """`rag.show/1`."""

    schema: Literal["rag.show/1"]
    citation: CitationItem


class ProblemItem(TypedDict):
    """A file that cannot be used, or only in part."""

    path: str
    reason: str
    action: str


class ProblemsDocument(TypedDict):
    """`rag.problems/1`."""

    schema: Literal["rag.problems/1"]
    problems: list[ProblemItem]


class MissingDocument(TypedDict):
    """`rag.missing/1`."""

    schema: Literal["rag.missing/1"]
    files: list[DocumentRow]


class StatsDocument(TypedDict):
    """`rag.stats/1`."""

    schema: Literal["rag.stats/1"]
    files: int
    videos: int
    video_hours: float
    tables: dict[str, dict[str, Any]]


class ModelsDocument(TypedDict):
    """`rag.models/1`."""

    schema: Literal["rag.models/1"]
    models: list[dict[str, Any]]


class ProgressItem(TypedDict):
    """How far indexing is: in seconds of media, in documents, in files, and as a share of all in [0, 1]."""

    media_seconds_done: float
    media_seconds_total: float
    documents_done: int
    documents_total: int
    share: float
    files_begun: int
    files_total: int
    eta_seconds: float | None
    file: str | None
    stage: Literal["prepare", "index", "finish"]


class JobDocument(TypedDict):
    """`rag.job/1`: the keys of an index, or those of an agent."""

    schema: Literal["rag.job/1"]
    job_id: str
    kind: Literal["index", "agent"]
    folder: NotRequired[str]
    dry_run: NotRequired[bool]
    prune: NotRequired[bool]
    agent: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    state: State
    created: str
    started: str | None
    ended: str | None
    forecast: dict[str, Any] | None
    progress: ProgressItem | None
    problems: list[ProblemItem]
    problem_count: int
    steps: list[dict[str, Any]]
    result: dict[str, Any] | None
    error: str | None


class JobsDocument(TypedDict):
    """`rag.jobs/1`."""

    schema: Literal["rag.jobs/1"]
    jobs: list[JobDocument]
    roots: list[str]


class ReportItem(TypedDict):
    """A report, a run or a trace, by its path below a root."""

    report_id: str
    kind: Literal["report", "run", "trace"]
    name: str
    modified: str


class ReportsDocument(TypedDict):
    """`rag.reports/1`."""

    schema: Literal["rag.reports/1"]
    reports: list[ReportItem]
    roots: list[str]


class BlockItem(TypedDict):
    """A part of a report: `level` of a heading, `head` and `rows` of a table, `image` of a figure."""

    kind: Literal["heading", "text", "table", "figure"]
    level: NotRequired[int]
    text: NotRequired[str]
    head: NotRequired[list[str]]
    rows: NotRequired[list[list[str]]]
    image: NotRequired[str]


class ReportDocument(ReportItem):
    """`rag.report/1`: the blocks of a report or a run, the steps of a trace."""

    schema: Literal["rag.report/1"]
    blocks: list[BlockItem]
    steps: list[dict[str, Any]]


class AgentsDocument(TypedDict):
    """`rag.agents/1`."""

    schema: Literal["rag.agents/1"]
    agents: list[dict[str, Any]]
