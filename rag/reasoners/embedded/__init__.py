"""A reasoner that needs no language model."""

from __future__ import annotations

from rag.reasoners.embedded.reasoner import EmbeddedReasoner

__all__ = ["EmbeddedReasoner"]
