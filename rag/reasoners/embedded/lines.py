"""The lines of what is known of a video, and their relevance to a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from corpora.records import SPOKEN
from rag.reasoners.embedded.cues import joined_cues
from rag.relevance import text_relevance
from rag.words import content_words, lexical_overlap, word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.reasoners.embedded.scoring import SentenceVectors
    from rag.reasoners.roles.material import VideoView


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
    """Spoken cues put together into sentences, all else unchanged; in time order, each once."""
    found: dict[tuple[str, str, float], ScoredLine] = {}
    for kind in SPOKEN:
        spoken = [evidence for evidence in view.texts if evidence.kind == kind]
        for text, start, end in joined_cues(spoken):
            found.setdefault((kind, text, start), ScoredLine(text, kind, start, end))
    for evidence in view.texts:
        if evidence.kind not in SPOKEN:
            text = " ".join(evidence.text.split())
            found.setdefault(
                (evidence.kind, evidence.text, evidence.start),
                ScoredLine(text, evidence.kind, evidence.start, evidence.end),
            )
    return sorted(found.values(), key=lambda line: (line.start, line.end, line.kind, line.text))


def rank_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[ScoredLine]:
    """Lines with their relevance to `text`, best first; of equal ones the earlier."""
    wanted = content_words(text)
    if not wanted:
        return []
    held = lines(view)
    shared = [lexical_overlap(wanted, word_set(line.text)) for line in held]
    order = sorted(range(len(held)), key=lambda at: (-shared[at], at))[:MOST_LINES]
    kept = [held[at] for at in sorted(order)]
    scores = relevances(text, [line.text for line in kept], vectors)
    scored = [replace(line, relevance=score) for line, score in zip(kept, scores, strict=True)]
    return sorted(scored, key=lambda line: (-line.relevance, line.start, line.end, line.text))


def relevances(
    text: str,
    others: Sequence[str],
    vectors: SentenceVectors,
    stored: Mapping[str, NDArray[np.float32]] = MappingProxyType({}),
) -> list[float]:
    """Of each of the others to `text`, in [0, 1] (`text_relevance`).

    `stored`: vectors float32 (dim,) that need not be encoded, by text.
    """
    rows = vectors.of([text, *others], stored)
    wanted = content_words(text)
    return [
        text_relevance(float(rows[text] @ rows[other]), lexical_overlap(wanted, word_set(other)))
        for other in others
    ]
