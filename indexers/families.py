"""Families of encoders: what one is, which files its model folders have, how it is registered.

A family is one module with an `ImageEncoderFamily` or a `TextEncoderFamily`, and an entry point under the
family's name in the group `rag.image_encoders` or `rag.text_encoders`; docs/how-to/image-encoder.md builds
one. Modules of families are cheap to import: what is heavy is imported when an encoder is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from corpora.entry_points import load_entry_point
from indexers.settings import EncoderSettings

if TYPE_CHECKING:
    from indexers.protocol import ImageEncoder, TextEncoder, TextTower

Role = Literal["query", "document"]
Layout = tuple[str, ...]
"""Files that a model cannot do without: names; where any one of several will do, with a bar between. Tensors
may be in parts, by their index."""
CONFIG, TOKENIZER_JSON, TENSORS = "config.json", "tokenizer.json", "model.safetensors"
PREPROCESSOR = "preprocessor_config.json|processor_config.json"
TOKENIZER = f"{TOKENIZER_JSON}|vocab.json|spiece.model|vocab.txt"
TRANSFORMERS: Layout = (CONFIG, PREPROCESSOR, TOKENIZER, TENSORS)
IMAGE_TEXT: Layout = (CONFIG, PREPROCESSOR, TOKENIZER_JSON, TENSORS)
SENTENCE: Layout = (CONFIG, TOKENIZER_JSON, TENSORS)
RANKER: Layout = ("model.onnx", TOKENIZER_JSON)
READER: Layout = (CONFIG, TOKENIZER, TENSORS)
WHISPER: Layout = (CONFIG, TOKENIZER_JSON, "vocabulary.txt|vocabulary.json", "model.bin|model.bin.part1")

GROUPS = {"image encoder": "rag.image_encoders", "text encoder": "rag.text_encoders"}


@dataclass(frozen=True, slots=True)
class EncoderSource:
    """What an encoder is opened from."""

    name: str
    """As in the settings and in the library: a model's name, or `FAMILY:PATH`."""
    path: Path
    """The folder of the weights, or the file that the family's `file` names."""
    settings: EncoderSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """Encoders that one module opens."""

    layout: Layout
    """Files of a whole model folder."""
    file: str = ""
    """The one file of the folder that is opened; empty where the folder is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageEncoderFamily(_Family):
    """Image encoders that one module opens."""

    open_image: Callable[..., ImageEncoder]
    """Loads the image half of an `EncoderSource`, by name `backend` and `batch`; raises `WeightsInvalid`,
    `WeightsMissing` or `ExtraMissing`."""
    open_text: Callable[[EncoderSource], TextTower]
    """Loads the text half alone; raises as `open_image`."""
    backend: str = ""
    """Its arithmetic, whatever the device; empty: it runs in torch, on the device of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoderFamily(_Family):
    """Encoders of sentences and passages that one module opens."""

    open: Callable[[EncoderSource, Role], TextEncoder]
    """Loads an encoder of questions or of passages, by the role: some models were trained with other words
    before a question than before a passage. Raises as `ImageEncoderFamily.open_image`."""


def load_family(purpose: str, name: str) -> Any:
    """The family of an "image encoder" or a "text encoder". Raises `UsageError` for an unknown name,
    `SettingsError` where its module cannot be imported."""
    return load_entry_point(GROUPS[purpose], name, f"family of {purpose}s")
