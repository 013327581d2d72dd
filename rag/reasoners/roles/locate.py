"""Where in one video something is: windows, or the one frame that fits best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Interval, Memory, VideoView, check_inside, memory_text, view_item
from rag.reasoners.roles.samples import BARE, MEMORY, VIEW

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

    reason: str


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


def _prompt(request: LocateRequest) -> RoleCall:
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


def _check(request: LocateRequest, reply: Located) -> None:
    count = len(request.view.times)
    check_inside("windows", reply.windows, request.view)
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


def _examples() -> Iterator[Example[LocateRequest, Located]]:
    window = LocatedWindow(start=12, end=16, reason="it is said")
    here = Located(relevant=True, windows=(window,), confidence=0.8)
    anywhere = LocatedWindow(start=BARE.start, end=BARE.end, reason="all of it")
    weak = Located(relevant=True, windows=(anywhere,), confidence=0.1)
    moment = LocateRequest("she polishes", VIEW, "frame", must_choose=True, memory=MEMORY)
    yield Example("windows", LocateRequest("What is the mirror made of?", VIEW), here)
    yield Example("frame", moment, Located(relevant=True, frame=1, confidence=0.5))
    yield Example("nothing", LocateRequest("", BARE), Located(relevant=False, confidence=0.9))
    yield Example("nothing, and a must", LocateRequest("?", BARE, must_choose=True), weak)
    no_frames = LocateRequest("x", BARE, "frame", must_choose=True)
    yield Example("no frames", no_frames, Located(relevant=True, confidence=0.0))


LOCATE = Role("locate", "watcher", LocateRequest, Located, _prompt, _check, examples=_examples)
