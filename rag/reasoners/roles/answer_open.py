"""A short free answer, with citations."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.reading import Reading, known_citations, passage_items, sample_readings, window_items


class OpenAnswer(Reply):
    """A short answer in words, with its citations."""

    text: str
    """Empty where the evidence holds no answer."""
    confidence: float = Field(ge=0, le=1)
    explanation: str = ""
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


def _sanitize(reading: Reading, reply: OpenAnswer) -> OpenAnswer:
    return reply.model_copy(update=known_citations(reply.windows, reply.passages, reading))


def _examples() -> Iterator[Example[Reading, OpenAnswer]]:
    for name, read in sample_readings(options=False):
        reply = OpenAnswer(text="", confidence=0.0, explanation="There is nothing to go by.")
        if read.passages:
            reply = OpenAnswer(text="glass", confidence=0.9, explanation="As written.", passages=(0,))
        yield Example(name, read, reply)


ANSWER_OPEN = Role("answer_open", "analyst", Reading, OpenAnswer, _prompt, _sanitize, examples=_examples)
