"""Text towers that encode a question without torch: BERT sentences, CLIP and SigLIP text.

`import torch` costs more than a second and transformers four, which is more than a whole search may take.
These read the same safetensors files, agree with the torch models to 1e-5, and give a text the bits that it
has alone, whatever is encoded beside it. Each layer is the published one in float32: `x` is (width, tokens),
the tokens of several texts one after the other, so that no product copies an array; `texts` are their slices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from indexers.errors import WeightsInvalid
from indexers.folders import (
    SentenceFolder,
    model_type,
    prompt,
    read_json,
    read_sentence_folder,
    text_settings,
)
from indexers.products import LANES, blas, columns, edge, product
from indexers.protocol import CachedTextEncoder, FileIdentity, unit_rows
from indexers.tensors import Tensors, weight_files
from indexers.tokens import Tokens, image_text_tokens, sentence_tokens

# Half the log odds of the normal distribution function at x: x times this polynomial of x^2. Least squares,
# weighted for the greatest error of gelu, 7e-8 on [0, 5.6]. Beyond, the distribution is 1 in float32.
GELU = (
    7.978842159685902e-01,
    3.633428376748085e-02,
    -3.313016626806306e-05,
    -5.5240102803700414e-05,
    3.969100751112039e-06,
    -1.3344578355889955e-07,
    1.8056000799455165e-09,
)
GELU_END = 5.6

CACHED = 24_576
"""Numbers of which an activation is computed at a time, so that its passes stay in the processor's cache."""


def _floats(x: Any) -> NDArray[np.float32]:
    """The same array, asserted to be float32: a stray float64 would double the cost of what follows."""
    assert x.dtype == np.float32
    return cast("NDArray[np.float32]", x)


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    y = np.empty_like(x)
    rows = max(1, CACHED // x[0].size)
    for start in range(0, len(x), rows):
        part = x[start : start + rows]
        square = np.minimum(part * part, np.float32(GELU_END**2))
        half = square * np.float32(GELU[-1])
        for coefficient in GELU[-2:0:-1]:
            half += np.float32(coefficient)
            half *= square
        half += np.float32(GELU[0])
        half *= part
        np.tanh(half, out=half)
        half += 1
        half *= part
        np.multiply(half, np.float32(0.5), out=y[start : start + rows])
    return y


def _gelu_tanh(x: NDArray[np.float32]) -> NDArray[np.float32]:
    inner = np.float32((2 / np.pi) ** 0.5) * (x + np.float32(0.044715) * x * x * x)
    return _floats(np.float32(0.5) * x * (1 + np.tanh(inner)))


def _sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    # By tanh, which cannot overflow.
    return _floats(np.float32(0.5) * (1 + np.tanh(np.float32(0.5) * x)))


def _quick_gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return _floats(x * _sigmoid(np.float32(1.702) * x))


def _relu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(x, 0)


ACTIVATIONS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "quick_gelu": _quick_gelu,
    "relu": _relu,
}


def activation(name: str) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """By its transformers name: float32 (n, m) to the same shape. Raises `WeightsInvalid`."""
    if name not in ACTIVATIONS:
        raise WeightsInvalid(f"activation {name!r} is unknown; known: {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]


@dataclass(frozen=True, slots=True)
class Linear:
    """An affine layer, W x + b, float32 (in, tokens) to (out, tokens)."""

    weight: NDArray[np.float32]
    """(out, in), as torch stores it."""
    bias: NDArray[np.float32] | None

    @classmethod
    def read(cls, tensors: Tensors, name: str) -> Linear:
        """Read weight and, where stored, bias under a name."""
        bias = f"{name}.bias"
        return cls(tensors.read(f"{name}.weight"), tensors.read(bias) if bias in tensors else None)

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        y = product(self.weight, x)
        if self.bias is not None:
            y += self.bias[:, None]
        return _floats(y)


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Layer normalization of each token, float32 (width, tokens)."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    epsilon: np.float32

    @classmethod
    def read(cls, tensors: Tensors, name: str, epsilon: float) -> LayerNorm:
        """Read weight and bias under a name."""
        return cls(tensors.read(f"{name}.weight"), tensors.read(f"{name}.bias"), np.float32(epsilon))

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        y = x - x.mean(axis=0)
        variance = np.square(y).mean(axis=0)
        y /= np.sqrt(variance + self.epsilon)
        y *= self.weight[:, None]
        y += self.bias[:, None]
        return _floats(y)


def attention(
    query: NDArray[np.float32],
    key: NDArray[np.float32],
    value: NDArray[np.float32],
    heads: int,
    *,
    causal: bool,
) -> NDArray[np.float32]:
    """Softmax attention of float32 (width, tokens) arrays, split into heads; float32 (width, tokens)."""
    width, tokens = query.shape
    depth = width // heads
    q, k, v = (part.reshape(heads, depth, tokens) for part in (query, key, value))
    scores = q.transpose(0, 2, 1) @ k
    scores *= np.float32(depth**-0.5)
    if causal:
        scores = np.where(np.tri(tokens, dtype=bool), scores, np.float32(-np.inf))
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    mixed = v @ scores.transpose(0, 2, 1)
    mixed /= scores.sum(axis=-1)[:, None]
    return _floats(mixed.reshape(width, tokens))


@dataclass(frozen=True, slots=True)
class Attention:
    """Multi-head self-attention."""

    heads: int
    causal: bool
    query: Linear
    key: Linear
    value: Linear
    out: Linear

    def linears(self) -> list[Linear]:
        """Its four layers."""
        return [self.query, self.key, self.value, self.out]

    def __call__(self, x: NDArray[np.float32], texts: Sequence[slice]) -> NDArray[np.float32]:
        query, key, value = self.query(x), self.key(x), self.value(x)
        for text in texts:
            q, k, v = query[:, text], key[:, text], value[:, text]
            query[:, text] = attention(q, k, v, self.heads, causal=self.causal)
        return self.out(query)


class Forward(Protocol):
    """A text model without its tokenizer."""

    dim: int
    linears: list[Linear]
    """Those of one block."""

    def __call__(self, texts: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        """Float32 (n, dim), any length, of the ids of n texts."""


TOGETHER = 256
"""Tokens that are encoded together at most: with more, a token hardly takes less time."""
ENOUGH = 64
"""Tokens that are not shared out among processors."""


def rows_keep_bits(linears: Iterable[Linear]) -> bool:
    """Whether a token of a product of TOGETHER has the bits it has among few: BLAS does not promise it."""
    for weight in {linear.weight.shape: linear.weight for linear in linears}.values():
        tokens = np.resize(weight, (TOGETHER, weight.shape[1]))
        together = product(weight, columns(tokens))[:, edge() :]
        for first, count in enumerate((1, LANES, LANES + 1, LANES + LANES // 2, 6 * LANES)):
            few = product(weight, columns(tokens[first : first + count]))[:, edge() :]
            if not np.array_equal(few[:, :count], together[:, first : first + count]):
                return False
    return True


class NumpyTextEncoder(FileIdentity):
    """A `TextTower` and a `TextEncoder`: words into unit rows, with the bits that each text has alone."""

    backend = "numpy-fp32"
    batch = 1

    def __init__(
        self,
        name: str,
        dim: int,
        files: Sequence[Path],
        tokens: Tokens,
        forward: Forward,
        facts: Mapping[str, Any],
        prompt: str = "",
    ) -> None:
        self.name = name
        self.dim = dim
        self._files = tuple(files)
        self._tokens = tokens
        self._forward = forward
        self._token_facts = dict(facts)
        self._prompt = prompt

    def _facts(self) -> Mapping[str, Any]:
        return {"backend": self.backend, "tokens": self._token_facts}

    def is_word(self, text: str) -> bool:
        """Whether the tokenizer has it as one piece."""
        return len(self._tokens(text)) == len(self._tokens("")) + 1

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), in the order of `texts`."""
        ids = [self._tokens(self._prompt + text) for text in texts]
        rows = np.empty((len(ids), self.dim), np.float32)

        def encode(group: list[int]) -> None:
            rows[group] = self._forward([ids[place] for place in group])

        # A sentence is too little work to share: a second BLAS thread only spins, for five times the CPU.
        with blas().limit(limits=1, user_api="blas"):
            groups = self._groups([len(each) for each in ids])
            if len(groups) < 2:
                list(map(encode, groups))
            else:
                with ThreadPoolExecutor(min(len(groups), os.cpu_count() or 1)) as pool:
                    list(pool.map(encode, groups))
        return unit_rows(rows)

    def _groups(self, lengths: Sequence[int]) -> list[list[int]]:
        """Places of texts that are encoded together. `lengths`: of each text, in tokens."""
        most = min(TOGETHER, max(ENOUGH, -(-sum(lengths) // (os.cpu_count() or 1))))
        groups: list[list[int]] = []
        room = 0
        for place, length in enumerate(lengths):
            if length <= room and self._rows_keep_bits:
                groups[-1].append(place)
                room -= length
            else:
                groups.append([place])
                room = most - length
        return groups

    @cached_property
    def _rows_keep_bits(self) -> bool:
        return rows_keep_bits(self._forward.linears)


def open_image_text(name: str, folder: Path) -> NumpyTextEncoder:
    """The text tower of a CLIP, MetaCLIP, SigLIP or SigLIP 2 folder.

    Raises `WeightsInvalid` where the folder is not what its config says.
    """
    files = weight_files(folder)
    tensors = Tensors(files)
    settings = text_settings(folder)
    forward = _ClipText(tensors, settings) if model_type(folder) == "clip" else _SiglipText(tensors, settings)
    facts = {"architecture": model_type(folder), "limit": settings["max_position_embeddings"]}
    return NumpyTextEncoder(name, forward.dim, files, image_text_tokens(folder), forward, facts)


def can_read_sentences(folder: Path) -> bool:
    """True for BERT with mean or first-token pooling: what `open_sentences` knows."""
    settings = read_sentence_folder(folder)
    if settings.model_type != "bert" or settings.pooling not in {"mean", "cls"} or settings.other_modules:
        return False
    config = read_json(settings.transformer / "config.json")
    absolute = config.get("position_embedding_type", "absolute") == "absolute"
    known = config.get("hidden_act", "gelu") in ACTIVATIONS
    return absolute and known and not config.get("is_decoder", False)


def open_sentences(name: str, folder: Path) -> NumpyTextEncoder:
    """A sentence-transformers folder for which `can_read_sentences`, for questions."""
    settings = read_sentence_folder(folder)
    files = weight_files(settings.transformer)
    forward = _Bert(Tensors(files), read_json(settings.transformer / "config.json"), settings)
    tokens = sentence_tokens(settings.transformer, settings.limit)
    facts = {"limit": settings.limit, "pooling": settings.pooling}
    return NumpyTextEncoder(name, forward.dim, files, tokens, forward, facts, prompt(settings, "query"))


def shared_sentences(name: str, folder: Path) -> CachedTextEncoder:
    """`open_sentences` for questions with a cache of rows, shared in the process until a file of the folder
    changes: a text is encoded once for all libraries and the bundled encoder. Raises as `open_sentences`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stamps = tuple((path, facts.st_size, facts.st_mtime_ns) for path in files for facts in [path.stat()])
    return _opened(name, folder, stamps)


@lru_cache(maxsize=4)
def _opened(name: str, folder: Path, stamps: tuple[Hashable, ...]) -> CachedTextEncoder:  # noqa: ARG001 (of the key)
    return CachedTextEncoder(open_sentences(name, folder))


@dataclass(frozen=True, slots=True)
class _PreNormBlock:
    """x + attention(norm(x)), then x + mlp(norm(x)): CLIP's and SigLIP's."""

    norm1: LayerNorm
    attention: Attention
    norm2: LayerNorm
    rise: Linear
    act: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    fall: Linear

    def linears(self) -> list[Linear]:
        return [*self.attention.linears(), self.rise, self.fall]

    @classmethod
    def read(cls, tensors: Tensors, name: str, settings: Mapping[str, Any], causal: bool) -> _PreNormBlock:
        epsilon = settings["layer_norm_eps"]
        parts = (Linear.read(tensors, f"{name}.self_attn.{part}_proj") for part in ("q", "k", "v", "out"))
        return cls(
            LayerNorm.read(tensors, f"{name}.layer_norm1", epsilon),
            Attention(settings["num_attention_heads"], causal, *parts),
            LayerNorm.read(tensors, f"{name}.layer_norm2", epsilon),
            Linear.read(tensors, f"{name}.mlp.fc1"),
            activation(settings["hidden_act"]),
            Linear.read(tensors, f"{name}.mlp.fc2"),
        )

    def __call__(self, x: NDArray[np.float32], texts: Sequence[slice]) -> NDArray[np.float32]:
        x = x + self.attention(self.norm1(x), texts)
        return x + self.fall(self.act(self.rise(self.norm2(x))))


def _places(texts: Sequence[NDArray[np.int64]]) -> list[slice]:
    ends = edge() + np.cumsum([len(ids) for ids in texts])
    return [slice(end - len(ids), end) for ids, end in zip(texts, ends.tolist(), strict=True)]


class _ImageText:
    """What the text towers of CLIP and SigLIP share: embeddings, blocks, last norm."""

    def __init__(self, tensors: Tensors, settings: Mapping[str, Any], *, causal: bool) -> None:
        self._tensors = tensors
        self._positions = tensors.read("text_model.embeddings.position_embedding.weight")
        self._blocks = [
            _PreNormBlock.read(tensors, f"text_model.encoder.layers.{layer}", settings, causal)
            for layer in range(settings["num_hidden_layers"])
        ]
        self._norm = LayerNorm.read(tensors, "text_model.final_layer_norm", settings["layer_norm_eps"])
        self.linears = self._blocks[0].linears()

    def _last(self, texts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """The last state of each text, float32 (width, 1)."""
        x = self._tensors.rows("text_model.embeddings.token_embedding.weight", np.concatenate(texts))
        x = columns(x + np.concatenate([self._positions[: len(ids)] for ids in texts]))
        places = _places(texts)
        for block in self._blocks:
            x = block(x, places)
        x = self._norm(x)
        return [x[:, [place.stop - 1]] for place in places]


class _ClipText(_ImageText):
    """Causal; the state at the end token, projected (Radford et al. 2021, section 2.4)."""

    def __init__(self, tensors: Tensors, settings: Mapping[str, Any]) -> None:
        super().__init__(tensors, settings, causal=True)
        self._end = settings["eos_token_id"]
        self._projection = Linear.read(tensors, "text_projection")
        self.dim = len(self._projection.weight)

    def __call__(self, texts: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        # Configs written before transformers 4.31 say 2, meaning "the highest id", which is the end token's.
        ends = [ids.argmax() if self._end == 2 else (ids == self._end).argmax() for ids in texts]
        # Causal attention: nothing after the end token can reach it.
        last = self._last([ids[: end + 1] for ids, end in zip(texts, ends, strict=True)])
        return np.concatenate([self._projection(state) for state in last], axis=1).T


class _SiglipText(_ImageText):
    """Not causal; the state at the last of the padded places, through a linear head (Zhai et al. 2023)."""

    def __init__(self, tensors: Tensors, settings: Mapping[str, Any]) -> None:
        super().__init__(tensors, settings, causal=False)
        self._head = Linear.read(tensors, "text_model.head")
        self.dim = len(self._head.weight)

    def __call__(self, texts: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        return np.concatenate([self._head(state) for state in self._last(texts)], axis=1).T


@dataclass(frozen=True, slots=True)
class _PostNormBlock:
    """norm(x + attention(x)), then norm(x + mlp(x)): BERT's."""

    attention: Attention
    norm1: LayerNorm
    rise: Linear
    act: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    fall: Linear
    norm2: LayerNorm

    def linears(self) -> list[Linear]:
        return [*self.attention.linears(), self.rise, self.fall]

    @classmethod
    def read(cls, tensors: Tensors, name: str, config: Mapping[str, Any]) -> _PostNormBlock:
        epsilon = config.get("layer_norm_eps", 1e-12)
        places = ("self.query", "self.key", "self.value", "output.dense")
        parts = (Linear.read(tensors, f"{name}.attention.{place}") for place in places)
        return cls(
            Attention(config.get("num_attention_heads", 12), False, *parts),
            LayerNorm.read(tensors, f"{name}.attention.output.LayerNorm", epsilon),
            Linear.read(tensors, f"{name}.intermediate.dense"),
            activation(config.get("hidden_act", "gelu")),
            Linear.read(tensors, f"{name}.output.dense"),
            LayerNorm.read(tensors, f"{name}.output.LayerNorm", epsilon),
        )

    def __call__(self, x: NDArray[np.float32], texts: Sequence[slice]) -> NDArray[np.float32]:
        x = self.norm1(x + self.attention(x, texts))
        return self.norm2(x + self.fall(self.act(self.rise(x))))


def check_bert(folder: Path, tensors: Tensors, config: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The prefix of BERT's tensors in `tensors`, and their names without it.

    Raises `WeightsInvalid` where `config`, the config.json of `folder`, does not fit them.
    """
    prefix = "" if "embeddings.word_embeddings.weight" in tensors else "bert."
    shapes = dict(_bert_shapes(config))
    for name, shape in shapes.items():
        if tensors.shape(prefix + name) != shape:
            raise WeightsInvalid(f"{folder}: {prefix}{name} does not fit config.json")
    words, width = shapes["embeddings.word_embeddings.weight"]
    heads, pad = int(config.get("num_attention_heads", 12)), int(config.get("pad_token_id") or 0)
    if heads < 1 or width % heads:
        raise WeightsInvalid(f"{folder}: config.json has {heads} heads for a width of {width}")
    if not 0 <= pad < words:
        raise WeightsInvalid(f"{folder}: config.json has pad_token_id {pad} for {words} tokens")
    return prefix, tuple(shapes)


def _bert_shapes(config: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors that are read, with the sizes of `config` or, where it leaves them out, BERT's."""
    width = int(config.get("hidden_size", 768))
    risen = int(config.get("intermediate_size", 3072))
    rows = {"word": ("vocab_size", 30522), "token_type": ("type_vocab_size", 2)}
    for part, (key, default) in {**rows, "position": ("max_position_embeddings", 512)}.items():
        yield f"embeddings.{part}_embeddings.weight", (int(config.get(key, default)), width)
    norms, linears = ["embeddings"], []
    for layer in (f"encoder.layer.{number}" for number in range(int(config.get("num_hidden_layers", 12)))):
        norms += [f"{layer}.attention.output", f"{layer}.output"]
        linears += [(f"{layer}.attention.self.{part}", width, width) for part in ("query", "key", "value")]
        linears += [(f"{layer}.attention.output.dense", width, width)]
        linears += [(f"{layer}.intermediate.dense", risen, width), (f"{layer}.output.dense", width, risen)]
    for name in norms:
        yield f"{name}.LayerNorm.weight", (width,)
        yield f"{name}.LayerNorm.bias", (width,)
    for name, out, taken in linears:
        yield f"{name}.weight", (out, taken)
        yield f"{name}.bias", (out,)


class _Bert:
    """BERT and the mean (or the first) of its last states (Reimers and Gurevych 2019, section 3)."""

    def __init__(self, tensors: Tensors, config: Mapping[str, Any], settings: SentenceFolder) -> None:
        self._tensors = tensors
        prefix, _ = check_bert(settings.transformer, tensors, config)
        self._words = f"{prefix}embeddings.word_embeddings.weight"
        self._positions = tensors.read(f"{prefix}embeddings.position_embeddings.weight")
        self._kind = tensors.read(f"{prefix}embeddings.token_type_embeddings.weight")[0]
        epsilon = config.get("layer_norm_eps", 1e-12)
        self._norm = LayerNorm.read(tensors, f"{prefix}embeddings.LayerNorm", epsilon)
        self._blocks = [
            _PostNormBlock.read(tensors, f"{prefix}encoder.layer.{layer}", config)
            for layer in range(config.get("num_hidden_layers", 12))
        ]
        self._first_only = settings.pooling == "cls"
        self.dim = self._positions.shape[1]
        self.linears = self._blocks[0].linears()

    def __call__(self, texts: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        words = self._tensors.rows(self._words, np.concatenate(texts))
        words = words + np.concatenate([self._positions[: len(ids)] for ids in texts]) + self._kind
        x = self._norm(columns(words))
        places = _places(texts)
        for block in self._blocks:
            x = block(x, places)
        states = (np.ascontiguousarray(x[:, place]) for place in places)
        return np.stack([state[:, 0] if self._first_only else state.mean(axis=1) for state in states])
