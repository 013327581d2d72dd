"""What the options of a question claim, in words of the question and their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag.reasoners.embedded.question_forms import Form, bare, declarative, parts, says_more
from rag.records import Question
from rag.words import content_words

LONGEST_FILLER = 6
"""Words of an option that may stand for the "something" of the question's event."""
_TWO_HOP = re.compile(r"^\s*(?P<when>(?:when|while|for|in|during) [^.]+)\. (?P<claim>.+)$", re.I | re.DOTALL)
_OPENING_WORDS = frozenset(
    ["the", "a", "an", "it", "when", "while", "for", "in", "during", "if", "its", "this"]
)


@dataclass(frozen=True, slots=True)
class TwoHop:
    """An option of the form "When X. The object does Y." (EgoFact, section 2.2)."""

    when: str
    claim: str


def two_hop(option: str) -> TwoHop | None:
    """The two parts of a two-hop option; None for any other text."""
    found = _TWO_HOP.match(option)
    return TwoHop(" ".join(found["when"].split()), found["claim"].strip()) if found else None


def spelled_out(question: Question) -> Question:
    """With what Yes and No claim in place of such options: "wear glasses", "not wear glasses"."""
    answers = [option.strip(" .!").casefold() for option in question.options]
    claim = declarative(parts(question.text).asked)
    if sorted(answers) != ["no", "yes"] or not content_words(claim):
        return question
    options = tuple(claim if answer == "yes" else f"not {claim}" for answer in answers)
    return replace(question, options=options)


def topic_of(question: Question) -> str:
    """What the options are about, where the question itself says it in words of its own; else empty."""
    core = bare(parts(question.text).core)
    found = Form.TRUE_OF.search(core)
    topic = found["topic"] or "" if found else declarative(core)
    hidden = re.match(r"(?:the|an?|some) (?:object|thing|item)\b|something\b", topic, re.IGNORECASE)
    return "" if (hidden and found) or not content_words(topic) else topic


def statement(question: Question, option: str) -> str:
    """What an option claims, after the question's own topic: "the torque wrench: it loosens bolts"."""
    topic = topic_of(question)
    body = option.strip().rstrip(". ")
    hop = two_hop(body)
    body = f"{_lower(hop.when)}, {_lower(hop.claim)}" if hop else _lower(body)
    body = re.sub(r"\b[Tt]he object\b", "some object", body)
    return f"{topic}: {body}" if topic else body


def option_event(question: Question, option: str) -> str:
    """The event that shows an option to be right: put into the question's event, or unchanged."""
    body = " ".join(option.split()).rstrip(". ")
    if two_hop(option):
        return statement(question, option)
    event = declarative(parts(question.text).core)
    short = len(body.split()) <= LONGEST_FILLER
    if "something" in event and short and says_more(event):
        return event.replace("something", body[:1].lower() + body[1:], 1)
    return statement(question, option)


def _lower(text: str) -> str:
    """The first letter small, unless the word is a name or an abbreviation."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[:1].lower() + text[1:] if first.lower() in _OPENING_WORDS else text
