"""The rows of `rag models list`, with those marked that the settings use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexers.models.lookup import recommended_model
from indexers.models.verify import ModelRow, list_models
from indexers.registry import models_in_use

if TYPE_CHECKING:
    from rag.settings import Settings


def model_rows(settings: Settings) -> tuple[ModelRow, ...]:
    """Every model known by name. In use are those that a new library and a question would open by `settings`;
    a library that exists keeps its own encoders."""
    used = models_in_use(settings.encoder)
    if settings.asr.mode != "off":
        used.add(settings.asr.model)
    if settings.reasoner.kind == "extractive":
        used.add(settings.reasoner.model or recommended_model("reader").name)
    return list_models(settings.encoder, used)
