"""What to look for, read from a question by rules: anchor, queries and facets."""

from __future__ import annotations

import re
from dataclasses import replace

from rag.function_words import is_english
from rag.questions import option_label
from rag.reasoners.embedded.claims import option_event, spelled_out, statement
from rag.reasoners.embedded.phrases import entities
from rag.reasoners.embedded.question_forms import (
    Form,
    asks_for_order,
    asks_for_order_alone,
    counted_event,
    declarative,
    parts,
    says_more,
)
from rag.reasoners.roles.anchor_event import AnchorEvent
from rag.reasoners.roles.decompose_facets import Facets
from rag.reasoners.roles.extract_keywords import Keywords
from rag.reasoners.roles.rewrite_question import RewrittenQuestion
from rag.records import Question
from rag.words import content_words, tokens, word_set

MOST_KEYWORDS = 5
_PLACES = (
    (r"\b(?:at the (?:start|beginning)|in the beginning|opening|first)\b", "look at the beginning first"),
    (r"\b(?:at the end|in the end|finally|closing|last)\b", "look at the end first"),
    (r"\bhow (?:many times|often)\b|\bhow many\b", "look at all places where it happens, and count them"),
    (r"\border\b|\bsequence\b|\bfirst\b.*\bthen\b", "find each event, then compare their times"),
)


def rewrite_question(question: Question) -> RewrittenQuestion:
    """EgoFact, D.2.3: "A video that shows ...", and for each option what it claims.

    The paper's "A passage about ..." is left out: the claim is encoded anyway, to be compared with sentences.
    """
    question = spelled_out(question)
    taken = parts(question.text)
    shown = taken.scene or declarative(taken.core)
    if not taken.scene and taken.event:
        shown = f"{taken.event}, {shown}" if content_words(shown) else taken.event
    visual = f"A video that shows {shown}.".replace("..", ".")
    if not is_english(tokens(question.text)):
        visual = question.text  # two languages in one sentence are near no image
    counted = counted_event(question.text)
    if not question.options:
        query = taken.asked if content_words(taken.asked) else question.text
        return RewrittenQuestion(visual_query=visual, passage_queries=(query,), counted=counted)
    queries = tuple(statement(question, option) for option in question.options)
    by_option = asks_for_order(question.text) is not None and asks_for_order_alone(question.text)
    return RewrittenQuestion(
        visual_query=visual, passage_queries=queries, by_option=by_option, counted=counted
    )


def anchor_event(question: Question) -> AnchorEvent:
    """EgoFact, D.2.4: the event of a before or after; without one, the event that the question asks about."""
    taken = parts(question.text)
    if taken.event and taken.position != "within":
        asked = declarative(taken.core)
        named = says_more(asked)
        return AnchorEvent(description=taken.event, position=taken.position, target=asked if named else "")
    event = declarative(taken.core)
    if taken.event:
        event = f"{taken.event}, {event}"
    if not content_words(event) and taken.scene:
        event = taken.scene
    return AnchorEvent(description=event or question.text, position="within")


def decompose_facets(asked: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    question = replace(asked, text=Form.TIMES_DOES.sub("how does ", asked.text))
    taken = parts(question.text)
    event = declarative(taken.core)
    shown = event if says_more(event) else taken.scene or question.text
    if taken.event:
        shown = (
            f"{shown}, {taken.position} {taken.event}"
            if taken.position != "within"
            else f"{taken.event}, {shown}"
        )
    # A scene is found by all that it shows together; each word of it is seen in many others.
    scene = (taken.scene,) if len(content_words(taken.scene)) > 1 else ()
    keywords: dict[str, tuple[str, ...]] = {}
    events: dict[str, str] = {}
    stems = [word_set(option) for option in question.options]
    common = frozenset.intersection(*stems) if len(stems) > 1 else frozenset()
    for index, option in enumerate(question.options):
        label = option_label(index)
        own = tuple(word for word in entities(option, MOST_KEYWORDS) if not word_set(word) <= common)
        if own:
            keywords[label] = own
        events[label] = option_event(question, option) or option
    return Facets(
        query_keywords=(
            *scene,
            *entities(" ".join([taken.scene, taken.event, taken.core]), 2 * MOST_KEYWORDS),
        ),
        option_keywords=keywords,
        semantic_queries=events,
        general_semantic_query=shown or question.text or "the question",
        temporal_plan=_plan(taken.position, taken.event, asked.text),
        vlm_query=parts(asked.text).asked or asked.text,
    )


def _plan(position: str, event: str, text: str) -> str:
    if position != "within":
        return f"find “{event}” first, then watch what comes just {position} it"
    return next((plan for cue, plan in _PLACES if re.search(cue, text, re.IGNORECASE)), "")


def extract_keywords(asked: Question) -> Keywords:
    """Those of the question's own facet."""
    return Keywords(keywords=decompose_facets(asked).query_keywords)
