"""What a question of the synthetic world asks, and how well perceived facts answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eval.simulated_model.language import Clause, agreement, clause_of, setting
from eval.simulated_model.perception import Fact, View
from eval.simulated_model.request import Text
from rag.words import content_words, lexical_overlap, word_set

Asks = Literal[
    "thing", "statement", "action", "cause", "order", "events", "parts", "announced", "next", "text"
]
_ANCHOR = re.compile(r"(?:^|[.,;] )(before|after) (.+?), (?=what|which|who|where|why|how)", re.IGNORECASE)
_ASKED = (
    ("statement", r"which statement is true about the object that (?P<clause>.+?)\?"),
    ("thing", r"what is the object that (?P<clause>.+?)\?"),
    ("action", r"what does (?P<clause>[^,?]+ do with [^?]+)\?"),
    ("next", r"after the voice says [“\"](?P<clause>.+?)[”\"]"),
    ("announced", r"which part of the \w+ does the voice announce(?P<clause>)"),
    ("parts", r"how many parts of the \w+ take place in (?P<clause>.+?)\?"),
    ("events", r"how many times .*?(?P<clause>somebody .+?)\?"),
    ("order", r"which of these happens (?P<clause>first|last)"),
    ("cause", r"why (?P<clause>(?:does|is) .+?)\?"),
    ("text", r"(?P<clause>(?:note|card|screen|speaker|voice))\b"),
    ("thing", r"what does (?P<clause>[^?]+)\?"),
)
LEAST_AGREEMENT = 0.45
"""Agreement from which a fact is what was asked about."""
OUT_OF_PLACE = 0.35
"""Weight of a fact on the wrong side of the anchor, or in another setting."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is understood."""

    text: str
    asks: Asks
    words: str
    """The part that the form of the question leaves open."""
    clause: Clause
    setting: frozenset[str]
    anchor: Clause | None
    side: str
    """`before` or `after`; empty without an anchor."""


def understand(text: str) -> Asked:
    """A question of any wording; one of a form that is unknown asks for `text`."""
    plain = " ".join(text.split())
    asks, words = "text", plain
    for name, pattern in _ASKED:
        if match := re.search(pattern, plain, re.IGNORECASE):
            asks, words = name, match["clause"]
            break
    anchor = _ANCHOR.search(plain) if asks != "next" else None
    clause = clause_of(words) if asks in ("thing", "statement", "action", "events", "cause") else Clause()
    if asks in ("thing", "statement"):
        clause = replace(clause, kind_id=None, family=None)
    elif asks in ("action", "cause"):
        clause = Clause(agent=clause.agent, kind_id=clause.kind_id)
    return Asked(
        text=plain,
        asks=asks,  # type: ignore[arg-type]  # the names above are those of the type
        words=words,
        clause=clause,
        setting=setting(plain if asks != "parts" else words),
        anchor=clause_of(anchor[2]) if anchor else None,
        side=anchor[1].lower() if anchor else "",
    )


def around(asked: Asked, found: frozenset[str]) -> float:
    """How well a setting fits that of the question, in (0, 1]; 1 where the question names none."""
    if not asked.setting:
        return 1.0
    scenes = {each for each in asked.setting if each.startswith("scene:")}
    here = {each for each in found if each.startswith("scene:")}
    share = len(asked.setting & found) / len(asked.setting)
    if scenes and here and not scenes & here:
        return 0.1 + 0.1 * share
    return 0.3 + 0.7 * share if found else 0.4


def fact_scores(asked: Asked, facts: Sequence[Fact], clause: Clause) -> list[float]:
    """Of each fact, how well it is the event of `clause` in the question's setting and at its time."""
    plain = [agreement(fact.clause, clause) * around(asked, fact.setting) for fact in facts]
    if asked.anchor is None:
        return plain
    anchors = [
        (agreement(fact.clause, asked.anchor) * around(asked, fact.setting), fact)
        for fact in facts
        if agreement(fact.clause, asked.anchor) >= LEAST_AGREEMENT
    ]
    if not anchors:
        return plain
    best = max(score for score, _ in anchors)
    held = [fact for score, fact in anchors if score > 0.8 * best]
    return [score * _in_time(asked.side, fact, held) for score, fact in zip(plain, facts, strict=True)]


def _in_time(side: str, fact: Fact, anchors: Sequence[Fact]) -> float:
    """1 close to the anchor on its right side, less far away, little on the other side or elsewhere."""
    best = OUT_OF_PLACE
    for anchor in anchors:
        if anchor.source != fact.source or anchor is fact:
            continue
        gap = fact.start - anchor.start if side == "after" else anchor.start - fact.start
        if gap > 0:
            best = max(best, 1.0 - min(gap, 60.0) / 120.0)
    return best


def all_facts(views: Sequence[View]) -> list[Fact]:
    """Of all blocks, in their order."""
    return [fact for view in views for fact in view.facts]


def text_scores(asked: Asked, views: Sequence[View]) -> list[tuple[float, Text, View]]:
    """Every line of words with how well it speaks to the question, best first; in its setting first."""
    wanted = content_words(asked.text.split(", ")[-1])
    found = []
    for view in views:
        for text in view.texts:
            overlap = lexical_overlap(wanted, word_set(text.text))
            found.append((overlap * around(asked, view.setting_at(text.start, text.end)), text, view))
    return sorted(found, key=lambda row: -row[0])


def events_of(facts: Sequence[Fact], clause: Clause) -> list[Fact]:
    """The different events that fit, by time; what is seen and said of one event counts once."""
    found: list[Fact] = []
    for fact in sorted(facts, key=lambda fact: fact.start):
        if agreement(fact.clause, clause) < LEAST_AGREEMENT:
            continue
        if found and fact.start - found[-1].end < 2.0:
            continue
        found.append(fact)
    return found
