"""Sentences and passages into vectors in torch, for indexing; what is no BERT through sentence-transformers.

The same sentence gives the same bits whatever is encoded beside it: texts are
padded to a few fixed lengths and batches to one fixed size, because another
shape takes another way through the matrix kernels; or packed into products of
one shape (`indexers.onednn_bert`). On a GPU the last row of a batch is no text
but one token: without any padding attention takes another kernel there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import SettingsError
from indexers.devices import PLACES, device_memory, placement
from indexers.errors import WeightsInvalid
from indexers.folders import Role, prompt, read_sentence_folder
from indexers.onednn_bert import BACKENDS, ROWS, TOKENS, OneDnnBert
from indexers.protocol import FileIdentity, unit_rows
from indexers.tensors import weight_files
from indexers.tokens import sentence_tokens
from indexers.torch_backend import in_halves, quiet_transformers
from indexers.torch_bert import TorchBert, can_read_torch_sentences

BATCHES = {"cpu": 16, "cuda": 128, "mps": 64}
"""Rows of a batch, by device."""
Forward = Callable[[Any, Any], Any]
"""Torch tensors of token ids and mask, int64 (n, tokens), to vectors (n, dim)."""
LENGTHS = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512)


class SentenceEncoder(FileIdentity):
    """A `TextEncoder` over any sentence-transformers folder; `limit` tokens a text, the rest is cut."""

    def __init__(
        self, name: str, folder: Path, *, role: Role = "document", backend: str = "torch-fp32"
    ) -> None:
        """Some models were trained with other words before a question than before a passage: `role`.

        Raises `WeightsInvalid` where the folder cannot be read, and `SettingsError` for a `backend`
        without its device.
        """
        if backend not in BACKENDS and backend not in PLACES:
            known = ", ".join((*PLACES, *BACKENDS))
            raise SettingsError(f"encoder.text_backend {backend!r} is unknown; known: auto, {known}")
        self._device, dtype = ("cpu", None) if backend in BACKENDS else placement(backend, "text")
        self.backend = backend
        self.batch = BATCHES[self._device]
        self._texts = self.batch - (self._device != "cpu")
        settings = read_sentence_folder(folder)
        self.name = name
        self.limit = settings.limit
        self._files = weight_files(settings.transformer)
        self._tokens = sentence_tokens(settings.transformer, settings.limit)
        self._prompt = prompt(settings, role)
        self._lengths = (*(length for length in LENGTHS if length < self.limit), self.limit)
        self._packed: OneDnnBert | None = None
        if backend in BACKENDS:
            if not can_read_torch_sentences(folder):
                raise SettingsError(f"encoder.text_backend {backend}: {name} is no BERT; take torch-fp32")
            self._packed = OneDnnBert(folder, backend)
            self.dim = self._packed.dim
        elif can_read_torch_sentences(folder):
            with device_memory("the text encoder"):
                bert = TorchBert(folder, self._device, dtype)
            self._forward: Forward = bert
            self._pad, self.dim = bert.pad, bert.dim
        else:
            self._forward, self._pad, self.dim = _sentence_transformer(folder, self._device, dtype)

    def _facts(self) -> Mapping[str, Any]:
        if self._packed is not None:
            return {"backend": self.backend, "rows": ROWS, "limit": self.limit}
        return {"backend": self.backend, "batch": self.batch, "lengths": self._lengths, "limit": self.limit}

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), in the order of `texts`."""
        rows = np.empty((len(texts), self.dim), np.float32)
        for places, part in self.encode_parts(texts):
            rows[places] = part
        return rows

    def encode_parts(self, texts: Sequence[str]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Each batch as soon as it is done: places in `texts`, and their unit rows, float32 (m, dim)."""
        tokens = [self._tokens(self._prompt + text) for text in texts]
        if self._packed is not None:
            for places in _packs(tokens):
                yield places, unit_rows(self._packed.encode([tokens[place] for place in places]))
            return
        for length, members in self._by_length(tokens).items():
            for start in range(0, len(members), self._texts):
                part = members[start : start + self._texts]
                rows = self._encode_batch([ids for _, ids in part], length)
                yield [place for place, _ in part], unit_rows(rows)

    def _by_length(self, texts: list[NDArray[np.int64]]) -> dict[int, list[tuple[int, NDArray[np.int64]]]]:
        groups: dict[int, list[tuple[int, NDArray[np.int64]]]] = {}
        for place, ids in enumerate(texts):
            length = next(length for length in self._lengths if len(ids) <= length)
            groups.setdefault(length, []).append((place, ids))
        return groups

    def _encode_batch(self, texts: list[NDArray[np.int64]], length: int) -> NDArray[np.float32]:
        import torch

        ids = np.full((self.batch, length), self._pad, dtype=np.int64)
        mask = np.zeros((self.batch, length), dtype=np.int64)
        for row in range(self.batch):
            text = texts[min(row, len(texts) - 1)]
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        mask[self._texts :, 1:] = 0
        with torch.inference_mode():
            both = torch.from_numpy(np.stack([ids, mask], axis=1))
            rows: NDArray[np.float32] = in_halves(self._vectors, both).numpy()
        return rows[: len(texts)]

    def _vectors(self, both: Any) -> Any:
        """Vectors (n, dim), float32 on the processor, of token ids and masks there, int64 (n, 2, tokens)."""
        placed = both.to(self._device)
        return self._forward(placed[:, 0], placed[:, 1]).float().cpu()


def _packs(texts: Sequence[NDArray[np.int64]]) -> Iterator[list[int]]:
    """Indices of neighbouring texts with at most `TOKENS` tokens together, or of one that has more."""
    held: list[int] = []
    size = 0
    for place, text in enumerate(texts):
        if held and size + len(text) > TOKENS:
            yield held
            held, size = [], 0
        held.append(place)
        size += len(text)
    if held:
        yield held


def _sentence_transformer(folder: Path, device: str, dtype: Any) -> tuple[Forward, int, int]:
    """The model as a function, its padding token and its dimension."""
    model = _load(folder)
    with device_memory("the text encoder"):
        model = model.to(device=device, dtype=dtype)
    pad = int(model.tokenizer.pad_token_id or 0)

    def forward(ids: Any, mask: Any) -> Any:
        return model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]

    return forward, pad, int(model.get_embedding_dimension())


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
