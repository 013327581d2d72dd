"""Results of retrieval: clips with the text evidence found in them, and passages."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.records import Clip, Evidence, Passage


@dataclass(frozen=True, slots=True)
class RelevantSpan:
    """Text evidence and its relevance to a query."""

    evidence: Evidence
    relevance: float
    """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class RetrievedClip:
    """A clip that retrieval found, before it is localized."""

    clip: Clip
    path: str
    title: str
    score: float
    """In (0, 1]: reciprocal rank fusion; orders the clips of one query."""
    relevance: float
    """In [0, 1]: the greatest of `image_relevance` and its spans' relevance; comparable between queries."""
    image_relevance: float
    """In [0, 1]: relevance of the clip's image embedding; 0 where there is none."""
    spans: tuple[RelevantSpan, ...]
    """Text evidence of the clip that the query found, in time order."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage that retrieval found."""

    passage: Passage
    path: str
    score: float
    """In (0, 1]: reciprocal rank fusion; orders the passages of one query."""
    relevance: float
    """In [0, 1], comparable between queries."""
    option: int | None = None
    """Index of the option it was retrieved for; None where it is for the whole question."""
