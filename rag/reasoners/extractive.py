"""A reasoner that reads answers out of the text with an extractive question-answering model.

Any folder that transformers' `AutoModelForQuestionAnswering` loads: it gives each token of a text a start
and an end logit for a question. Text of the passages and windows that were read goes in whole, longer text in
overlapping pieces. With p over the spans of a piece and its null answer (start and end on the first token),

    p(i, j) = exp(start_i + end_j) / Z,    i <= j < i + 30

the answer is the best span, its confidence the sum of p over all spans that overlap it; a piece whose null
answer has more is passed over (Devlin et al. 2019, section 4.3; Rajpurkar et al. 2018). Every other role is
the embedded reasoner's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from indexers.devices import device_memory, find_device
from indexers.digests import folder_digest
from indexers.models.lookup import find_weights, recommended_model
from indexers.settings import EncoderSettings
from indexers.tensors import weight_files
from indexers.torch_backend import load_pretrained
from rag.errors import WeightsInvalid, WeightsMissing
from rag.reasoners import ReasonerContext
from rag.reasoners.embedded import EmbeddedReasoner, open_embedded
from rag.reasoners.embedded.sentences import Sentence, place_of, sentences_of
from rag.reasoners.protocol import ReplyT, RequestT, Role
from rag.reasoners.roles.answers import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.records import UNSURE, Usage

if TYPE_CHECKING:
    from rag.reasoners.llm.usage import UsageCounter

LONGEST = 384
STRIDE = 128
QUESTION = 64
SPAN = 30
"""Tokens of a piece with its question, of the overlap of two pieces, of a question and of an answer at most:
the values that models of SQuAD are trained with."""
BATCH = 8

ROLES = frozenset({"answer_open", "answer_unaided"})


@dataclass(frozen=True, slots=True)
class Span:
    """An answer as [start, end) characters of the text with that index; `confidence` in [0, 1]."""

    text: int
    start: int
    end: int
    confidence: float


def best_span(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> tuple[int, int, float] | None:
    """First and last token of the best answer with its confidence; None where the null answer has more.

    `starts`, `ends`: float64 (1 + n,) logits of the first token of all and of the n tokens of the text.
    """
    total = starts[1:, None] + ends[None, 1:]
    ahead = np.arange(len(total)) - np.arange(len(total))[:, None]
    total[(ahead < 0) | (ahead >= SPAN)] = -np.inf
    null = starts[0] + ends[0]
    highest = max(null, float(total.max(initial=-np.inf)))
    share = np.exp(total - highest)
    nothing = float(np.exp(null - highest))
    if not share.size:
        return None
    first, last = (int(at) for at in np.unravel_index(int(share.argmax()), share.shape))
    near = float(share[: last + 1, first:].sum())
    if near <= nothing:
        return None
    return first, last, near / (float(share.sum()) + nothing)


class SpanReader:
    """A question-answering model of one folder."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        """`device`: `cpu`, `cuda` or `mps`.

        Raises `WeightsInvalid` with the reason where the folder holds no such model.
        """
        import torch

        def open_tokenizer(folder: Path, **local: Any) -> Any:
            from transformers import AutoTokenizer

            return AutoTokenizer.from_pretrained(folder, use_fast=True, **local)

        self.name = folder.name
        self._files = weight_files(folder)
        self._tokenizer, model = load_pretrained(
            *(folder, "question-answering model", "AutoModelForQuestionAnswering", open_tokenizer),
            dtype=torch.float32,
        )
        if not self._tokenizer.is_fast:
            raise WeightsInvalid(f"{folder}: its tokenizer gives no offsets; a fast one is needed")
        self._device = device
        with device_memory("the reader"):
            self._model = model.to(device).eval()
        # RoBERTa's positions begin after two reserved ones.
        positions = int(getattr(model.config, "max_position_embeddings", LONGEST + 2)) - 2
        self._longest = min(LONGEST, positions, int(self._tokenizer.model_max_length))

    @property
    def weights(self) -> str:
        """Hash over the weight files."""
        return folder_digest(self._files)

    def read(self, question: str, texts: Sequence[str]) -> tuple[list[Span], int]:
        """The best span of each piece of each text that holds one, in order, and the tokens read."""
        question = self._shortened(question)
        encoded = self._tokenizer(
            [question] * len(texts),
            list(texts),
            truncation="only_second",
            max_length=self._longest,
            stride=min(STRIDE, self._longest // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        owners = encoded.pop("overflow_to_sample_mapping")
        offsets = encoded.pop("offset_mapping")
        spans = []
        for piece, (starts, ends) in enumerate(self._logits(encoded)):
            inside = [at for at, of in enumerate(encoded.sequence_ids(piece)) if of == 1]
            found = best_span(starts[[0, *inside]], ends[[0, *inside]])
            if found is not None:
                first, last, confidence = found
                start, end = offsets[piece][inside[first]][0], offsets[piece][inside[last]][1]
                spans.append(Span(owners[piece], int(start), int(end), round(confidence, 6)))
        return spans, sum(len(ids) for ids in encoded["input_ids"])

    def _shortened(self, question: str) -> str:
        most = min(QUESTION, self._longest // 4)
        places = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in places["offset_mapping"]]
        return question[: ends[most - 1]] if len(ends) > most else question

    def _logits(self, encoded: Any) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Start and end logits of each piece, float64 (tokens,)."""
        import torch

        for begin in range(0, len(encoded["input_ids"]), BATCH):
            part = {name: rows[begin : begin + BATCH] for name, rows in encoded.items()}
            with device_memory("the reader"), torch.inference_mode():
                out = self._model(**self._tokenizer.pad(part, return_tensors="pt").to(self._device))
            for row, ids in enumerate(part["input_ids"]):
                kept = slice(-len(ids), None) if self._tokenizer.padding_side == "left" else slice(len(ids))
                yield (
                    out.start_logits[row, kept].cpu().double().numpy(),
                    out.end_logits[row, kept].cpu().double().numpy(),
                )


class ExtractiveReasoner:
    """Open questions are answered by a `SpanReader`, all else by the embedded reasoner."""

    name = "extractive"
    reads_pixels = False

    def __init__(self, reader: SpanReader, inner: EmbeddedReasoner, counter: UsageCounter) -> None:
        self._reader = reader
        self._inner = inner
        self._counter = counter

    @property
    def fingerprint(self) -> str:
        """The model's weights and the embedded reasoner's fingerprint, as JSON."""
        made = {"family": self.name, "model": self._reader.name, "weights": self._reader.weights}
        return json.dumps({**made, "embedded": self._inner.fingerprint}, sort_keys=True)

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Raises `RoleUnknown` as the embedded reasoner does."""
        if role.name not in ROLES:
            return self._inner.run(role, request)
        began = time.perf_counter()
        reply, read = self._answer(cast("Reading", request))
        self._counter.add(role.name, calls=1, seconds=time.perf_counter() - began, prompt_tokens=read)
        return cast("ReplyT", reply)

    def usage(self) -> Usage:
        """One call for each open question: the tokens that the model read."""
        return self._counter.usage()

    def _answer(self, reading: Reading) -> tuple[OpenAnswer, int]:
        """The answer, and the tokens read for it."""
        places: dict[tuple[str, int], list[Sentence]] = {}
        for sentence in sentences_of(reading):
            places.setdefault((sentence.origin, sentence.index), []).append(sentence)
        texts = [" ".join(sentence.text for sentence in held) for held in places.values()]
        spans, read = self._reader.read(reading.question.text, texts) if texts else ([], 0)
        if not spans:
            why = f"{self._reader.name} finds no answer in the text that was read."
            return OpenAnswer(text="", confidence=0.0, explanation=why), read
        best = max(spans, key=lambda span: (span.confidence, -span.text))
        (origin, index), held = list(places.items())[best.text]
        sentence = _sentence_at(held, best.start)
        return (
            OpenAnswer(
                text=texts[best.text][best.start : best.end],
                confidence=min(best.confidence, UNSURE) if sentence.seen_alone else best.confidence,
                explanation=f"Read by {self._reader.name} in {place_of(sentence)}: “{sentence.text}”",
                windows=(index,) if origin == "window" else (),
                passages=(index,) if origin == "passage" else (),
            ),
            read,
        )


def _sentence_at(sentences: Sequence[Sentence], offset: int) -> Sentence:
    """The one that holds a character of all of them joined by spaces."""
    position = 0
    for sentence in sentences:
        position += len(sentence.text) + 1
        if offset < position:
            return sentence
    return sentences[-1]


def reader_folder(model: str, settings: EncoderSettings) -> Path:
    """The folder of a model: a folder itself, or a reader of `rag models list`; empty is the recommended one.

    Raises `WeightsMissing`, `WeightsInvalid` or `SettingsError`.
    """
    folder = Path(model).expanduser()
    if model and (folder / "config.json").is_file():
        return folder
    if model and ("/" in model or folder.is_dir()):
        raise WeightsMissing(f"{folder}: no transformers model here (config.json is missing)")
    return find_weights(model or recommended_model("reader").name, settings, "reader")


def open_extractive(context: ReasonerContext) -> ExtractiveReasoner:
    """The factory of the kind `extractive`. Raises as `reader_folder` and `open_embedded` do."""
    inner = open_embedded(context)
    folder = reader_folder(context.settings.model, context.encoder)
    reader = SpanReader(folder, find_device(context.encoder.device))
    return ExtractiveReasoner(reader, inner, context.usage_counter)
