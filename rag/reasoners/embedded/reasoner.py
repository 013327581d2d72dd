"""The reasoner without a language model: rules, sentence vectors and stored picture vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.reasoners.embedded import rewriting
from rag.reasoners.embedded.choices import answer_choice
from rag.reasoners.embedded.open_answers import answer_open
from rag.reasoners.embedded.vectors import SentenceVectors
from rag.reasoners.roles import AnchorEvent, ChosenOption, OpenAnswer, Reading, RewrittenQuestion
from rag.records import Question, Usage
from rag.relevance import PictureScale

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower

__all__ = ["EmbeddedReasoner"]


class EmbeddedReasoner:
    """Same reading, same answer, to the bit; decodes nothing and costs no tokens.

    `tower`: words into the space of the stored frame vectors; None where the library has no pictures.
    """

    name = "embedded"
    reads_pixels = False

    def __init__(self, text_encoder: TextEncoder, tower: TextTower | None = None) -> None:
        self._vectors = SentenceVectors(text_encoder)
        self._scale = PictureScale(tower) if tower is not None else None

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return rewriting.rewrite_question(question)

    def anchor_event(self, question: Question) -> AnchorEvent:
        return rewriting.anchor_event(question)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return answer_choice(reading, self._vectors, self._scale)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return answer_open(reading, self._vectors)

    def usage(self) -> Usage:
        return Usage()
