"""A short free answer with citations: from what was read, or without a video.

`answer_unaided` is that of Video-Browser's tool-free and search-augmented baselines (section 5.2, prompt of
figure 6): from what the model knows, and from passages where a search gave some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.reading import (
    Reading,
    known_citations,
    passage_items,
    sample_reading,
    sample_readings,
    window_items,
)
from rag.reasoners.roles.samples import OPEN


class OpenAnswer(Reply):
    """A short answer in words, with its citations."""

    text: str
    """Empty where the evidence holds no answer."""
    confidence: float = Field(ge=0, le=1)
    explanation: str = ""
    windows: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()
    nearest: SkipJsonSchema[tuple[str, ...]] = ()
    """Texts of the evidence to look at where it is no answer, the best first; no language model is asked."""


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


def _unaided_prompt(reading: Reading) -> RoleCall:
    return RoleCall({"question": reading.question.text, "passages": passage_items(reading)})


def _unaided_examples() -> Iterator[Example[Reading, OpenAnswer]]:
    reply = OpenAnswer(text="Glass.", confidence=0.3, explanation="Telescope mirrors mostly are.")
    whole = replace(sample_reading(OPEN), windows=())
    yield Example("passages of a search", whole, reply)
    yield Example("the question alone", replace(whole, passages=()), reply)


ANSWER_UNAIDED = Role(
    "answer_unaided", "analyst", Reading, OpenAnswer, _unaided_prompt, _sanitize, examples=_unaided_examples
)
