"""BERT sentences in torch, from the files alone.

`import sentence_transformers` costs ten seconds of CPU, which is more than a small folder takes to encode.
The operations are those of transformers' BERT and of sentence-transformers' pooling, in the same order, so
that the vectors have the same bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indexers.folders import SentenceFolder, read_json
from indexers.numpy_text_encoder import can_read_sentences
from indexers.tensors import Tensors, weight_files

TABLES = ("word", "token_type", "position")
LAYER = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


def is_plain_bert(folder: Path, settings: SentenceFolder) -> bool:
    """True for BERT with GELU and mean or first-token pooling: what `TorchBert` knows."""
    return can_read_sentences(folder) and _config(settings).get("hidden_act", "gelu") == "gelu"


class TorchBert:
    """BERT and the mean (or the first) of its last states (Reimers and Gurevych 2019, section 3)."""

    pad = 0
    """What is masked has no influence."""

    def __init__(self, settings: SentenceFolder) -> None:
        """Raises `WeightsInvalid` where the weights are not what the config says."""
        import torch

        config = _config(settings)
        tensors = Tensors(weight_files(settings.transformer))
        prefix = "" if "embeddings.word_embeddings.weight" in tensors else "bert."

        def read(name: str) -> Any:
            return torch.from_numpy(tensors.read(f"{prefix}{name}").copy())

        self._layers = [f"encoder.layer.{layer}." for layer in range(config.get("num_hidden_layers", 12))]
        names = ["embeddings.LayerNorm", *(layer + part for layer in self._layers for part in LAYER)]
        self._affine = {name: (read(f"{name}.weight"), read(f"{name}.bias")) for name in names}
        self._tables = [read(f"embeddings.{table}_embeddings.weight") for table in TABLES]
        self._heads = config.get("num_attention_heads", 12)
        self._epsilon = config.get("layer_norm_eps", 1e-12)
        self._settings = settings
        self.dim = int(self._tables[0].shape[1])

    def __call__(self, ids: Any, mask: Any) -> Any:
        """int64 (n, length) token ids and where they are a text's, 0 or 1, into float32 (n, dim)."""
        from torch.nn import functional

        words, kinds, positions = self._tables
        x = functional.embedding(ids, words) + kinds[0] + positions[: ids.shape[1]]
        x = self._norm("embeddings.LayerNorm", x)
        seen = None if mask.all() else mask.bool()[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        for layer in self._layers:
            x = self._norm(f"{layer}attention.output.LayerNorm", self._attended(layer, x, seen) + x)
            risen = functional.gelu(self._linear(f"{layer}intermediate.dense", x))
            x = self._norm(f"{layer}output.LayerNorm", self._linear(f"{layer}output.dense", risen) + x)
        pooled = x[:, 0] if self._settings.pooling == "cls" else _mean(x, mask)
        return functional.normalize(pooled, p=2, dim=-1) if self._settings.normalized else pooled

    def _attended(self, layer: str, x: Any, seen: Any) -> Any:
        from torch.nn import functional

        query, key, value = (
            self._linear(f"{layer}attention.self.{part}", x)
            .view(*x.shape[:2], self._heads, -1)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return self._linear(f"{layer}attention.output.dense", mixed.transpose(1, 2).reshape(x.shape))

    def _linear(self, name: str, x: Any) -> Any:
        from torch.nn import functional

        return functional.linear(x, *self._affine[name])

    def _norm(self, name: str, x: Any) -> Any:
        from torch.nn import functional

        weight, bias = self._affine[name]
        return functional.layer_norm(x, weight.shape, weight, bias, self._epsilon)


def _mean(x: Any, mask: Any) -> Any:
    """Over the tokens of each text."""
    shares = mask.unsqueeze(-1).to(x.dtype)
    return (x * shares).sum(1) / shares.sum(1).clamp(min=1e-9)


def _config(settings: SentenceFolder) -> dict[str, Any]:
    return read_json(settings.transformer / "config.json")
