"""What a whole video holds for a question, in words (Video-Browser, figure 16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import VideoView, view_item
from rag.reasoners.roles.samples import BARE, EMPTY, OPEN, VIEW
from rag.records import Question


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


def _prompt(request: SummarizeRequest) -> RoleCall:
    return RoleCall({"question": request.question.text}, [view_item("video", request.view)])


def _sanitize(_request: SummarizeRequest, reply: VideoSummary) -> VideoSummary:
    if reply.relevant and not reply.summary.strip():
        raise BadReply("summary is blank though relevant is true")
    return reply


def _examples() -> Iterator[Example[SummarizeRequest, VideoSummary]]:
    glass = VideoSummary(relevant=True, summary="She says that the mirror is made of glass.")
    yield Example("a video", SummarizeRequest(OPEN, VIEW), glass)
    nothing = VideoSummary(relevant=False, summary="It holds nothing relevant.")
    yield Example("nothing", SummarizeRequest(EMPTY, BARE), nothing)


SUMMARIZE = Role(
    "summarize", "watcher", SummarizeRequest, VideoSummary, _prompt, _sanitize, examples=_examples
)
