"""The planner by rules: parts of the question, what is known of each, leads, and queries for what is missing.

Video-Browser, figure 18. A part is solved where a verified video's finding
speaks to it, partial where a watched one does. A part that points back to an
earlier one is searched with the words that the earlier one's finding added.
Only with the last step at hand are all missing parts searched at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from rag.reasoners.embedded.lines import relevances
from rag.reasoners.embedded.phrases import content_runs, names, new_phrases, query_words
from rag.reasoners.embedded.question_forms import declarative, parts
from rag.reasoners.embedded.question_parts import decompose, refers_back
from rag.reasoners.roles.plan import KnownVideo, Plan, PlanRequest, SubQuestion
from rag.words import content_words, split_sentences, word_set

if TYPE_CHECKING:
    from rag.reasoners.embedded.scoring import SentenceVectors

MIN_RELEVANCE = 0.5
"""Relevance of a finding from which it speaks to a part (`text_relevance`: answerable ones are above)."""
MOST_LEADS = 6
LONGEST_QUERY = 10
MOST_LINES = 24

_NARRATION = re.compile(r"\b(?:First|Next|Then|Now|Finally|Lastly)(?:,|(?= I\b))|\bI\b(?:['’]\w+)?")
"""Capitals of speech that are no names: "Finally I add ..."."""


def plan(request: PlanRequest, vectors: SentenceVectors) -> Plan:
    """Update the sub-questions, and give at most `max_queries` new queries."""
    texts = [part.text for part in request.sub_questions] or decompose(request.question.text)
    subs = [_known(text, request.known, vectors) for text in texts]
    known = " ".join([request.question.text, *request.question.options])
    # A summary also holds messages ("no frame fits"), which lead nowhere.
    read = [text for video in _by_status(request.known) for text in video.read]
    leads = new_phrases([_NARRATION.sub("", text) for text in read], known, MOST_LEADS)
    # What is partial waits for videos that were watched: to search on would only add others.
    open_parts = [at for at, part in enumerate(subs) if part.status == "missing"]
    searched = open_parts if request.step >= request.max_steps else open_parts[:1]
    per_part = [_queries(at, subs, leads, read, request) for at in searched]
    # The first of each, then the second of each, and so on.
    queries = _untried(chain.from_iterable(zip_longest(*per_part, fillvalue="")), request)
    focus = open_parts[0] if open_parts else None
    return Plan(
        thought=_thought(subs, leads, focus),
        sub_questions=tuple(subs),
        focus=focus,
        leads=leads,
        search_queries=queries,
    )


def _known(text: str, known: Sequence[KnownVideo], vectors: SentenceVectors) -> SubQuestion:
    """What the videos say of one part: verified ones first."""
    for status, solves in (("verified", True), ("watched", False)):
        sentences = [
            sentence
            for video in known
            if video.status == status
            for sentence in split_sentences(video.summary)
        ]
        if not sentences or not content_words(text):
            continue
        # The last videos are the ones that were searched for this part.
        sentences = sentences[-MOST_LINES:]
        scores = relevances(text, sentences, vectors)
        best = scores.index(max(scores))
        if scores[best] >= MIN_RELEVANCE:
            finding = _unquoted(sentences[best])
            return SubQuestion(text=text, status="solved" if solves else "partial", finding=finding)
    return SubQuestion(text=text)


def _unquoted(sentence: str) -> str:
    """Without the one mark of a quotation that goes on before or behind the sentence."""
    return sentence if sentence.count("“") == sentence.count("”") else re.sub("[“”]", "", sentence)


def _queries(
    at: int, subs: Sequence[SubQuestion], leads: Sequence[str], read: Sequence[str], request: PlanRequest
) -> list[str]:
    """Of one part, the most specific first; later ones say less, or ask from another side."""
    text = subs[at].text
    own = query_words(text, LONGEST_QUERY)
    taken = parts(text)
    found: list[str] = []
    if at and refers_back(text):
        before = subs[at - 1]
        named = new_phrases([before.finding], f"{before.text} {text}", MOST_LEADS)
        carried = [phrase for phrase in named if any(phrase in found_text for found_text in read)][:2]
        found += [f"{phrase} {query_words(text, LONGEST_QUERY - 3)}" for phrase in (*carried, *leads)]
        found.append(f"{query_words(before.text, 5)} {query_words(text, 5)}")
    found += [
        own,
        query_words(declarative(taken.core), LONGEST_QUERY),
        query_words(taken.scene, LONGEST_QUERY),
        query_words(taken.event, LONGEST_QUERY),
        " ".join(names(text)[:3]),
    ]
    found += [f"{lead} {query_words(text, 4)}" for lead in leads]
    plain = content_runs(text)
    found += [" ".join(plain[:2]), " ".join(plain[-2:]), *plain]
    found.append(query_words(request.question.text, LONGEST_QUERY))
    return found


def _untried(queries: Iterable[str], request: PlanRequest) -> tuple[str, ...]:
    """None that was tried, none twice: words in another order are the same query to a search engine."""
    seen = {word_set(tried.query) for tried in request.tried}
    found: list[str] = []
    for query in queries:
        stems = word_set(query)
        if stems and stems not in seen and len(found) < request.max_queries:
            seen.add(stems)
            found.append(" ".join(query.split()))
    return tuple(found)


def _by_status(known: Sequence[KnownVideo]) -> list[KnownVideo]:
    """Verified, then watched, then rejected ones; of each the last first."""
    return [
        video
        for status in ("verified", "watched", "rejected")
        for video in reversed(known)
        if video.status == status
    ]


def _thought(subs: Sequence[SubQuestion], leads: Sequence[str], focus: int | None) -> str:
    lines = [f"{at + 1}. {part.text} [{part.status}]" for at, part in enumerate(subs)]
    lines.append(f"Leads: {', '.join(leads)}." if leads else "No leads.")
    done = "Every part is solved, or waits for what was watched."
    lines.append(f"Next: part {focus + 1}." if focus is not None else done)
    return " ".join(lines)
