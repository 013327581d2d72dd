"""What a video or a part of it shows.

Where something is (`locate`), what a stretch shows and lacks (`observe`: VideoDetective, D.2), what all holds
for a question (`summarize`: Video-Browser, figure 16), the events (`timeline`: VideoDetective, E.5.1), the
actions of a window (`caption_window`: EgoFact, D.2.3), and whether a video or a frame is the remembered one
(`verify_video`: RACLO, appendix E; `match_frame`: RACLO, F.3 and F.4, ShotFinder, section 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Reply, Role, RoleCall
from rag.reasoners.roles.material import (
    ConstraintKind,
    Interval,
    Memory,
    VideoView,
    clipped,
    distinct,
    memory_text,
    outside,
    view_item,
)
from rag.reasoners.roles.questions import Facet
from rag.records import Question

MAY_BE_NOWHERE = (
    "the video may not hold it at all. Then relevant is false, windows is empty and frame is null"
)


MUST_CHOOSE = "relevant must be true, take the best there is, however weak"


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """Find what is wanted among the frames and words of one video.

    Video-Browser (figure 20) asks for `windows`; RACLO (appendix F) and ShotFinder (appendix D)
    ask for one `frame`.
    """

    query: str
    """The question, or the description of the moment."""
    view: VideoView
    target: Literal["windows", "frame"] = "windows"
    max_windows: int = 3
    must_choose: bool = False
    """True: the best there is must be given, however weak (RACLO, F.1: mandatory selection).
    False: N/A is a legal answer (ShotFinder, section 4.4)."""
    memory: Memory | None = None
    """The moment in its parts, where it is a remembered one."""


class LocatedWindow(Interval):
    """[start, end) seconds of the video."""

    reason: str = ""


class Located(Reply):
    """Where it is; with `relevant` false, N/A: nowhere in this video, without windows and frame."""

    relevant: bool
    windows: tuple[LocatedWindow, ...] = ()
    """Best first."""
    frame: int | None = None
    """Index into `VideoView.times` of the frame that fits best."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""


def _locate_prompt(request: LocateRequest) -> RoleCall:
    moment = memory_text(request.memory) if request.memory is not None else "(nothing)"
    return RoleCall(
        {
            "wanted": request.query,
            "memory": moment,
            "!target": request.target,
            "!otherwise": MUST_CHOOSE if request.must_choose else MAY_BE_NOWHERE,
            "!count": str(request.max_windows),
        },
        [view_item("video", request.view)],
    )


def _locate_sanitize(request: LocateRequest, reply: Located) -> Located:
    """Where one place must be given, the place counts and not `relevant`; else `relevant` counts."""
    count = len(request.view.times)
    if not reply.relevant and not request.must_choose:
        return reply.model_copy(update={"windows": (), "frame": None})
    windows = clipped(reply.windows, request.view)[: request.max_windows]
    frame = reply.frame if reply.frame is not None and 0 <= reply.frame < count else None
    if request.target == "windows" and not windows:
        fault = "windows is empty though one must be given"
        raise outside("windows", request.view) if reply.windows else BadReply(fault)
    if request.target == "frame" and count and frame is None:
        raise BadReply(f"frame must be one of 0 to {count - 1}")
    return reply.model_copy(update={"relevant": True, "windows": windows, "frame": frame})


LOCATE = Role("locate", "watcher", LocateRequest, Located, _locate_prompt, _locate_sanitize)


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """Look at an interval for given facets (VideoDetective, D.2)."""

    question: Question
    view: VideoView
    facets: tuple[Facet, ...] = ()
    """What to verify; empty: the question as a whole."""
    vlm_query: str = ""
    """The question as `decompose_facets` words it for a model that looks; empty: as it was asked."""


class Observation(Reply):
    """What a stretch shows, and what it lacks."""

    caption: str
    """What is seen, read and said: who, what, where, actions, objects, text on the screen as it stands."""
    missing: tuple[str, ...] = ()
    """Keywords of the facets that are not to be seen or read here."""
    needs_more_info: bool
    """Whether the answer must be searched elsewhere."""
    missing_visual_keyword: str = ""
    """What to look for there; empty where nothing is missing."""
    reasoning: str = ""


def _observe_prompt(request: ObserveRequest) -> RoleCall:
    return RoleCall(
        {
            "question": request.vlm_query or request.question.text,
            "keywords": _listed([word for facet in request.facets for word in facet.keywords]),
            "events": _listed([query for facet in request.facets for query in facet.queries]),
        },
        [view_item("video", request.view)],
    )


def _observe_sanitize(request: ObserveRequest, reply: Observation) -> Observation:
    if not reply.caption.strip() and (request.view.times or request.view.texts):
        raise BadReply("caption is blank")
    words = {word.strip().casefold() for facet in request.facets for word in facet.keywords}
    missing = tuple(word for word in distinct(reply.missing) if word.casefold() in words)
    return reply.model_copy(update={"missing": missing})


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(dict.fromkeys(texts)) or "(none)"


OBSERVE = Role("observe", "watcher", ObserveRequest, Observation, _observe_prompt, _observe_sanitize)


@dataclass(frozen=True, slots=True)
class SummarizeRequest:
    """A whole video, for a question."""

    question: Question
    view: VideoView


class VideoSummary(Reply):
    """What of a video bears on the question."""

    relevant: bool
    summary: str
    """With the numbers, names and events that bear on it; where nothing does, that it holds nothing."""


def _summarize_prompt(request: SummarizeRequest) -> RoleCall:
    return RoleCall({"question": request.question.text}, [view_item("video", request.view)])


def _summarize_sanitize(_request: SummarizeRequest, reply: VideoSummary) -> VideoSummary:
    if reply.relevant and not reply.summary.strip():
        raise BadReply("summary is blank though relevant is true")
    return reply


SUMMARIZE = Role(
    "summarize", "watcher", SummarizeRequest, VideoSummary, _summarize_prompt, _summarize_sanitize
)


class TimelineEvent(Interval):
    """[start, end) seconds."""

    description: str = Field(min_length=1)


class Timeline(Reply):
    """The events of a video (VideoDetective, E.5.1), of frames uniformly over all of it."""

    events: tuple[TimelineEvent, ...] = ()
    """By start; they may overlap and leave gaps."""


def _timeline_prompt(view: VideoView) -> RoleCall:
    return RoleCall({}, [view_item("video", view)])


def _timeline_sanitize(view: VideoView, reply: Timeline) -> Timeline:
    events = clipped(reply.events, view)
    if reply.events and not events:
        raise outside("events", view)
    return reply.model_copy(update={"events": tuple(sorted(events, key=lambda event: event.start))})


TIMELINE = Role(
    "timeline", "watcher", VideoView, Timeline, _timeline_prompt, _timeline_sanitize, reply_tokens=4096
)


@dataclass(frozen=True, slots=True)
class CaptionRequest:
    """Frames of one window, and what a question asks about."""

    view: VideoView
    keywords: tuple[str, ...] = ()
    """Empty: a caption for no question in particular."""


class WindowCaption(Reply):
    """The main actions, one sentence each, in their order; empty where none can be seen."""

    actions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The numbered list in one line; empty without an action."""
        sentences = [" ".join(action.split()) for action in self.actions if action.strip()]
        return " ".join(f"{number}. {action}" for number, action in enumerate(sentences, 1))


def _caption_prompt(request: CaptionRequest) -> RoleCall:
    return RoleCall({"keywords": ", ".join(request.keywords) or "(none)"}, [view_item("video", request.view)])


CAPTION_WINDOW = Role(
    "caption_window", "watcher", CaptionRequest, WindowCaption, _caption_prompt, reply_tokens=2048
)


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Is this the video one remembers? (RACLO, appendix E; 64 frames uniformly over it, and its sound)"""

    memory: Memory
    view: VideoView


class VideoVerdict(Reply):
    """Whether a video is the one remembered."""

    video_match: bool
    audio_match: bool | None = None
    """None: no sound to compare, or nothing remembered of it."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A match counts only where both judges say so (RACLO, section 3.2)."""

    first: VideoVerdict
    second: VideoVerdict | None
    """None: not asked, because the first one rejected."""

    @property
    def agreed(self) -> bool:
        """True where both judges say that it matches."""
        return self.second is not None and self.first.video_match and self.second.video_match


def _verify_prompt(request: VerifyRequest) -> RoleCall:
    return RoleCall({"memory": memory_text(request.memory)}, [view_item("video", request.view)])


VERIFY_VIDEO = Role("verify_video", "watcher", VerifyRequest, VideoVerdict, _verify_prompt, reply_tokens=512)


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """Is this frame the moment? (RACLO, F.3 and F.4; ShotFinder, section 4.4)"""

    description: str
    candidate: VideoView
    """One frame, with the words and sounds around it."""
    reference: VideoView | None = None
    """One frame: the true one."""
    constraint_kind: ConstraintKind = ""
    constraint: str = ""
    auditory_memory: str = ""


class FrameMatch(Reply):
    """Whether a frame is the moment, point by point; None where a point cannot be compared."""

    text_match: bool
    """The main subjects and actions of the description are there, and nothing contradicts it."""
    image_match: bool | None = None
    """Same scene as the reference; None where there is no reference."""
    audio_match: bool | None = None
    """None: no sound to compare, or nothing said of it."""
    constraint_match: bool | None = None
    """None: no constraint, or none that what is shown can decide."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""

    @property
    def matched(self) -> bool:
        """Every part that could be compared matches."""
        parts = (self.text_match, self.image_match, self.audio_match, self.constraint_match)
        return all(part is not False for part in parts)


def _match_prompt(request: MatchRequest) -> RoleCall:
    shown: list[PromptItem] = []
    if request.reference is not None:
        shown.append(view_item("reference", request.reference))
    shown.append(view_item("candidate", request.candidate))
    constraint = f"{request.constraint_kind}: {request.constraint}" if request.constraint else "(none)"
    return RoleCall(
        {
            "description": request.description,
            "constraint": constraint,
            "heard": request.auditory_memory or "(nothing)",
        },
        shown,
    )


def _match_sanitize(request: MatchRequest, reply: FrameMatch) -> FrameMatch:
    """Without a verdict on what there is nothing to compare with."""
    if request.reference is not None and reply.image_match is None:
        raise BadReply("image_match must be true or false")
    visible = request.constraint_kind in ("color", "style")
    if request.constraint and reply.constraint_match is None and visible:
        raise BadReply("constraint_match must be true or false")
    image = None if request.reference is None else reply.image_match
    constraint = reply.constraint_match if request.constraint else None
    return reply.model_copy(update={"image_match": image, "constraint_match": constraint})


MATCH_FRAME = Role(
    "match_frame", "judge", MatchRequest, FrameMatch, _match_prompt, _match_sanitize, reply_tokens=512
)
