"""From a question's queries to localized windows and passages, out of what the library holds."""

from __future__ import annotations

from rag.retrieval.fusion import Fused, fuse
from rag.retrieval.results import RelevantSpan, RetrievedClip, RetrievedPassage
from rag.retrieval.retriever import Kind, Retriever

__all__ = ["Fused", "Kind", "RelevantSpan", "RetrievedClip", "RetrievedPassage", "Retriever", "fuse"]
