"""The turns that look at frames and words of a video."""

from __future__ import annotations

from collections.abc import Sequence

from rag.reasoners.llm.messages import Shown
from rag.reasoners.llm.reading import shown_view
from rag.reasoners.llm.replies import BadReply
from rag.reasoners.llm.turns import Turn
from rag.reasoners.llm.turns_searching import remembered
from rag.reasoners.roles import (
    Facet,
    FrameMatch,
    Located,
    LocatedWindow,
    LocateRequest,
    MatchRequest,
    Observation,
    ObserveRequest,
    Timeline,
    TimelineEvent,
    TimelineRequest,
    VerifyRequest,
    VideoVerdict,
    VideoView,
)

MAY_BE_NOWHERE = (
    "the video may not hold it at all. Then relevant is false, windows is empty and frame is null"
)
MUST_CHOOSE = "relevant must be true, take the best there is, however weak"


def locate(request: LocateRequest) -> Turn[Located]:
    view = request.view
    count = len(view.times)

    def check(reply: Located) -> None:
        _check_inside("windows", reply.windows, view)
        if len(reply.windows) > request.max_windows:
            raise BadReply(f"windows has {len(reply.windows)} entries, at most {request.max_windows}")
        if reply.frame is not None and not 0 <= reply.frame < count:
            raise BadReply(f"frame must be one of 0 to {count - 1}" if count else "there are no frames")
        if request.must_choose and not reply.relevant:
            raise BadReply("relevant must be true here: give the best there is")
        if reply.relevant and request.target == "windows" and not reply.windows:
            raise BadReply("windows is empty though relevant is true")
        if reply.relevant and request.target == "frame" and count and reply.frame is None:
            raise BadReply("frame is null though relevant is true")

    moment = remembered(request.memory) if request.memory is not None else "(nothing)"
    return Turn(
        "locate",
        {
            "wanted": request.wanted,
            "memory": moment,
            "!target": "windows" if request.target == "windows" else "frame",
            "!otherwise": MUST_CHOOSE if request.must_choose else MAY_BE_NOWHERE,
            "!count": str(request.max_windows),
        },
        Located,
        images=[shown_view("video", view)],
        check=check,
    )


def observe(request: ObserveRequest) -> Turn[Observation]:
    words = {word.casefold() for facet in request.facets for word in facet.keywords}

    def check(reply: Observation) -> None:
        foreign = [word for word in reply.missing if word.casefold() not in words]
        if foreign:
            raise BadReply(f"missing holds {foreign[0][:40]!r}, which is none of the keywords")
        if not reply.caption.strip():
            raise BadReply("caption is blank")

    return Turn(
        "observe",
        {
            "question": request.vlm_query or request.question.text,
            "keywords": _listed(request.facets, "keywords"),
            "events": _listed(request.facets, "queries"),
        },
        Observation,
        images=[shown_view("video", request.view)],
        check=check,
    )


def timeline(request: TimelineRequest) -> Turn[Timeline]:
    def check(reply: Timeline) -> None:
        _check_inside("events", reply.events, request.view)
        starts = [event.start for event in reply.events]
        if starts != sorted(starts):
            raise BadReply("events are not in order of their start")

    question = request.question.text if request.question is not None else "(none)"
    return Turn(
        "timeline",
        {"question": question},
        Timeline,
        images=[shown_view("video", request.view)],
        check=check,
    )


def verify_video(request: VerifyRequest) -> Turn[VideoVerdict]:
    return Turn(
        "verify_video",
        {"memory": remembered(request.memory)},
        VideoVerdict,
        images=[shown_view("video", request.view)],
    )


def match_frame(request: MatchRequest) -> Turn[FrameMatch]:
    def check(reply: FrameMatch) -> None:
        if (reply.image_match is None) != (request.reference is None):
            wanted = "true or false" if request.reference is not None else "null: there is no reference"
            raise BadReply(f"image_match must be {wanted}")
        if request.constraint and reply.constraint_match is None and request.constraint_kind != "audio":
            raise BadReply("constraint_match must be true or false")

    shown: list[Shown] = []
    if request.reference is not None:
        shown.append(shown_view("reference", request.reference))
    shown.append(shown_view("candidate", request.candidate))
    constraint = f"{request.constraint_kind}: {request.constraint}" if request.constraint else "(none)"
    return Turn(
        "match_frame",
        {
            "description": request.description,
            "constraint": constraint,
            "heard": request.auditory_memory or "(nothing)",
        },
        FrameMatch,
        images=shown,
        check=check,
    )


def _check_inside(name: str, spans: Sequence[LocatedWindow | TimelineEvent], view: VideoView) -> None:
    for span in spans:
        if span.start >= view.end or span.end <= view.start:
            raise BadReply(
                f"{name}: {span.start:g} s to {span.end:g} s lies outside the video, "
                f"which runs from {view.start:g} s to {view.end:g} s"
            )


def _listed(facets: Sequence[Facet], kind: str) -> str:
    found = [text for facet in facets for text in getattr(facet, kind)]
    return "\n".join(dict.fromkeys(found)) or "(none)"
