"""What to look for, read from a question: anchor, queries and facets."""

from __future__ import annotations

from rag.function_words import is_english
from rag.questions import option_label
from rag.reasoners.embedded.phrases import entities
from rag.reasoners.embedded.question_forms import (
    asks_for_order,
    asks_for_order_alone,
    counted_event,
    declarative,
    event_text,
    parts,
    spelled_out,
    statement,
)
from rag.reasoners.roles.questions import MOST_KEYWORDS, AnchorEvent, Facets, Keywords, RewrittenQuestion
from rag.records import Question
from rag.words import content_words, tokens, word_set


def rewrite_question(question: Question) -> RewrittenQuestion:
    """EgoFact, D.2.3: "A video that shows ...", and for each option what it claims.

    The paper's "A passage about ..." is left out: the claim is encoded anyway, to be compared with sentences.
    """
    question = spelled_out(question)
    taken = parts(question.text)
    shown = taken.scene or taken.seen
    visual = f"A video that shows {shown}.".replace("..", ".")
    if not is_english(tokens(question.text)):
        visual = question.text  # two languages in one sentence are near no image
    asked = taken.asked if content_words(taken.asked) else question.text
    return RewrittenQuestion(
        visual_query=visual,
        passage_queries=tuple(statement(question, option) for option in question.options) or (asked,),
        by_option=asks_for_order(question.text) is not None and asks_for_order_alone(question.text),
        counted=counted_event(question.text),
    )


def anchor_event(question: Question) -> AnchorEvent:
    """EgoFact, D.2.4: the event of a before or after; without one, the event that the question asks about."""
    taken = parts(question.text)
    if taken.position != "within":
        target = declarative(taken.core)
        target = target if content_words(target) else ""
        return AnchorEvent(description=taken.event, position=taken.position, target=target)
    event = taken.seen if content_words(taken.seen) else taken.scene
    return AnchorEvent(description=event or question.text, position="within")


def decompose_facets(question: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    stems = [word_set(option) for option in question.options]
    common = frozenset.intersection(*stems) if len(stems) > 1 else frozenset()
    keywords: dict[str, tuple[str, ...]] = {}
    events: dict[str, str] = {}
    for index, option in enumerate(question.options):
        label = option_label(index)
        own = tuple(word for word in entities(option, MOST_KEYWORDS) if not word_set(word) <= common)
        if own:
            keywords[label] = own
        events[label] = statement(question, option)
    return Facets(
        query_keywords=entities(question.text, 2 * MOST_KEYWORDS),
        option_keywords=keywords,
        semantic_queries=events,
        general_semantic_query=event_text(question.text) or "the question",
        vlm_query=parts(question.text).asked or question.text,
    )


def extract_keywords(asked: Question) -> Keywords:
    """Those of the question's own facet."""
    return Keywords(keywords=decompose_facets(asked).query_keywords)
