"""BERT sentences through oneDNN, for indexing on the processor: no padding, and weights in its own layout.

The tokens of many texts follow each other as rows of one matrix. Matrix products take `ROWS` of them at a
time, always in that one shape, and attention takes each text alone at its own length, so that a text has
the same bits whatever is encoded beside it.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import SettingsError
from indexers.devices import available_backends
from indexers.errors import OTHER_ENCODER
from indexers.torch_bert import TorchBert

BACKENDS = {"onednn-fp32": "torch-fp32", "onednn-bf16": "torch-bf16"}
"""And the backend of torch whose instructions each needs. In bfloat16 matrices are multiplied; what is added
up from layer to layer stays float32."""
ROWS = 256
"""Tokens in a matrix product. The last ones of a call are filled up with zeros."""
TOKENS = 4096
"""Tokens that are encoded together: memory, for their number changes no bits."""


def runs_here(backend: str) -> bool:
    """Whether torch has oneDNN for this processor, and the processor the arithmetic of a backend."""
    import torch

    return (
        platform.machine() in ("x86_64", "AMD64")
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and BACKENDS.get(backend) in available_backends()
    )


class OneDnnBert(TorchBert):
    """The same model over packed texts."""

    def __init__(self, folder: Path, backend: str) -> None:
        """Raises `WeightsInvalid` as `TorchBert`, and `SettingsError` where the backend does not run here."""
        import torch

        if not runs_here(backend):
            raise SettingsError(
                f"backend {backend} needs oneDNN and a processor with its arithmetic: index on a machine "
                f"that has them, or {OTHER_ENCODER['text']}"
            )
        super().__init__(folder, "cpu", torch.float32)
        self._dtype = torch.bfloat16 if backend.endswith("bf16") else torch.float32
        self._packed = {
            name.removesuffix(".weight"): self._pack(name.removesuffix(".weight"))
            for name in self._weights
            if name.startswith("encoder.") and name.endswith(".weight") and "LayerNorm" not in name
        }

    def encode(self, texts: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        """Sentence vectors, float32 (n, dim), of the token ids of n texts, one at least."""
        import torch

        lengths = [len(text) for text in texts]
        with torch.inference_mode():
            ids = torch.from_numpy(np.concatenate(texts))
            positions = torch.from_numpy(np.concatenate([np.arange(length) for length in lengths]))
            x = self._norm(self._words(ids, positions), "embeddings")
            x = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % ROWS))
            for layer in range(self._layers):
                x = self._packed_block(x, lengths, f"encoder.layer.{layer}")
            each = torch.split(x[: len(ids)], lengths)
            pooled = torch.stack([part[0] if self._first_only else part.mean(dim=0) for part in each])
            if self._normalized:
                pooled = torch.nn.functional.normalize(pooled, p=2, dim=-1)
        rows: NDArray[np.float32] = pooled.numpy()
        return rows

    def _words(self, ids: Any, positions: Any) -> Any:
        words, types, places = (
            self._weights[f"embeddings.{part}_embeddings.weight"]
            for part in ("word", "token_type", "position")
        )
        return words[ids] + types[0] + places[positions]

    def _packed_block(self, x: Any, lengths: list[int], name: str) -> Any:
        import torch

        context = self._attended_alone(x, lengths, f"{name}.attention.self")
        parts = zip(torch.split(context, ROWS), torch.split(x, ROWS), strict=True)
        return torch.cat([self._fed_forward(attended, part, name) for attended, part in parts])

    def _fed_forward(self, context: Any, x: Any, name: str) -> Any:
        attended = self._product(context, f"{name}.attention.output.dense")
        x = self._norm(attended + x, f"{name}.attention.output")
        expanded = self._product(x, f"{name}.intermediate.dense", self._activation.__name__)
        return self._norm(self._product(expanded, f"{name}.output.dense") + x, f"{name}.output")

    def _attended_alone(self, x: Any, lengths: list[int], name: str) -> Any:
        import torch

        tokens, width = x.shape
        parts = torch.split(x.to(self._dtype), ROWS)
        heads = [
            torch.cat([self._product(part, f"{name}.{role}") for part in parts])
            .view(tokens, self._heads, -1)
            .transpose(0, 1)[None]
            for role in ("query", "key", "value")
        ]
        context = torch.zeros((tokens, width), dtype=self._dtype)
        start = 0
        for length in lengths:
            query, key, value = (each[:, :, start : start + length] for each in heads)
            attended = torch.nn.functional.scaled_dot_product_attention(query, key, value)
            context[start : start + length] = attended[0].transpose(0, 1).reshape(length, width)
            start += length
        return context

    def _pack(self, name: str) -> tuple[Any, Any]:
        import torch

        weight, bias = (self._weights[f"{name}.{part}"].to(self._dtype) for part in ("weight", "bias"))
        return torch.ops.mkldnn._reorder_linear_weight(weight, ROWS), bias

    def _product(self, x: Any, name: str, activation: str = "none") -> Any:
        """Of `ROWS` tokens, in the backend's dtype."""
        import torch

        weight, bias = self._packed[name]
        return torch.ops.mkldnn._linear_pointwise(x.to(self._dtype), weight, bias, activation, [], "none")
