"""Which sentences are worth a vector: one costs many milliseconds, its words almost nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rag.reasoners.embedded.answer_types import AnswerType
from rag.reasoners.embedded.sentences import Sentence
from rag.relevance import content_words, lexical_overlap

MOST_SENTENCES = 16
TITLE_SHARE = 0.3
TYPE_SHARE = 0.3
PLACE_SHARE = 0.4
"""Weights of a shared title, of the kind of thing asked for, and of a high place in retrieval, against
a weight of 1 for all of the question's words in the sentence itself."""


def shortlist(
    wanted: Sequence[str], sentences: Sequence[Sentence], kind: AnswerType | None = None
) -> list[Sentence]:
    """At most 16 of the sentences, in their own order. `wanted`: stems of what is asked."""
    if len(sentences) <= MOST_SENTENCES:
        return list(sentences)
    worth = []
    for sentence in sentences:
        value = lexical_overlap(wanted, set(content_words(sentence.context)))
        value += TITLE_SHARE * lexical_overlap(wanted, set(content_words(sentence.title)))
        if kind is not None and kind.name != "thing":
            value += TYPE_SHARE * kind.strength(sentence.text)
        worth.append(value + PLACE_SHARE / (1 + sentence.index))
    kept = sorted(range(len(sentences)), key=lambda i: (-round(worth[i], 6), i))[:MOST_SENTENCES]
    return [sentences[i] for i in sorted(kept)]
