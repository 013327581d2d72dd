"""From a question's queries to clips, passages and localized windows, out of what the library holds."""

from __future__ import annotations

from rag.retrieval.ranking import RelevantSpan, RetrievedClip, RetrievedPassage
from rag.retrieval.retriever import Kind, Retriever

__all__ = ["Kind", "RelevantSpan", "RetrievedClip", "RetrievedPassage", "Retriever"]
