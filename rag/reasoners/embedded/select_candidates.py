"""Which search results to open, by their metadata alone (Video-Browser, section 4.2, stage I)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from rag.reasoners.embedded.lines import relevances
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.roles.select_candidates import Candidate, SelectedCandidates, SelectRequest

NEAR = 0.8
"""Share of the best relevance from which a result is worth opening beside it."""
LEAST = 0.02
"""Relevance below which a result says nothing of what is asked for."""
DESCRIPTION = 300


def select_candidates(request: SelectRequest, vectors: SentenceVectors) -> SelectedCandidates:
    """At most `top_k`, those near the best relevance."""
    texts = [_text(candidate) for candidate in request.candidates]
    values = relevances(request.sub_question or request.question, texts, vectors)
    least = max(LEAST, NEAR * max(values, default=0.0))
    ordered = sorted(range(len(texts)), key=lambda at: -values[at])
    chosen = [at for at in ordered if values[at] >= least][: request.top_k]
    best = f"; the best is “{request.candidates[chosen[0]].title}”" if chosen else ""
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
