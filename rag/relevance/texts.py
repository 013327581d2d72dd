"""Relevance of a text to a question: cosine of sentence vectors and shared stems, as one number.

The curve was set on questions about small corpora of subtitles and passages
with all-MiniLM-L6-v2 (`benchmarks/answering_quality.py` measures it): answerable
questions are above 0.5 and unrelated ones below. Another text encoder has another spread, and needs
other constants.
"""

from __future__ import annotations

import math

MIDDLE = 0.47
ANSWER_MIDDLE = 0.59
SLOPE = 16.0
OVERLAP_WEIGHT = 0.12
"""What a full overlap of stems adds to the cosine."""


CHUNK_MIDDLE = 0.50
CHUNK_SLOPE = 12.0
CHUNK_OVERLAP_WEIGHT = 0.6


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), in (0, 1); `value` is clipped to [-60, 60]."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))


def text_relevance(cosine: float, overlap: float) -> float:
    """Relevance in [0, 1] of a sentence or a subtitle to a question.

    `cosine` of their sentence vectors, `overlap` of their stems in [0, 1]:
    logistic(16 (cosine + 0.12 overlap - 0.47)), rounded to 6 decimals.
    """
    return round(logistic(SLOPE * (cosine + OVERLAP_WEIGHT * overlap - MIDDLE)), 6)


def answer_confidence(cosine: float, overlap: float) -> float:
    """Confidence in [0, 1] that a sentence answers a question, not only that it is on the same subject.

    The relevance curve further up, logistic(16 (cosine + 0.12 overlap - 0.59)), so that the default
    threshold of 0.3 is between the right answers and the best sentences for unrelated questions.
    """
    return round(logistic(SLOPE * (cosine + OVERLAP_WEIGHT * overlap - ANSWER_MIDDLE)), 6)


def chunk_relevance(cosine: float, overlap: float, words: int) -> float:
    """Relevance in [0, 1] of a passage of many sentences to a question of `words` stems.

    One answering sentence hardly changes the vector of a whole passage, but unrelated passages rarely
    contain the question's words, so these weigh more, and more so the more of them there are:
    logistic(12 (cosine + 0.6 overlap words / (words + 1) - 0.5)), rounded to 6 decimals.
    """
    shared = CHUNK_OVERLAP_WEIGHT * overlap * words / (words + 1)
    return round(logistic(CHUNK_SLOPE * (cosine + shared - CHUNK_MIDDLE)), 6)
