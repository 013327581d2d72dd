"""The event to look for in the video, and on which side of it the answer is (EgoFact, D.2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.samples import QUESTIONS
from rag.records import Question

Position = Literal["before", "after", "within"]


class AnchorEvent(Reply):
    """EgoFact, D.2.4: the event to look for, and where the watched part is relative to it."""

    description: str = Field(min_length=1)
    position: Position = "within"
    target: str = ""
    """The event asked for, where it is not the anchor itself; empty where the question does not say."""


def _prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text})


def _sanitize(_: Question, reply: AnchorEvent) -> AnchorEvent:
    if not reply.description.strip():
        raise BadReply("description is blank")
    return reply


def _examples() -> Iterator[Example[Question, AnchorEvent]]:
    for question in QUESTIONS:
        reply = AnchorEvent(description="she polishes something", position="after")
        yield Example(question.question_id, question, reply)


ANCHOR_EVENT = Role(
    "anchor_event", "planner", Question, AnchorEvent, _prompt, _sanitize, reply_tokens=512, examples=_examples
)
