"""The three checks of every query (EgoFact, section 2.2): valid, non-trivial; non-ambiguous is `ambiguity`.

A `CheckReader` answers a multiple-choice question from the texts it is given,
or from none. A query is valid if, given the gold event and the gold passage,
the reader answers right; it is non-trivial if, given question and options
alone, it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from corpora.records import Passage
from eval.runs.records import LETTERS
from eval.tasks.egofact.records import Query
from eval.tasks.egofact.templates import names_object
from rag.reasoners.embedded.rewriting import statement, two_hop
from rag.reasoners.roles import ANSWER_CHOICE, AnchorEvent, Reading, ReadPassage, RewrittenQuestion
from rag.records import Question

if TYPE_CHECKING:
    from eval.tasks.egofact.vectors import CachedEncoder


class CheckReader(Protocol):
    """The reader that the non-triviality filter asks."""

    name: str

    def answer(self, question: Question, context_texts: Sequence[str]) -> int:
        """Index of the option that the texts support best; without texts, its best guess."""
        ...


class EmbeddedCheckReader:
    """Two-hop options by the embedded reasoner over the texts, objects by the text that names them.

    Without texts, the option nearest to the question.
    """

    name = "embedded"

    def __init__(self, encoder: CachedEncoder) -> None:
        from rag.reasoners.embedded import EmbeddedReasoner

        self._encoder = encoder
        self._reasoner = EmbeddedReasoner(encoder)

    def answer(self, question: Question, context_texts: Sequence[str]) -> int:
        """The label of the option it chooses."""
        two_hops = all(two_hop(option) for option in question.options)
        if context_texts and two_hops:
            chosen = self._reasoner.run(ANSWER_CHOICE, _reading(question, context_texts)).choice
            if chosen is not None:
                return LETTERS.index(chosen)
        if context_texts and not two_hops:
            return self._nearest(context_texts, question.options)
        # The claims are those that the reasoner compares too, so that each is encoded once.
        claims = [statement(question, option) if two_hops else option for option in question.options]
        return int(np.argmax(self._encoder.similarity([question.text], claims)[0]))

    def _nearest(self, texts: Sequence[str], options: Sequence[str]) -> int:
        near = self._encoder.similarity(texts, options).max(axis=0)
        named = [any(names_object(text, option) for text in texts) for option in options]
        return int(np.argmax(near + np.asarray(named)))


def question_of(query: Query) -> Question:
    """The question that the reader is asked, without gold."""
    return Question(query.query_id, query.text, query.options)


def valid(query: Query, gold_texts: Sequence[str], reader: CheckReader) -> bool:
    """`gold_texts`: the gold event's sentence and, of two-hop queries, the gold passage."""
    return reader.answer(question_of(query), gold_texts) == LETTERS.index(query.answer)


def non_trivial(query: Query, reader: CheckReader) -> bool:
    """Whether the reader is wrong without evidence."""
    return reader.answer(question_of(query), ()) != LETTERS.index(query.answer)


def _reading(question: Question, texts: Sequence[str]) -> Reading:
    passages = tuple(
        ReadPassage(Passage(f"gold-{at}", f"gold-{at}", "", text), "", 1.0, None)
        for at, text in enumerate(texts)
    )
    return Reading(
        question=question,
        rewritten=RewrittenQuestion(visual_query=question.text),
        anchor=AnchorEvent(description=question.text),
        windows=(),
        passages=passages,
    )
