"""What the options of a question claim, in words of the question and their own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag.function_words import FUNCTION_WORDS
from rag.reasoners.embedded.question_forms import Form, bare, declarative, parts
from rag.records import Question
from rag.words import content_words

_TWO_HOP = re.compile(r"^\s*(?P<when>(?:when|while|for|in|during) [^.]+)\. (?P<claim>.+)$", re.I | re.DOTALL)


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
    claim = declarative(parts(question.text).asked)
    claims = {"yes": claim, "no": f"not {claim}"}
    answers = [option.strip(" .!").casefold() for option in question.options]
    if sorted(answers) != ["no", "yes"] or not content_words(claim):
        return question
    return replace(question, options=tuple(claims[answer] for answer in answers))


def statement(question: Question, option: str) -> str:
    """What an option claims, after the question's own topic: "the torque wrench: it loosens bolts"."""
    core = bare(parts(question.text).core)
    found = Form.TRUE_OF.search(core)
    topic = (found["topic"] or "") if found else declarative(core)
    # What is asked for is no topic: "true about the object that she holds".
    hidden = found and re.match(r"(?:the|an?|some) (?:object|thing|item)\b", topic, re.IGNORECASE)
    body = option.strip().rstrip(". ")
    hop = two_hop(body)
    body = f"{_lower(hop.when)}, {_lower(hop.claim)}" if hop else _lower(body)
    body = re.sub(r"\b[Tt]he object\b", "some object", body)
    return body if hidden or not content_words(topic) else f"{topic}: {body}"


def _lower(text: str) -> str:
    """The first letter small where the word opens a sentence only."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[:1].lower() + text[1:] if first.lower() in FUNCTION_WORDS else text
