"""The HTTP face of a web, in the shapes that other people's agents know, by changing a base URL."""

from __future__ import annotations

from rag.web.serving.app import serve

__all__ = ["serve"]
