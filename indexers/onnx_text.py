"""Text encoders and text towers in ONNX Runtime: BERT sentences, CLIP and SigLIP text.

One implementation for questions and for indexing. Texts are encoded one at a time, without padding, so that
a text has the same vector whatever is encoded beside it; several run side by side on the processor's cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.folders import Role, model_type, prompt, read_json, read_sentence_folder, text_settings
from indexers.protocol import TextTower
from indexers.tensors import Tensors, weight_files
from indexers.text_graphs import ACTIVATIONS, Vector, Weights, bert, check_bert, image_text
from indexers.tokens import image_text_tokens, sentence_tokens

Tokens = Callable[[str], NDArray[np.int64]]
"""A text to its token ids, int64 (n,)."""
Embed = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Token ids, int64 (n,), to what the first layer takes, float32 (n, width)."""


class OnnxTextEncoder(TextTower):
    """Words into unit rows, of sentences or for images."""

    def __init__(
        self,
        name: str,
        dim: int,
        *,
        files: Sequence[Path],
        tokens: Tokens,
        embed: Embed,
        vector: Vector,
        facts: Mapping[str, Any],
        backend: str = "onnx-fp32",
        prompt: str = "",
    ) -> None:
        """`facts`: what vectors depend on beside the files. `prompt`: written before every text."""
        self.name = name
        self.dim = dim
        self.backend = backend
        self._files = tuple(files)
        self._tokens = tokens
        self._embed = embed
        self._vector = vector
        self._own_facts = dict(facts)
        self._prompt = prompt

    def _facts(self) -> Mapping[str, Any]:
        return {"backend": self.backend, **self._own_facts}

    def is_word(self, text: str) -> bool:
        """Whether the tokenizer has it as one piece."""
        return len(self._tokens(text)) == len(self._tokens("")) + 1

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return np.stack(list(pool.map(self._encode_one, texts)))

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        return self._vector(self._embed(self._tokens(self._prompt + text))[None])


def open_image_text(name: str, folder: Path) -> OnnxTextEncoder:
    """The text tower of a CLIP, MetaCLIP, SigLIP or SigLIP 2 folder.

    Raises `WeightsInvalid` where the folder is not what its config says.
    """
    files = weight_files(folder)
    tensors, settings, kind = Tensors(files), text_settings(folder), model_type(folder)
    positions = tensors.read("text_model.embeddings.position_embedding.weight")
    end = settings.get("eos_token_id")

    def embed(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        if kind == "clip":
            # Configs written before transformers 4.31 say 2, meaning "the highest id", which is the end
            # token's. Attention is causal: nothing after it can reach it.
            ids = ids[: int(ids.argmax() if end == 2 else (ids == end).argmax()) + 1]
        rows = tensors.rows("text_model.embeddings.token_embedding.weight", ids)
        return np.asarray(rows + positions[: len(ids)], np.float32)

    head = "text_projection" if kind == "clip" else "text_model.head"
    return OnnxTextEncoder(
        name,
        tensors.shape(f"{head}.weight")[0],
        files=files,
        tokens=image_text_tokens(folder),
        embed=embed,
        vector=image_text(tensors, settings, head=head, causal=kind == "clip"),
        facts={"architecture": kind, "limit": settings["max_position_embeddings"]},
    )


def can_read_sentences(folder: Path) -> bool:
    """True for BERT with mean or first-token pooling: what `open_sentences` knows."""
    settings = read_sentence_folder(folder)
    if settings.model_type != "bert" or settings.pooling not in {"mean", "cls"} or settings.other_modules:
        return False
    config = read_json(settings.transformer / "config.json")
    absolute = config.get("position_embedding_type", "absolute") == "absolute"
    known = config.get("hidden_act", "gelu") in ACTIVATIONS
    return absolute and known and not config.get("is_decoder", False)


def open_sentences(name: str, folder: Path, role: Role, *, before: str = "") -> OnnxTextEncoder:
    """A sentence-transformers folder for which `can_read_sentences`.

    `before`: what is written before every text where the folder names no prompt for `role`. Raises
    `WeightsInvalid` where the folder is not what its config says.
    """
    settings = read_sentence_folder(folder)
    files = weight_files(settings.transformer)
    tensors, config = Tensors(files), read_json(settings.transformer / "config.json")
    prefix = check_bert(settings.transformer, tensors, config)
    return OnnxTextEncoder(
        name,
        tensors.shape(f"{prefix}embeddings.word_embeddings.weight")[1],
        files=files,
        tokens=sentence_tokens(settings.transformer, settings.limit),
        embed=bert_embedding(tensors, prefix),
        vector=bert(tensors, config, prefix=prefix, first=settings.pooling == "cls", eight_bit=False),
        facts={"limit": settings.limit, "pooling": settings.pooling},
        prompt=prompt(settings, role) or before,
    )


def bert_embedding(weights: Weights, prefix: str) -> Embed:
    """The sum of BERT's three embeddings of each token; `prefix`: before the names of tensors."""
    names = {
        part: f"{prefix}embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")
    }
    positions, kind = weights.read(names["position"]), weights.read(names["token_type"])[0]
    return lambda ids: weights.rows(names["word"], ids) + positions[: len(ids)] + kind
