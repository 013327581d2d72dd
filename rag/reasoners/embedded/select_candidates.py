"""Which search results to open, by their metadata alone (Video-Browser, section 4.2, stage I)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from rag.reasoners.roles.select_candidates import Candidate, SelectedCandidates, SelectRequest
from rag.words import content_words, lexical_overlap, rarity, word_set

if TYPE_CHECKING:
    from rag.reasoners.embedded.scoring import SentenceVectors

OVERLAP, WHOLE, PLACE = 0.6, 0.3, 0.05
"""Weights beside the cosine: shared words, the whole question, and a high place in the search."""
SAME_DAY = 0.5
"""For an upload of the day that is named."""
NEAR = 0.8
"""Share of the best value from which a result is worth opening beside it."""
LEAST = 0.08
"""Value below which a result says nothing of what is asked for."""
SAME_LENGTH = 1.5
"""Seconds by which a re-upload's length may differ."""
DESCRIPTION = 300


def select_candidates(request: SelectRequest, vectors: SentenceVectors) -> SelectedCandidates:
    """At most `top_k`, those near the best value; of two that look like one video the first found."""
    results, texts = request.candidates, [_text(candidate) for candidate in request.candidates]
    held = [word_set(text) for text in texts]
    weights = rarity(held)
    asked = {request.question: WHOLE} | {request.sub_question or request.question: 1.0}
    rows = vectors.of([*asked, *texts]) if texts else {}
    values = []
    for at, text in enumerate(texts):
        fits = SAME_DAY if _day(results[at]) and any(_day(results[at]) in query for query in asked) else 0.0
        for query, share in asked.items():
            overlap = lexical_overlap(content_words(query), held[at], weights)
            fits += share * float(rows[query] @ rows[text] + OVERLAP * overlap)
        values.append(round(fits / sum(asked.values()) + PLACE / (1 + at), 6))
    least = max(LEAST, NEAR * max(values, default=0.0))
    chosen: list[int] = []
    for at in sorted(range(len(texts)), key=lambda i: (-values[i], i)):
        again = any(_same(results[at], results[other]) for other in chosen)
        if len(chosen) < request.top_k and values[at] >= least and not again:
            chosen.append(at)
    best = f"; the best is “{results[chosen[0]].title}” at {values[chosen[0]]:.2f}" if chosen else ""
    return SelectedCandidates(
        selected=tuple(chosen),
        reason=f"Ranked {len(texts)} results by how well their metadata fit in words and sense{best}.",
    )


def _text(candidate: Candidate) -> str:
    about, tags = candidate.description[:DESCRIPTION], ", ".join(candidate.tags)
    parts = (candidate.title, about, tags, candidate.channel, _day(candidate))
    return ". ".join(" ".join(part.split()) for part in parts if part.strip()) or "untitled"


def _day(candidate: Candidate) -> str:
    """Of the upload, as a question says it: 20240305 is "5 March 2024"."""
    with suppress(ValueError):
        day = datetime.strptime(candidate.upload_date.replace("-", ""), "%Y%m%d")
        return f"{day.day} {day:%B %Y}"
    return candidate.upload_date


def _same(one: Candidate, other: Candidate) -> bool:
    """The same title and nearly the same length: a re-upload."""
    alike = content_words(one.title) == content_words(other.title)
    return alike and bool(one.duration) and abs(one.duration - other.duration) <= SAME_LENGTH
