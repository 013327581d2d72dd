"""Which files a whole model folder has."""

from __future__ import annotations

from dataclasses import dataclass

Alternatives = tuple[tuple[str, ...], ...]
"""Satisfied by any one of its members, each of which is a set of files."""

CONFIG: Alternatives = (("config.json",),)
PREPROCESSOR: Alternatives = (("preprocessor_config.json",), ("processor_config.json",))
TOKENIZER: Alternatives = (
    ("tokenizer.json",),
    ("vocab.json", "merges.txt"),
    ("spiece.model",),
    ("vocab.txt",),
)


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """Files that a model cannot do without."""

    required: tuple[Alternatives, ...] = ()
    tensors: str = "model.safetensors"
    """The safetensors file, whole or in parts by its index; empty where the weights have another form."""


TRANSFORMERS = FolderLayout((CONFIG, PREPROCESSOR, TOKENIZER))
SENTENCE = FolderLayout((CONFIG, TOKENIZER))
WHISPER = FolderLayout(
    (CONFIG, (("tokenizer.json",),), (("vocabulary.txt",), ("vocabulary.json",)), (("model.bin",),)), ""
)
