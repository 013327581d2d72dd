"""The events of a whole video from frames spread over it (VideoDetective, E.5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Interval, VideoView, clipped, outside, view_item
from rag.reasoners.roles.samples import BARE, OPEN, VIEW
from rag.records import Question


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    """The coarse scan of a whole video (VideoDetective, E.5.1): frames uniformly over all of it."""

    view: VideoView
    question: Question | None = None


class TimelineEvent(Interval):
    """[start, end) seconds."""

    description: str = Field(min_length=1)


class Timeline(Reply):
    """The events of a video."""

    events: tuple[TimelineEvent, ...] = ()
    """By start; they may overlap and leave gaps."""


def _prompt(request: TimelineRequest) -> RoleCall:
    question = request.question.text if request.question is not None else "(none)"
    return RoleCall({"question": question}, [view_item("video", request.view)])


def _sanitize(request: TimelineRequest, reply: Timeline) -> Timeline:
    events = clipped(reply.events, request.view)
    if reply.events and not events:
        raise outside("events", request.view)
    return reply.model_copy(update={"events": tuple(sorted(events, key=lambda event: event.start))})


def _examples() -> Iterator[Example[TimelineRequest, Timeline]]:
    events = (
        TimelineEvent(start=0, end=16, description="A mirror is polished."),
        TimelineEvent(start=20, end=30, description="Bread is cut."),
    )
    yield Example("plain", TimelineRequest(VIEW), Timeline(events=events))
    yield Example("for a question", TimelineRequest(VIEW, OPEN), Timeline(events=events[:1]))
    yield Example("nothing", TimelineRequest(BARE), Timeline())


TIMELINE = Role(
    "timeline",
    "watcher",
    TimelineRequest,
    Timeline,
    _prompt,
    _sanitize,
    reply_tokens=4096,
    examples=_examples,
)
