"""Searches out of fragments of memory, by rules: what is named goes first, then what the whole is about.

No world knowledge: a title is guessed only where the memory itself names one.
"""

from __future__ import annotations

import re

from rag.reasoners.embedded.phrases import entities, names, worded
from rag.reasoners.roles import Hypothesis, ImaginedQueries, ImagineRequest

__all__ = ["imagine_queries"]

LONGEST_QUERY = 8
MOST_ANCHORS = 6
_FORMAT = re.compile(
    r"\b(?:meme|trend|challenge|tutorial|how[- ]to|review|unboxing|vlog|compilation|trailer|advert\w*|"
    r"commercial|music video|dance|gameplay|documentary|news|interview|time[- ]?lapse|animation|cartoon)\b",
    re.IGNORECASE,
)


def imagine_queries(request: ImagineRequest) -> ImaginedQueries:
    """Exactly `count` different queries; the memory's own words, the most telling first."""
    memory = request.memory
    told = [memory.global_impression, memory.key_moment, memory.before, memory.after, memory.auditory_memory]
    whole = ". ".join(part.strip().rstrip(".") for part in (*told, memory.constraint) if part.strip())
    anchors = entities(whole, MOST_ANCHORS)
    hypotheses = _hypotheses(whole, memory.global_impression or memory.key_moment)
    found = [
        worded(". ".join([*names(whole)[:2], memory.global_impression or memory.key_moment]), LONGEST_QUERY),
        worded(memory.global_impression, LONGEST_QUERY),
        worded(memory.key_moment, LONGEST_QUERY),
        *(f"{form.lower()} {worded(whole, 5)}" for form in _FORMAT.findall(whole)[:1]),
        worded(f"{memory.before} {memory.after}", LONGEST_QUERY),
        worded(memory.auditory_memory, LONGEST_QUERY),
        *anchors,
        worded(whole, LONGEST_QUERY),
    ]
    return ImaginedQueries(
        thought=f"The memory's own words that set it apart: {', '.join(anchors) or 'none'}.",
        anchors=anchors,
        hypotheses=hypotheses,
        chosen=0 if hypotheses else None,
        queries=_different(found, request.count, whole),
    )


def _hypotheses(whole: str, about: str) -> tuple[Hypothesis, ...]:
    found = []
    if named := names(whole):
        found.append(Hypothesis(kind="source", guess=f"something that is called {named[0]}"))
    if form := _FORMAT.search(whole):
        found.append(Hypothesis(kind="format", guess=f"a video of the form “{form[0].lower()}”"))
    if words := worded(about, LONGEST_QUERY):
        found.append(Hypothesis(kind="literal", guess=f"a recording of {words}"))
    return tuple(found)


def _different(found: list[str], count: int, whole: str) -> tuple[str, ...]:
    plain = [" ".join(query.split()) for query in found]
    kept = list({query.casefold(): query for query in reversed(plain) if query}.values())[::-1]
    number = 1
    while len(kept) < count:
        number += 1
        words = whole.split()[:LONGEST_QUERY] or ["video"]
        kept.append(" ".join([*words, f"part {number}"]))
    return tuple(kept[: max(1, count)])
