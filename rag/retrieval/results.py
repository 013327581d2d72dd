"""What retrieval hands on: clips with what speaks for them, and passages."""

from __future__ import annotations

from dataclasses import dataclass

from corpora.records import Clip, Evidence, Passage


@dataclass(frozen=True, slots=True)
class RelevantSpan:
    evidence: Evidence
    relevance: float
    """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class RetrievedClip:
    clip: Clip
    path: str
    title: str
    score: float
    """In (0, 1]: reciprocal rank fusion; orders the clips of one query."""
    relevance: float
    """In [0, 1]: the greater of `pictured` and its spans' relevance; says whether it matches at all."""
    pictured: float
    """In [0, 1]: relevance of the clip's picture vector; 0 where there is none."""
    spans: tuple[RelevantSpan, ...]
    """Text evidence of the clip that the query found, in time order."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    passage: Passage
    path: str
    score: float
    relevance: float
