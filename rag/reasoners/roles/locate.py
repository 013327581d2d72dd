"""Where in one video something is: windows, or the one frame that fits best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Interval, Memory, VideoView, clipped, memory_text, outside, view_item
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


def _sanitize(request: LocateRequest, reply: Located) -> Located:
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


LOCATE = Role("locate", "watcher", LocateRequest, Located, _prompt, _sanitize, examples=_examples)
