"""What can be wrong with model weights; `rag.errors` shows the whole tree."""

from __future__ import annotations

from corpora.errors import RagError

__all__ = [
    "ExtraMissing",
    "ModelError",
    "WeightsInvalid",
    "WeightsMissing",
]


class ModelError(RagError): ...


class WeightsMissing(ModelError): ...


class WeightsInvalid(ModelError): ...


class ExtraMissing(ModelError): ...
