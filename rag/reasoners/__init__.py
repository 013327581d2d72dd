"""Reasoners by name. Each is imported when it is opened, so that no other's libraries are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.config import Settings

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower
    from rag.reasoners.roles import Reasoner

__all__ = ["open_reasoner"]


def open_reasoner(settings: Settings, text_encoder: TextEncoder, tower: TextTower | None = None) -> Reasoner:
    """The reasoner of `settings.reasoner.kind`.

    `text_encoder`, `tower`: of the library, for the embedded reasoner; a language model needs neither.
    Raises `ReasonerError` or `SettingsError` where a language model cannot be opened.
    """
    if settings.reasoner.kind == "embedded":
        from rag.reasoners.embedded import EmbeddedReasoner

        return EmbeddedReasoner(text_encoder, tower)
    from rag.reasoners.llm import open_llm_reasoner

    return open_llm_reasoner(
        settings.reasoner, frame_budget=settings.localize.frame_budget, seed=settings.seed
    )
