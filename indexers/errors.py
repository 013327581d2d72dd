"""What can be wrong with model weights; `rag.errors` shows the whole tree."""

from __future__ import annotations

from typing import Literal

from corpora.errors import RagError

EncoderKind = Literal["image", "text"]
OTHER_ENCODER: dict[EncoderKind, str] = {
    "image": "encode all images again (text, OCR and speech are kept) with rag index FOLDER --reembed",
    "text": "index into a new library with rag index FOLDER --library NEW",
}
"""What a library needs for another encoder, as the end of a sentence: its text is encoded once."""


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
