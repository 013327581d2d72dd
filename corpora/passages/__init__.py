"""Passages: documents out of many kinds of files, cut into pieces of a sentence encoder's size."""

from __future__ import annotations

from corpora.passages.chunking import chunk, read_passages
from corpora.passages.document import Document, read_documents

__all__ = ["Document", "chunk", "read_documents", "read_passages"]
