"""A reasoner that needs no language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.errors import SettingsError
from rag.reasoners.embedded.reasoner import EmbeddedReasoner

if TYPE_CHECKING:
    from rag.reasoners import ReasonerContext

__all__ = ["EmbeddedReasoner", "open_embedded"]


def open_embedded(context: ReasonerContext) -> EmbeddedReasoner:
    """The factory of the kind `embedded`. Raises `SettingsError` without a text encoder."""
    if context.text_encoder is None:
        raise SettingsError("the embedded reasoner needs a text encoder; open a library first")
    return EmbeddedReasoner(context.text_encoder, context.tower)
