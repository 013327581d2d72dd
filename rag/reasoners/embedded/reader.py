"""A cross-encoder that reads a question together with a text: which tokens may be part of an answer.

It is multilingual-e5-small with its upper six layers trained on by `training/reader.py`; embeddings and lower
layers are those of the bundled file (`indexers.e5`), which are not stored again. It reads
`<s> question </s></s> text </s>` and gives a logit to each token of the text, and one to "no answer here"
(Devlin et al. 2019, section 4.3, with one logit a token in place of starts and ends).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexers.e5 import FILE, Q4, E5File, open_file
from indexers.models.lookup import find_weights
from indexers.onnx_text import bert_embedding
from indexers.settings import EncoderSettings
from indexers.text_graphs import bert_states

TRAINED = Path(__file__).with_name("reader.safetensors")
LONGEST_QUESTION, LONGEST_TEXT = 48, 200
"""Tokens. It was trained on no longer ones."""


class _TrainedWeights:
    """The file's tensors, with those that were trained in their place, as `indexers.text_graphs.Weights`."""

    def __init__(self, file: E5File) -> None:
        from safetensors.numpy import load_file

        self._file = file
        self._trained = load_file(TRAINED)

    def __contains__(self, name: str) -> bool:
        return name in self._file

    def read(self, name: str) -> NDArray[np.float32]:
        """A whole tensor, float32 (n,) or (n, width); of int8 rows each times its scale."""
        held = self._trained.get(name)
        if held is None:
            return self._file.read(name)
        scale = self._trained.get(f"{name}.scale")
        return np.asarray(held if scale is None else held * scale[:, None], np.float32)

    def rows(self, name: str, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """The rows `indices` (n,) of a table, float32 (n, width); the table is never a trained one."""
        return self._file.rows(name, indices)


class Reader:
    """The model, ready to read."""

    def __init__(self) -> None:
        file = open_file(find_weights(Q4, EncoderSettings()) / FILE)
        weights = _TrainedWeights(file)
        self._tokens, self._embed = file.tokens, bert_embedding(file)
        self._states = bert_states(weights, file.config)
        self._heads = [(weights.read(f"{name}.weight")[0], weights.read(f"{name}.bias")) for name in HEADS]

    def values(self, question: str, parts: Sequence[Sequence[str]]) -> list[list[float]]:
        """Score each sentence of `parts`, runs of sentences of one text: the greatest logit of its tokens
        less that of "no answer here" in the text around it."""
        asked = self._tokens(question)[:-1][: LONGEST_QUESTION + 1]
        runs: list[tuple[int, list[NDArray[np.int64]]]] = []
        for at, part in enumerate(parts):
            held, size = list[NDArray[np.int64]](), 0
            for sentence in part:
                ids = self._tokens(sentence)[1:-1][:LONGEST_TEXT]
                if not held or size + len(ids) > LONGEST_TEXT:
                    held, size = [], 0
                    runs.append((at, held))
                held.append(ids)
                size += len(ids)
        found: list[list[float]] = [[] for _ in parts]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            every = pool.map(lambda run: self._run(asked, run[1]), runs)
            for (at, _), values in zip(runs, every, strict=True):
                found[at] += values
        return found

    def _run(self, asked: NDArray[np.int64], sentences: Sequence[NDArray[np.int64]]) -> list[float]:
        end = self._tokens("")[-1:]
        text = np.concatenate([*sentences, end])
        states = self._states(self._embed(np.concatenate([asked, end, end, text]))[None])
        (weight, bias), (null_weight, null_bias) = self._heads
        null = float(states[0] @ null_weight + null_bias[0])
        logits = states[len(asked) + 2 :] @ weight + bias[0]
        edges = np.cumsum([0, *map(len, sentences)])
        spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        return [round(float(logits[start:stop].max(initial=FAR)) - null, 6) for start, stop in spans]


HEADS = ("answer", "nothing")
FAR = -20.0
"""Logit of a sentence without a token."""


@cache
def open_reader() -> Reader:
    """The one of this process."""
    return Reader()
