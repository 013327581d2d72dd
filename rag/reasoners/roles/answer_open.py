"""A short free answer, with citations."""

from __future__ import annotations

from pydantic import Field

from rag.reasoners.protocol import Reply, Role, RoleCall
from rag.reasoners.roles.reading import Reading, check_citations, passage_items, window_items


class OpenAnswer(Reply):
    """A short answer in words, with its citations."""

    text: str
    """Empty where the evidence holds no answer."""
    confidence: float = Field(ge=0, le=1)
    explanation: str
    windows: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()


def _prompt(reading: Reading) -> RoleCall:
    return RoleCall(
        {
            "question": reading.question.text,
            "anchor": reading.anchor.description,
            "passages": passage_items(reading),
        },
        window_items(reading),
    )


def _check(reading: Reading, reply: OpenAnswer) -> None:
    check_citations(reply.windows, reply.passages, reading)


ANSWER_OPEN = Role("answer_open", "analyst", Reading, OpenAnswer, _prompt, _check)
