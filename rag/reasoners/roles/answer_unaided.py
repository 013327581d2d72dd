"""A short answer without a video: from what the model knows, and from passages where a search gave some.

Video-Browser's tool-free and search-augmented baselines (section 5.2, prompt of figure 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rag.reasoners.protocol import Example, Role, RoleCall
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading, known_citations, passage_items, sample_reading
from rag.reasoners.roles.samples import OPEN


def _prompt(reading: Reading) -> RoleCall:
    return RoleCall({"question": reading.question.text, "passages": passage_items(reading)})


def _sanitize(reading: Reading, reply: OpenAnswer) -> OpenAnswer:
    return reply.model_copy(update=known_citations(reply.windows, reply.passages, reading))


def _examples() -> Iterator[Example[Reading, OpenAnswer]]:
    reply = OpenAnswer(text="Glass.", confidence=0.3, explanation="Telescope mirrors mostly are.")
    whole = replace(sample_reading(OPEN), windows=())
    yield Example("passages of a search", whole, reply)
    yield Example("the question alone", replace(whole, passages=()), reply)


ANSWER_UNAIDED = Role(
    "answer_unaided", "analyst", Reading, OpenAnswer, _prompt, _sanitize, examples=_examples
)
