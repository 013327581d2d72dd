"""`/v1/search`, `/v1/ask`, `/v1/localize`: questions to the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from corpora.records import AudioClass, Style, Tone
from rag.errors import QuestionError
from rag.library import Library
from rag.questions import parse_distinct_question
from rag.records import PassageHit, SearchFilter, ShotFilter, VideoHit
from rag.rendering.shapes import (
    AskDocument,
    CitationItem,
    EvidenceItem,
    LocalizeDocument,
    SearchDocument,
    answer_shape,
    curve_shape,
    search_shape,
    windows_shape,
    with_states,
)
from rag.server.library_routes import known_video
from rag.server.problems import LONGEST_TEXT, MOST_KEYS, VIDEO_ID, Document, problems
from rag.server.renditions import decode_image
from rag.server.service import Served
from rag.words import content_words, lexical_overlap, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

router = APIRouter(prefix="/v1", tags=["questions"])

LONGEST_IMAGE = 14 * 2**20
"""Characters of an image in base64."""
MOST_POINTS = 20_000
"""Points of a curve."""
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
TopK = Annotated[int, Field(ge=1, le=1000)]
VideoId = Annotated[str, Field(pattern=VIDEO_ID)]


class Body(BaseModel):
    """A request body: unknown keys and other JSON types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, given: Any) -> Any:
        """JSON has one type of number: 3.0 is 3. Raises ValueError for many keys: an error for each takes
        more than the key."""
        if not isinstance(given, dict):
            return given
        if len(given) > MOST_KEYS:
            raise ValueError(f"an object has at most {MOST_KEYS} keys")
        whole = {key for key, value in given.items() if isinstance(value, float) and value.is_integer()}
        return {key: int(value) if key in whole else value for key, value in given.items()}


class SpanFilter(Body):
    """What `rag ask` may find: `--path`, `--start`, `--end`."""

    videos: list[VideoId] | None = Field(None, max_length=1000, description="Ids of videos.")
    paths: list[Text] = Field([], max_length=100, description="Globs, by the last parts of a path.")
    start: Seconds | None = Field(None, description="Seconds; only what overlaps [start, end).")
    end: Seconds | None = Field(None, description="Seconds; only what begins before.")

    def applied(self, library: Library) -> SearchFilter:
        """`where`, checked against a library. Raises `Problem` for an id that it does not have."""
        for video_id in self.videos or ():
            known_video(library, video_id)
        return self.where()

    def where(self) -> SearchFilter:
        """The filter of the library. Raises `QuestionError` where it ends before it starts."""
        if self.start is not None and self.end is not None and not self.end > self.start:
            raise QuestionError("filter: end is not after start")
        videos = None if self.videos is None else frozenset(self.videos)
        return SearchFilter(videos=videos, paths=tuple(self.paths), start=self.start, end=self.end)


class MomentFilter(SpanFilter):
    """What `rag search` may find: the options of `rag search` that filter."""

    tone: Tone | None = Field(None, description="Only shots of this colour tone.")
    style: Style | None = Field(None, description="Only shots of this style.")
    audio: AudioClass | None = Field(None, description="Only intervals with this class of sound.")
    min_height: int | None = Field(None, ge=1, le=100_000, description="Lines.")
    after: Text | None = Field(None, description="Seen at most 60 s before the moment.")
    before: Text | None = Field(None, description="Seen at most 60 s after the moment.")

    def where(self) -> SearchFilter:
        """The filter of the library."""
        shots = ShotFilter(self.tone, self.style, self.audio, self.min_height, self.after, self.before)
        return replace(super().where(), shots=None if shots == ShotFilter() else shots)


class SearchBody(Body):
    """A query, a moment or an image to find more like, or a filter alone."""

    query: Text | None = None
    like: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="In place of a query: VIDEO_ID@SECONDS or VIDEO_ID@START-END."
    )
    image: Annotated[str, Field(max_length=LONGEST_IMAGE)] | None = Field(
        None, description="In place of a query: a JPEG, PNG or WebP file in base64."
    )
    kind: Literal["all", "video", "passage"] = "all"
    top_k: TopK | None = None
    filter: MomentFilter = MomentFilter()


class AskBody(Body):
    """A question, open or with options."""

    question: Text
    options: list[Text] = Field([], max_length=26)
    top_k: TopK | None = None
    threshold: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)
    filter: SpanFilter = SpanFilter()


class LocalizeBody(Body):
    """A query in one video."""

    video_id: VideoId
    query: Text
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    window_seconds: float | None = Field(None, gt=0, le=86_400, allow_inf_nan=False)
    curve: int | None = Field(None, ge=2, le=MOST_POINTS, description="Points of the score curve.")


@router.post("/search", responses={200: {"model": SearchDocument}, **problems(404)})
async def search(request: Request, service: Served, body: SearchBody) -> Response:
    """Windows of videos and passages for a query, best first."""
    # Before it is the question's turn: others need not wait while an image is decoded.
    image = None if body.image is None else await service.in_media_thread(decode_image, body.image)
    return Document(await service.compute(request, lambda library: find(library, body, image)))


def find(library: Library, body: SearchBody, image: NDArray[np.uint8] | None = None) -> SearchDocument:
    """`rag.search/1` for a search; `image`: that of the body, uint8 (h, w, 3) RGB.

    Raises as `Library.search`, `Library.search_image` and `Library.browse` do, and `Problem` for a filter
    or a moment with an unknown video.
    """
    where = body.filter.applied(library)
    if sum(given is not None for given in (body.query, body.like, body.image)) > 1:
        raise QuestionError("give one of a query, a moment to find more like, and an image")
    hits: Sequence[VideoHit | PassageHit]
    if body.like is not None:
        name, at, _ = body.like.rpartition("@")
        if at:
            known_video(library, name)
        hits = library.search_like(body.like, top_k=body.top_k, where=where)
    elif image is not None:
        hits = library.search_image(image, top_k=body.top_k, where=where)
    elif body.query is not None:
        hits = library.search(body.query, kind=body.kind, top_k=body.top_k, where=where)
    elif where.shots is not None:
        hits = library.browse(where)[: body.top_k or library.settings.search.top_k]
    else:
        raise QuestionError("a query is missing, or a filter such as tone")
    shots, unmeasured = None, None
    if where.shots is not None:
        shots = [
            library.shot_at(hit.video_id, (hit.start + hit.end) / 2) if hit.kind == "video" else None
            for hit in hits
        ]
        unmeasured = library.unmeasured(where)
    threshold = library.settings.search.threshold if body.query is not None else None
    shape = search_shape(body.query, hits, shots=shots, unmeasured=unmeasured, threshold=threshold)
    return _proven(library, shape)


def _proven(library: Library, shape: SearchDocument) -> SearchDocument:
    """Results with the state of their files, and with their proofs."""
    with_states(shape["results"], library.stale_files(hit["path"] for hit in shape["results"]))
    with_proof(shape["results"], shape["query"] or "")
    return shape


Against = Annotated[
    str | None,
    Query(min_length=1, max_length=1000, description="Only moments that match this, against one another."),
]


@router.get("/highlights", responses={200: {"model": SearchDocument}, **problems()})
async def highlights(
    request: Request,
    service: Served,
    against: Against = None,
    top_k: Annotated[int, Query(ge=1, le=100)] = 12,
) -> Response:
    """The moments least like the rest of the library, the most unusual first; near duplicates come last."""

    def find_unusual(library: Library) -> SearchDocument:
        return _proven(library, search_shape(against, library.highlights(against=against, top_k=top_k)))

    return Document(await service.compute(request, find_unusual))


OF_VIDEO = ("title", "description", "tag", "chapter")
"""Evidence that is not of a moment."""


def with_proof(shapes: Iterable[CitationItem], *texts: str) -> None:
    """Give each window of hits or citations `proof`: the indexes of its evidence, what proves it best first.

    First is the line with most words of the first text, then of the next. Where they are equal, what was
    said or shown comes before what is known of the whole video.
    """
    wanted = [content_words(text) for text in texts]

    def rank(line: EvidenceItem) -> tuple[float, ...]:
        held = word_set(line["text"])
        return (*(lexical_overlap(words, held) for words in wanted), line["kind"] not in OF_VIDEO)

    for shape in shapes:
        if shape["kind"] == "video":
            evidence = shape["evidence"]
            order = sorted(
                range(len(evidence)), key=[rank(line) for line in evidence].__getitem__, reverse=True
            )
            shape["proof"] = order


def proving_line(window: CitationItem) -> EvidenceItem | None:
    """The evidence that proves a window of `with_proof` best; None where it has none."""
    return window["evidence"][window["proof"][0]] if window["proof"] else None


@router.post("/ask", responses={200: {"model": AskDocument}, **problems(404, 502, 504)})
async def ask(request: Request, service: Served, body: AskBody) -> Response:
    """An answer with the windows and passages that prove it."""
    return Document(await service.compute(request, lambda library: answer(library, body)))


def answer(library: Library, body: AskBody) -> AskDocument:
    """`rag.ask/1` for a question.

    Raises as `Library.ask` does, and `Problem` for a filter with an unknown video.
    """
    parse_distinct_question(body.question, body.options)
    found = library.ask(
        body.question,
        options=tuple(body.options),
        top_k=body.top_k,
        threshold=body.threshold,
        where=body.filter.applied(library),
    )
    shape = answer_shape(found)
    texts = (found.text, body.question) if found.matched else (body.question,)
    stale = library.stale_files(citation.path for citation in found.citations)
    with_proof(with_states(shape["citations"], stale), *texts)
    return shape


@router.post("/localize", responses={200: {"model": LocalizeDocument}, **problems(404)})
async def localize(request: Request, service: Served, body: LocalizeBody) -> Response:
    """The best windows of one video for a query, and the query's score over all of it."""
    return Document(await service.compute(request, lambda library: windows(library, body)))


def windows(library: Library, body: LocalizeBody) -> LocalizeDocument:
    """`rag.localize/1`, with `curve` where it is asked for. Raises `Problem` for an unknown video."""
    known_video(library, body.video_id)
    found = library.localize(body.video_id, body.query, count=body.count, window_seconds=body.window_seconds)
    path = library.path_of(body.video_id)
    made = windows_shape(
        body.video_id, path, body.video_id, body.query, found, library.settings.search.threshold
    )
    (shape,) = with_states([made], library.stale_files([path]))
    if body.curve is not None:
        shape["curve"] = curve_shape(library.score_curve(body.video_id, body.query), body.curve)
    return shape
