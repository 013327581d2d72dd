"""The embedded reasoner with its real sentence encoder and a toy image encoder."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from indexers.protocol import TextEncoder, TextTower
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings
from rag.reasoners import open_reasoner
from rag.reasoners.protocol import Reasoner
from rag.settings import Settings

DIM = 8


class Tower(TextTower):
    """Words into the space of the frame vectors of the contract."""

    name = fingerprint = "toy"
    dim = DIM

    def _encode(self, texts):
        rows = [np.random.default_rng(list(text.encode()) or [0]).normal(size=DIM) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)


class Sentences(TextEncoder):
    """The real encoder of sentences, which encodes each alone: so one text is encoded once for all tests."""

    def __init__(self) -> None:
        self._encoder = open_query_encoder("all-MiniLM-L6-v2", EncoderSettings())
        self.name, self.dim, self.fingerprint = "minilm", self._encoder.dim, self._encoder.fingerprint
        self._row = cache(lambda text: self._encoder.encode_text([text])[0])

    def _encode(self, texts):
        return np.stack([self._row(text) for text in texts])


sentences = cache(Sentences)


@cache
def encoder() -> TextEncoder:
    """The default one, with its real weights."""
    return open_query_encoder(EncoderSettings().text, EncoderSettings())


@contextmanager
def embedded() -> Iterator[Reasoner]:
    yield open_reasoner(Settings(), sentences(), Tower())
