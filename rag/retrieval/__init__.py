"""From a question's queries to localized windows and passages, out of what the library holds."""

from __future__ import annotations

from rag.retrieval.fusion import Fused, fuse
from rag.retrieval.results import FoundClip, FoundPassage, RelevantSpan
from rag.retrieval.retriever import Kind, Retriever

__all__ = ["FoundClip", "FoundPassage", "Fused", "Kind", "RelevantSpan", "Retriever", "fuse"]
