"""Relevance of a text or an image to a question, in [0, 1], comparable between questions."""

from __future__ import annotations

from rag.relevance.image_relevance import ImageScoreCalibrator
from rag.relevance.texts import answer_confidence, chunk_relevance, logistic, text_relevance
from rag.relevance.words import content_words, lexical_overlap, numbers, stem, tokens

__all__ = [
    "ImageScoreCalibrator",
    "answer_confidence",
    "chunk_relevance",
    "content_words",
    "lexical_overlap",
    "logistic",
    "numbers",
    "stem",
    "text_relevance",
    "tokens",
]
