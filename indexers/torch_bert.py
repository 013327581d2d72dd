"""BERT sentences in torch alone, for indexing: the very operations of transformers and sentence-transformers.

Importing those two takes ten seconds of CPU at every start of `rag index`, most of it for models that are not
used here. The same operations in the same order give the same bits, so a library knows no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from indexers.folders import read_json, read_sentence_folder
from indexers.numpy_text_encoder import can_read_sentences, check_bert
from indexers.tensors import Tensors, weight_files

ACTIVATIONS = ("gelu", "relu")
"""Those that torch has under the name of transformers."""


def can_read_torch_sentences(folder: Path) -> bool:
    """True for BERT with mean or first-token pooling and an activation of torch itself."""
    if not can_read_sentences(folder):
        return False
    config = read_json(read_sentence_folder(folder).transformer / "config.json")
    # Another attention has other bits.
    chosen = config.keys() & {"attn_implementation", "_attn_implementation"}
    return config.get("hidden_act", "gelu") in ACTIVATIONS and not chosen


class TorchBert:
    """BERT and the mean (or the first) of its last states (Reimers and Gurevych 2019, section 3)."""

    def __init__(self, folder: Path, device: str, dtype: Any) -> None:
        """Read a sentence-transformers folder for which `can_read_torch_sentences`, onto a device.

        Raises `WeightsInvalid` where the folder is not what its config says.
        """
        import torch

        settings = read_sentence_folder(folder)
        config = read_json(settings.transformer / "config.json")
        tensors = Tensors(weight_files(settings.transformer))
        prefix, names = check_bert(settings.transformer, tensors, config)
        self._layers = int(config.get("num_hidden_layers", 12))
        self._heads = int(config.get("num_attention_heads", 12))
        self._weights = {
            name: torch.tensor(tensors.read(prefix + name)).to(device=device, dtype=dtype) for name in names
        }
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._activation: Callable[[Any], Any] = getattr(
            torch.nn.functional, config.get("hidden_act", "gelu")
        )
        self._first_only = settings.pooling == "cls"
        self._normalized = settings.normalized
        self.pad = int(config.get("pad_token_id") or 0)
        self.dim = int(self._weights["embeddings.word_embeddings.weight"].shape[1])

    def __call__(self, ids: Any, mask: Any) -> Any:
        """Sentence vectors (n, dim) of token ids (n, tokens), int64, where `mask`, of their shape, is 1."""
        import torch

        n, tokens = ids.shape
        # Without a mask where nothing is padded, as transformers does: another kernel, other bits.
        attention_mask = (
            None if bool(mask.all()) else mask.bool()[:, None, None, :].expand(n, 1, tokens, tokens)
        )
        x = self._embedded(ids)
        for layer in range(self._layers):
            x = self._block(x, attention_mask, f"encoder.layer.{layer}")
        pooled = x[:, 0] if self._first_only else _mean(x, mask)
        return torch.nn.functional.normalize(pooled, p=2, dim=-1) if self._normalized else pooled

    def _embedded(self, ids: Any) -> Any:
        words, types, positions = (
            self._weights[f"embeddings.{part}_embeddings.weight"]
            for part in ("word", "token_type", "position")
        )
        return self._norm(words[ids] + types[0] + positions[: ids.shape[1]], "embeddings")

    def _block(self, x: Any, attention_mask: Any, name: str) -> Any:
        attended = self._linear(
            self._attended(x, attention_mask, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        x = self._norm(attended + x, f"{name}.attention.output")
        expanded = self._activation(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(self._linear(expanded, f"{name}.output.dense") + x, f"{name}.output")

    def _attended(self, x: Any, attention_mask: Any, name: str) -> Any:
        import torch

        n, tokens, width = x.shape
        head_dim = width // self._heads
        query, key, value = (
            self._linear(x, f"{name}.{part}").view(n, tokens, self._heads, head_dim).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        context = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=head_dim**-0.5
        )
        return context.transpose(1, 2).reshape(n, tokens, width)

    def _linear(self, x: Any, name: str) -> Any:
        import torch

        return torch.nn.functional.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: Any, name: str) -> Any:
        import torch

        weight, bias = (self._weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self._epsilon)


def _mean(x: Any, mask: Any) -> Any:
    """Mean over the tokens where `mask` is 1, summed in float32: (n, tokens, dim) to (n, dim)."""
    import torch

    kept = mask.unsqueeze(-1).to(x.dtype)
    total = (x * kept).sum(dim=1, dtype=torch.float32)
    count = kept.sum(dim=1, dtype=torch.float32).clamp(min=1e-9)
    return (total / count).to(x.dtype)
