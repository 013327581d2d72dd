"""Which search results to open, by their metadata alone (Video-Browser, section 4.2, stage I)."""

from __future__ import annotations

import re
from calendar import month_name
from typing import TYPE_CHECKING

from rag.reasoners.roles.select_candidates import Candidate, SelectedCandidates, SelectRequest
from rag.words import content_words, lexical_overlap, rarity, word_set

if TYPE_CHECKING:
    from rag.reasoners.embedded.scoring import SentenceVectors

OVERLAP, WHOLE, PLACE = 0.6, 0.3, 0.05
"""Weights beside the cosine: shared words, the whole question, and a high place in the search."""
LEAST = 0.08
"""Value below which a result says nothing of what is asked for."""
NEAR = 0.8
"""Share of the best value from which a result is worth opening beside it."""
SAME_DAY = 0.4
"""For an upload of the very day that the question names; off for one of another day."""
SAME_LENGTH = 1.5
"""Seconds by which a re-upload's length may differ."""
DESCRIPTION = 300
MONTHS = tuple(month_name)[1:]
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})\b"
_DAYS = (
    re.compile(rf"\b{_DAY}(?: of)? (?P<month>{_MONTH})\.?,? {_YEAR}", re.IGNORECASE),
    re.compile(rf"\b(?P<month>{_MONTH})\.? {_DAY},? {_YEAR}", re.IGNORECASE),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
)
_DATE = re.compile(r"^(\d{4})-?(\d{2})-?(\d{2})")


def select_candidates(request: SelectRequest, vectors: SentenceVectors) -> SelectedCandidates:
    """At most `top_k`, those near the best value; of two that look like one video the first found."""
    texts = [_text(candidate) for candidate in request.candidates]
    held = [word_set(text) for text in texts]
    weights = rarity(held)
    sub = request.sub_question or request.question
    rows = vectors.of([sub, request.question, *texts]) if texts else {}
    values = []
    for at, (text, words) in enumerate(zip(texts, held, strict=True)):
        value = 0.0
        for query, share in ((sub, 1.0), (request.question, WHOLE)):
            overlap = lexical_overlap(content_words(query), words, weights)
            value += share * (float(rows[query] @ rows[text]) + OVERLAP * overlap)
        value = value / (1 + WHOLE) + PLACE / (1 + at)
        values.append(round(value + _on_the_day(request, request.candidates[at]), 6))
    least = max(LEAST, NEAR * max(values, default=0.0))
    chosen: list[int] = []
    for at in sorted(range(len(texts)), key=lambda i: (-values[i], i)):
        again = any(_same(request.candidates[at], request.candidates[other]) for other in chosen)
        if len(chosen) < request.top_k and values[at] >= least and not again:
            chosen.append(at)
    best = (
        f"; the best is “{request.candidates[chosen[0]].title}” at {values[chosen[0]]:.2f}" if chosen else ""
    )
    return SelectedCandidates(
        selected=tuple(chosen),
        reason=f"Ranked {len(texts)} results by how well their metadata fit in words and sense{best}.",
    )


def _on_the_day(request: SelectRequest, candidate: Candidate) -> float:
    """What the day that is searched for says for a result; nothing where one of the two has none."""
    wanted = days_in(request.sub_question or request.question)
    uploaded = _DATE.match(candidate.upload_date)
    if not wanted or not uploaded:
        return 0.0
    year, month, day = (int(part) for part in uploaded.groups())
    return SAME_DAY if (year, month, day) in wanted else -SAME_DAY


def days_in(text: str) -> set[tuple[int, int, int]]:
    """(year, month, day) of each date in a text: "5 March 2024", "Mar 5th, 2024", "2024-03-05"."""
    return {
        (int(found["year"]), _month_number(found["month"]), int(found["day"]))
        for pattern in _DAYS
        for found in pattern.finditer(text)
    }


def _month_number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return 1 + next(at for at, month in enumerate(MONTHS) if month[:3].casefold() == text[:3].casefold())


def _text(candidate: Candidate) -> str:
    parts = [
        candidate.title,
        candidate.description[:DESCRIPTION],
        ", ".join(candidate.tags),
        candidate.channel,
        _worded_date(candidate.upload_date),
    ]
    return ". ".join(" ".join(part.split()) for part in parts if part.strip()) or "untitled"


def _worded_date(date: str) -> str:
    """As a question says it: 20240305 is "5 March 2024"."""
    found = _DATE.match(date)
    if not found or not 1 <= int(found[2]) <= 12:
        return date
    return f"{int(found[3])} {MONTHS[int(found[2]) - 1]} {found[1]}"


def _same(one: Candidate, other: Candidate) -> bool:
    """The same title and nearly the same length: a re-upload."""
    alike = content_words(one.title) == content_words(other.title)
    return alike and bool(one.duration) and abs(one.duration - other.duration) <= SAME_LENGTH
