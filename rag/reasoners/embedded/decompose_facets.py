"""A question taken apart into entities and events by the rules of rewriting (VideoDetective, D.1)."""

from __future__ import annotations

import re
from dataclasses import replace

from rag.questions import option_label
from rag.reasoners.embedded.phrases import entities
from rag.reasoners.embedded.rewriting import declarative, parts, statement, two_hop
from rag.reasoners.roles import Facets
from rag.records import Question
from rag.relevance import content_words

MOST_KEYWORDS = 5
LONGEST_FILLER = 6
"""Words of an option that may stand for the "something" of the question's event."""

_COUNTED = re.compile(r"\bhow (?:many times|often) (?:does|do|did) ", re.IGNORECASE)
_SIDES = {"before": "just before", "after": "just after"}
_PLACES = (
    (r"\b(?:at the (?:start|beginning)|in the beginning|opening|first)\b", "look at the beginning first"),
    (r"\b(?:at the end|in the end|finally|closing|last)\b", "look at the end first"),
    (r"\bhow (?:many times|often)\b|\bhow many\b", "look at all places where it happens, and count them"),
    (r"\border\b|\bsequence\b|\bfirst\b.*\bthen\b", "find each event, then compare their times"),
)


def decompose_facets(asked: Question) -> Facets:
    """The question's own facet and one an option; words that all options share set none of them apart."""
    question = replace(asked, text=_COUNTED.sub("how does ", asked.text))
    taken = parts(question.text)
    event = declarative(taken.core)
    told = event if content_words(event.replace("something", "")) else taken.scene or question.text
    if taken.event:
        told = (
            f"{told}, {taken.position} {taken.event}"
            if taken.position != "within"
            else f"{taken.event}, {told}"
        )
    # A scene is found by all that it shows together; each word of it is seen in many others.
    scene = (taken.scene,) if len(content_words(taken.scene)) > 1 else ()
    keywords: dict[str, tuple[str, ...]] = {}
    events: dict[str, str] = {}
    stems = [set(content_words(option)) for option in question.options]
    common = set.intersection(*stems) if len(stems) > 1 else set()
    for index, option in enumerate(question.options):
        label = option_label(index)
        own = tuple(
            word for word in entities(option, MOST_KEYWORDS) if not set(content_words(word)) <= common
        )
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
        general_semantic_query=told or question.text or "the question",
        temporal_plan=_plan(taken.position, taken.event, asked.text),
        vlm_query=parts(asked.text).asked or asked.text,
    )


def option_event(question: Question, option: str) -> str:
    """The event that shows an option to be right: put into the question's event, or as it stands."""
    body = " ".join(option.split()).rstrip(". ")
    if two_hop(option):
        return statement(question, option)
    event = declarative(parts(question.text).core)
    short = len(body.split()) <= LONGEST_FILLER
    if "something" in event and short and content_words(event.replace("something", "")):
        return event.replace("something", body[:1].lower() + body[1:], 1)
    return statement(question, option)


def _plan(position: str, event: str, text: str) -> str:
    if position in _SIDES:
        return f"find “{event}” first, then watch what comes {_SIDES[position]} it"
    return next((plan for cue, plan in _PLACES if re.search(cue, text, re.IGNORECASE)), "")
