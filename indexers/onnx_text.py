"""Text encoders and text towers in ONNX Runtime: BERT sentences, CLIP and SigLIP text.

One implementation for questions and for indexing. Texts are encoded one at a time, without padding, so that
a text has the same vector whatever is encoded beside it; several run side by side on the processor's cores.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.errors import WeightsInvalid
from indexers.families import SENTENCE, TextEncoderFamily
from indexers.protocol import TextTower
from indexers.tensors import Tensors, model_type, read_json, weight_files
from indexers.text_graphs import Vector, Weights, bert, image_text

# Defaults of CLIPTextConfig and SiglipTextConfig: a saved config may leave them out.
CLIP_TEXT = {
    "hidden_size": 512,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "max_position_embeddings": 77,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
    "eos_token_id": 49407,
}
SIGLIP_TEXT = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 64,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
}
MINILM_TOKENS = 256
"""What all-MiniLM-L6-v2 was made for (its sentence_bert_config.json)."""
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


def text_settings(folder: Path) -> Mapping[str, Any]:
    """The text tower's settings of a CLIP or SigLIP folder, defaults filled in."""
    config = read_json(folder / "config.json")
    defaults = CLIP_TEXT if config.get("model_type") == "clip" else SIGLIP_TEXT
    # Some early CLIP folders hold the true values in `text_config_dict`, which wins, as in transformers.
    return {**defaults, **(config.get("text_config") or {}), **(config.get("text_config_dict") or {})}


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


def open_bert(name: str, folder: Path, *, limit: int, before: str = "") -> OnnxTextEncoder:
    """A BERT whose vectors are the mean of its last states, as all-MiniLM-L6-v2.

    `limit`: the longest text in tokens, special ones included, where the positions reach so far. `before`:
    what is written before every text. Raises `WeightsInvalid` where the folder is not what its config says.
    """
    files = weight_files(folder)
    tensors, config = Tensors(files), read_json(folder / "config.json")
    limit = min(limit, int(config.get("max_position_embeddings", limit)))
    return OnnxTextEncoder(
        name,
        tensors.shape("embeddings.word_embeddings.weight")[1],
        files=files,
        tokens=sentence_tokens(folder, limit),
        embed=bert_embedding(tensors),
        vector=bert(tensors, config, eight_bit=False),
        facts={"limit": limit, "pooling": "mean"},
        prompt=before,
    )


def bert_embedding(weights: Weights) -> Embed:
    """The sum of BERT's three embeddings of each token."""
    names = {part: f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")}
    positions, kind = weights.read(names["position"]), weights.read(names["token_type"])[0]
    return lambda ids: weights.rows(names["word"], ids) + positions[: len(ids)] + kind


BERT = TextEncoderFamily(
    open=lambda source, _: open_bert(source.name, source.path, limit=MINILM_TOKENS), layout=SENTENCE
)
"""The family of all-MiniLM-L6-v2."""


# Words into token ids exactly as each model was trained, with the tokenizers library alone.

PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class _Tokenizer:
    """One text into int64 (n,) ids: between 1 and `limit` of them, or exactly `limit` where padded."""

    tokenizer: Any
    limit: int
    clean: Callable[[str], str] = str
    end: int | None = None
    """The one special id of a text, at its end; None leaves special ids to tokenizer.json."""
    pad: int | None = None
    """Id that fills up to `limit`, on the right; None leaves texts at their length."""

    def __call__(self, text: str) -> NDArray[np.int64]:
        ids = self.tokenizer.encode(self.clean(text), add_special_tokens=self.end is None).ids
        if self.end is not None:
            ids = [*ids[: self.limit - 1], self.end]
        if self.pad is not None:
            ids = ids + [self.pad] * (self.limit - len(ids))
        return np.asarray(ids, dtype=np.int64)


def image_text_tokens(folder: Path) -> Tokens:
    """The tokens of a CLIP, MetaCLIP, SigLIP or SigLIP 2 folder. Raises `WeightsInvalid` without
    tokenizer.json."""
    settings = text_settings(folder)
    limit = int(settings["max_position_embeddings"])
    if model_type(folder) == "clip":
        return sentence_tokens(folder, limit)
    tokenizer = open_tokenizer(folder)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    written = read_json(folder / "tokenizer_config.json")
    return _Tokenizer(
        tokenizer,
        limit,
        # SigLIP 2 has Gemma's tokenizer, which keeps capitals; the model saw none in training.
        clean=_canonical if written.get("tokenizer_class") == "SiglipTokenizer" else str.lower,
        end=_special(tokenizer, written, "eos_token"),
        pad=_special(tokenizer, written, "pad_token"),
    )


def sentence_tokens(folder: Path, limit: int) -> Tokens:
    """The tokens of a folder, cut at `limit` with the model's own end kept. Raises as `image_text_tokens`."""
    tokenizer = open_tokenizer(folder)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return _Tokenizer(tokenizer, limit)


def word_counter(folder: Path) -> Callable[[str], int]:
    """Text of any length to its number of tokens, special ones not counted."""
    tokenizer = open_tokenizer(folder)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def open_tokenizer(folder: Path) -> Any:
    """The `tokenizers.Tokenizer` of a folder. Raises `WeightsInvalid` where it cannot read tokenizer.json."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.is_file():
        raise WeightsInvalid(
            f"{folder}: no tokenizer.json; pull the model again, or copy it from its repository"
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise WeightsInvalid(f"{path}: not a tokenizer: {error}") from error


def _canonical(text: str) -> str:
    """SigLIP's own cleaning, as big_vision's `prompt_engineering.py`: lower case, no punctuation."""
    return re.sub(r"\s+", " ", text.lower().translate(PUNCTUATION)).strip()


def _special(tokenizer: Any, written: dict[str, Any], role: str) -> int:
    value = written.get(role)
    token = value.get("content") if isinstance(value, dict) else value
    number = tokenizer.token_to_id(token) if isinstance(token, str) else None
    if number is None:
        raise WeightsInvalid(f"tokenizer_config.json names no {role} that tokenizer.json knows")
    return int(number)
