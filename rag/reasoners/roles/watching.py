"""The roles that look: where in a video, what is seen there, and whether it is the right one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from rag.reasoners.roles.replies import Reply
from rag.reasoners.roles.searching import ConstraintKind, Facet, Memory
from rag.reasoners.roles.views import VideoView
from rag.records import Question


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """Find what is wanted among the frames and words of one video.

    Video-Browser (figure 20) asks for `windows`; RACLO (appendix F) and ShotFinder (appendix D)
    ask for one `frame`.
    """

    wanted: str
    """The question, or the description of the moment."""
    view: VideoView
    target: Literal["windows", "frame"] = "windows"
    max_windows: int = 3
    must_choose: bool = False
    """True: the best there is must be given, however weak (RACLO, F.1: mandatory selection).
    False: N/A is a legal answer (ShotFinder, section 4.4)."""
    memory: Memory | None = None
    """The moment in its parts, where it comes from somebody's memory."""


class LocatedWindow(Reply):
    """[start, end) seconds of the video."""

    start: float = Field(ge=0)
    end: float = Field(gt=0)
    reason: str

    @model_validator(mode="after")
    def _lies_forward(self) -> Self:
        if not self.end > self.start:
            raise ValueError("end must lie after start")
        return self


class Located(Reply):
    """Where it is; with `relevant` false, N/A: nowhere in this video."""

    relevant: bool
    windows: tuple[LocatedWindow, ...] = ()
    """Best first."""
    frame: int | None = None
    """Index into `VideoView.times` of the frame that fits best."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""

    @model_validator(mode="after")
    def _nowhere_is_nowhere(self) -> Self:
        if not self.relevant and (self.windows or self.frame is not None):
            raise ValueError("an irrelevant video has no windows and no frame")
        return self


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """Look at a stretch with something in mind (VideoDetective, D.2).

    Of a whole video, it is the summary for a question (Video-Browser, figure 16).
    """

    question: Question
    view: VideoView
    facets: tuple[Facet, ...] = ()
    """What to verify; empty: the question as a whole."""
    vlm_query: str = ""
    """The question as `decompose_facets` puts it to somebody who looks; empty: as it was asked."""


class Observation(Reply):
    caption: str
    """What is seen, read and heard: who, what, where, actions, objects, text on the screen as it stands."""
    missing: tuple[str, ...] = ()
    """Keywords of the facets that are not to be seen or read here."""
    needs_more_info: bool
    """Whether the answer must be sought elsewhere."""
    missing_visual_keyword: str = ""
    """What to look for there; empty where nothing is missing."""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    """The coarse scan of a whole video (VideoDetective, E.5.1): frames uniformly over all of it."""

    view: VideoView
    question: Question | None = None


class TimelineEvent(Reply):
    """[start, end) seconds."""

    start: float = Field(ge=0)
    end: float = Field(gt=0)
    description: str = Field(min_length=1)

    @model_validator(mode="after")
    def _lies_forward(self) -> Self:
        if not self.end > self.start:
            raise ValueError("end must lie after start")
        return self


class Timeline(Reply):
    events: tuple[TimelineEvent, ...] = ()
    """By start; they may overlap and leave gaps."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Is this the video one remembers? (RACLO, appendix E; 64 frames uniformly over it, and its sound)"""

    memory: Memory
    view: VideoView


class VideoVerdict(Reply):
    video_match: bool
    audio_match: bool | None = None
    """None: no sound to compare, or nothing remembered of it."""
    confidence: float = Field(ge=0, le=1)
    contradictions: tuple[str, ...] = ()
    """What the memory says and the video denies."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A match counts only where both judges say so (RACLO, section 3.2)."""

    first: VideoVerdict
    second: VideoVerdict | None
    """None: not asked, because the first one rejected."""

    @property
    def agreed(self) -> bool:
        return self.second is not None and self.first.video_match and self.second.video_match


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
    text_match: bool
    """The main subjects and actions of the description are there, and nothing contradicts it."""
    image_match: bool | None = None
    """Same scene as the reference; None where there is no reference."""
    audio_match: bool | None = None
    """None: no sound to compare, or nothing said of it."""
    constraint_match: bool | None = None
    """None: no constraint, or none that can be seen in a frame."""
    confidence: float = Field(ge=0, le=1)
    reason: str = ""

    @property
    def matched(self) -> bool:
        """Every part that could be compared matches."""
        parts = (self.text_match, self.image_match, self.audio_match, self.constraint_match)
        return all(part is not False for part in parts)
