"""What the words of a view say for a text: its sentences, each with its time and its relevance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.reasoners.embedded.sentences import joined_cues
from rag.relevance import content_words, lexical_overlap, text_relevance

if TYPE_CHECKING:
    from corpora.records import Evidence
    from rag.reasoners.embedded.vectors import SentenceVectors
    from rag.reasoners.roles import VideoView

_SAYING = re.compile(
    r"\b(?:do|does|did)\s+(?:the\s+)?\w+(?:\s+\w+)?\s+(?:say|mention|announce|explain|claim|tell\s+us)\b(?:\s+that\b)?",
    re.IGNORECASE,
)

MOST_LINES = 24
"""Lines that are worth a vector for one text; those that share most of its words."""


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """[start, end) seconds."""

    text: str
    kind: str
    start: float
    end: float
    relevance: float = 0.0


def lines(view: VideoView) -> list[ScoredLine]:
    """Spoken cues put together into sentences, all else as it stands; in time order, each once."""
    found: dict[tuple[str, str, float], ScoredLine] = {}
    for kind in ("subtitle", "asr"):
        spoken = [evidence for evidence in view.texts if evidence.kind == kind]
        for text, start, end in joined_cues(spoken):
            found.setdefault((kind, text, start), ScoredLine(text, kind, start, end))
    for evidence in view.texts:
        if evidence.kind not in ("subtitle", "asr"):
            found.setdefault((evidence.kind, evidence.text, evidence.start), _as_it_stands(evidence))
    return sorted(found.values(), key=lambda line: (line.start, line.end, line.kind, line.text))


def rank_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[ScoredLine]:
    """Lines with their relevance to `text`, best first; of equal ones the earlier."""
    if not content_words(text):
        return []
    wanted = content_words(text)
    held = lines(view)
    shared = [lexical_overlap(wanted, set(content_words(line.text))) for line in held]
    order = sorted(range(len(held)), key=lambda at: (-shared[at], at))[:MOST_LINES]
    kept = [held[at] for at in sorted(order)]
    scores = relevances(text, [line.text for line in kept], vectors)
    scored = [
        ScoredLine(line.text, line.kind, line.start, line.end, score)
        for line, score in zip(kept, scores, strict=True)
    ]
    return sorted(scored, key=lambda line: (-line.relevance, line.start, line.end, line.text))


def speech_question(text: str) -> str:
    """What a question about somebody's words asks, without the saying; empty for any other question.

    "Who does the speaker say gave the best advice?" is "Who gave the best advice?", and no frame shows it.
    """
    left = _SAYING.sub(" ", text, count=1)
    return "" if left == text else " ".join(left.split())


def relevances(text: str, others: Sequence[str], vectors: SentenceVectors) -> list[float]:
    """Of each of the others to `text`, in [0, 1] (`text_relevance`)."""
    rows = vectors.of([text, *others])
    wanted = content_words(text)
    return [
        text_relevance(float(rows[text] @ rows[other]), lexical_overlap(wanted, set(content_words(other))))
        for other in others
    ]


def _as_it_stands(evidence: Evidence) -> ScoredLine:
    return ScoredLine(" ".join(evidence.text.split()), evidence.kind, evidence.start, evidence.end)
