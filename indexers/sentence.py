"""The family of sentence-transformers folders, by that library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.devices import device_memory, find_device
from indexers.errors import WeightsInvalid
from indexers.families import EncoderSource, Role, TextEncoderFamily
from indexers.protocol import TextEncoder
from indexers.torch_backend import quiet_transformers

BATCHES = {"cpu": 16, "cuda": 128, "mps": 64}
"""Texts of a batch, by device."""
PROMPTS: dict[Role, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""Names under which a folder has what its model was trained with before a text."""


class SentenceTransformersEncoder(TextEncoder):
    """Any sentence-transformers folder, on the device of the settings, in float32."""

    backend = "sentence-transformers"

    def __init__(self, source: EncoderSource, role: Role) -> None:
        """Raises `WeightsInvalid` where the folder cannot be read."""
        device = find_device(source.settings.device)
        self.name = source.name
        self.batch = BATCHES[device]
        self._files = tuple(sorted(source.path.rglob("*.safetensors")))
        self._model = _load(source.path)
        prompts = {
            each: next(filter(None, map(self._model.prompts.get, PROMPTS[each])), "") for each in PROMPTS
        }
        self._prompt = prompts[role]
        self._facts_of = {"limit": self._model.max_seq_length, "prompt": prompts["document"]}
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
        except (OSError, ValueError, LookupError, TypeError, ImportError, RuntimeError) as error:
            raise WeightsInvalid(
                f"{folder}: sentence-transformers cannot read it: {str(error).splitlines()[0]}"
            ) from error
    return model.eval()


FAMILY = TextEncoderFamily(open=SentenceTransformersEncoder, layout=("modules.json",))
