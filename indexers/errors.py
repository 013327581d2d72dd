"""What can be wrong with model weights; `rag.errors` shows the whole tree."""

from __future__ import annotations

from corpora.errors import RagError


class ModelError(RagError):
    """A model cannot be used."""


class WeightsMissing(ModelError):
    """A model's files are not on this machine."""


class WeightsInvalid(ModelError):
    """A model's files are incomplete or changed."""


class DeviceFull(ModelError):
    """A GPU has too little free memory."""


class ExtraMissing(ModelError):
    """An optional dependency is not installed."""
