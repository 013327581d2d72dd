"""The family of sentence-transformers folders: a BERT in ONNX Runtime, any other model by that library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.devices import device_memory, find_device
from indexers.errors import WeightsInvalid
from indexers.families import SENTENCE, EncoderSource, TextEncoderFamily
from indexers.folders import Role, prompt, read_sentence_folder
from indexers.onnx_text import can_read_sentences, open_sentences
from indexers.protocol import TextEncoder
from indexers.tensors import weight_files
from indexers.torch_backend import quiet_transformers

BATCHES = {"cpu": 16, "cuda": 128, "mps": 64}
"""Texts of a batch, by device."""


class SentenceTransformersEncoder(TextEncoder):
    """Any sentence-transformers folder, on the device of the settings, in float32."""

    backend = "sentence-transformers"

    def __init__(self, source: EncoderSource, role: Role) -> None:
        """Raises `WeightsInvalid` where the folder cannot be read."""
        settings = read_sentence_folder(source.path)
        device = find_device(source.settings.device)
        self.name = source.name
        self.batch = BATCHES[device]
        self._files = weight_files(settings.transformer)
        self._prompt = prompt(settings, role)
        self._facts_of = {"limit": settings.limit, "prompt": settings.document_prompt}
        self._model = _load(source.path)
        with device_memory("the text encoder"):
            self._model.to(device)
        self.dim = int(self._model.get_embedding_dimension())

    def _facts(self) -> Mapping[str, Any]:
        return {"backend": self.backend, **self._facts_of}

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with device_memory("the text encoder"):
            rows = self._model.encode(
                [self._prompt + text for text in texts], batch_size=self.batch, show_progress_bar=False
            )
        return np.asarray(rows, np.float32)


def _load(folder: Path) -> Any:
    with quiet_transformers():
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": "float32"},
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise WeightsInvalid(
                f"{folder}: sentence-transformers cannot read it: {str(error).splitlines()[0]}"
            ) from error
    return model.eval()


def _open(source: EncoderSource, role: Role) -> TextEncoder:
    if can_read_sentences(source.path):
        return open_sentences(source.name, source.path, role)
    return SentenceTransformersEncoder(source, role)


FAMILY = TextEncoderFamily(open=_open, layout=SENTENCE)
