"""Train the upper layers of the cross-encoder (`rag.reasoners.embedded.reader`) on published reading sets.

    python -m training.reader FILE... --without FILE... --into rag/reasoners/embedded/reader.safetensors

Sets: files of SQuAD's JSON, TweetQA's JSON or SubjQA's CSV; `--without`: sets of which no paragraph may be
learned, by the ids of their questions and the titles of their articles. The embeddings and the lower six
layers of multilingual-e5-small stay as they are. A row is a question with a text of at most 200 tokens. The
loss is -log of the share (softmax over the text's tokens and "nothing") of the answer's tokens; of "nothing"
for a question that the set marks as impossible, for another text of the same set, for the same text without
the sentences that answer, and for a question with one of its names or numbers replaced.

The file that comes with this project was trained in two runs of 55 minutes on two hyperthreads, in batches of
32: 1,538 steps on 140,930 rows that left no sentence out, and, from these weights (`--start`), 606 steps on
135,063 rows as they are made here, with a third of JaQuAD. They are of six languages: SQuADShifts (three
sets), TweetQA (training), COVID-QA, PolicyQA, SubjQA, CMRC 2018 and DRCD (development and test), JaQuAD,
TQuAD, ARCD, and SQuAD 2.0 in Spanish without what XQuAD and SQuAD's development set hold. Both were run with
--bfloat16. Another run gives other bits: threads add in another order.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import nn
from torch.nn import functional

from benchmarks.options import option_parser
from benchmarks.reading_sets import NO_ANSWER
from indexers.e5 import FILE, Q4, E5File, open_file
from indexers.models.lookup import find_weights
from indexers.onnx_text import bert_embedding
from indexers.settings import EncoderSettings
from rag.reasoners.embedded.reader import HEADS, LONGEST_QUESTION, LONGEST_TEXT

FROZEN = 6
BATCH, RATE, WARM, CLIP = 32, 2e-4, 200, 1.0
POOLED = 40
"""Batches whose rows are sorted by length together."""
WITHOUT_ANSWER, OTHER_TEXT, OTHER_NAME = 0.45, 0.12, 0.5
"""Chance that an answered question is also asked of its text without the answer, of another text, and with
another name in it: one of the text, or one that it does not hold."""
MOST_NAMES = 30
"""Names of other questions that are tried in place of one."""
LEAST_LEFT = 0.35
"""Share of a text that must be left without the answer's sentences."""
IMPOSSIBLE = 2
"""Times that a question which a set marks as impossible counts."""
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_NAME = re.compile(r"(?<=\s)[A-ZÀ-Ý][\w'-]+(?: [A-ZÀ-Ý][\w'-]+)*|\b\d[\d.,]*\b")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a text, with the characters [start, end) of its answers; none where it has none."""

    text: str
    question: str
    answers: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids of both, and the places [start, end) of the answers among those of the text."""

    question: NDArray[np.int64]
    text: NDArray[np.int64]
    answers: tuple[Span, ...]

    def __len__(self) -> int:
        return len(self.question) + len(self.text)


def read_set(file: Path, left_out: set[str]) -> Iterator[Asked]:
    """All questions of a set but those with an id, or of an article with a title, in `left_out`."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                text = row["review"].removesuffix(NO_ANSWER).strip()
                answer = row["human_ans_spans"].strip()
                yield from _placed(text, row["question"], [] if answer == NO_ANSWER else [answer])
        return
    held = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(held, list):
        for row in held:
            yield from _placed(row["Tweet"], row["Question"], [one.strip() for one in row["Answer"]])
        return
    for article in held["data"]:
        if article.get("title") in left_out:
            continue
        for paragraph in article["paragraphs"]:
            if not any(one.get("id") in left_out for one in paragraph["qas"]):
                yield from _of_paragraph(paragraph)


def _placed(text: str, question: str, answers: Sequence[str]) -> Iterator[Asked]:
    found = [re.search(re.escape(answer), text, re.IGNORECASE) for answer in answers if answer]
    spans = tuple(one.span() for one in found if one)
    if spans or not answers:
        yield Asked(text, question, spans)


def _of_paragraph(paragraph: Any) -> Iterator[Asked]:
    for one in paragraph["qas"]:
        impossible = bool(one.get("is_impossible"))
        answers = [] if impossible else one.get("answers", [])
        starts = [(int(answer["answer_start"]), answer["text"]) for answer in answers]
        if starts or impossible:
            spans = tuple((start, start + len(text)) for start, text in starts)
            yield Asked(paragraph["context"], one["question"], spans)


def with_unanswered(every: Sequence[Asked], rng: random.Random) -> Iterator[Asked]:
    """The questions of one set, and others made of them that their text does not answer."""
    names = sorted({name for one in every for name in _NAME.findall(one.question)})
    for one in every:
        yield from [one] * (1 if one.answers else IMPOSSIBLE)
        if not one.answers:
            continue
        said = [one.text[start:end].casefold() for start, end in one.answers]
        if rng.random() < WITHOUT_ANSWER:
            left = _without_answers(one)
            if len(left) > LEAST_LEFT * len(one.text) and not _holds(left, said):
                yield Asked(left, one.question, ())
        if rng.random() < OTHER_TEXT:
            other = rng.choice(every).text
            if not _holds(other, said):
                yield Asked(other, one.question, ())
        named = list(_NAME.finditer(one.question))
        if named and rng.random() < OTHER_NAME:
            old = rng.choice(named)
            inside = [new for new in _NAME.findall(one.text) if not _holds(one.question, [new.casefold()])]
            outside = [new for new in rng.sample(names, min(MOST_NAMES, len(names))) if new not in one.text]
            alike = [new for new in rng.choice((inside, outside)) if new[0].isdigit() == old[0][0].isdigit()]
            if alike:
                new = rng.choice(alike)
                yield Asked(one.text, f"{one.question[: old.start()]}{new}{one.question[old.end() :]}", ())


def _holds(text: str, said: Iterable[str]) -> bool:
    return any(one in text.casefold() for one in said)


def _without_answers(one: Asked) -> str:
    ends = [0, *(found.start() for found in _END.finditer(one.text)), len(one.text)]
    return "".join(
        one.text[start:end]
        for start, end in pairwise(ends)
        if not any(first < end and last > start for first, last in one.answers)
    ).strip()


def rows_of(every: Iterable[Asked], tokenizer: Any, rng: random.Random) -> Iterator[Row]:
    """Cut to the longest lengths, at an answer where there is one."""
    for one in every:
        read = tokenizer.encode(one.text, add_special_tokens=False)
        spans = []
        for start, end in one.answers:
            held = [at for at, (a, b) in enumerate(read.offsets) if a < end and b > start]
            spans += [(held[0], held[-1] + 1)] if held else []
        if one.answers and not spans:
            continue
        first, last = rng.choice(spans) if spans else (0, len(read.ids))
        most = max(0, len(read.ids) - LONGEST_TEXT)
        low, high = max(0, last - LONGEST_TEXT), min(first if spans else most, most)
        at = rng.randint(min(low, high), max(low, high))
        inside = [(a - at, b - at) for a, b in spans if a >= at and b - at <= LONGEST_TEXT]
        asked = tokenizer.encode(one.question, add_special_tokens=False).ids[:LONGEST_QUESTION]
        yield Row(np.array(asked), np.array(read.ids[at : at + LONGEST_TEXT]), tuple(inside))


class Layer(nn.Module):
    """One layer of BERT, of width 384 with 12 heads, from the weights of a file."""

    def __init__(self, file: E5File, number: int) -> None:
        super().__init__()
        self.prefix = f"encoder.layer.{number}."
        linear = [f"attention.self.{part}" for part in ("query", "key", "value")]
        linear += ["attention.output.dense", "intermediate.dense", "output.dense"]
        self.names = [*linear, "attention.output.LayerNorm", "output.LayerNorm"]
        self.parts = nn.ModuleList()
        for name in self.names:
            weight, bias = (torch.tensor(file.read(f"{self.prefix}{name}.{of}")) for of in ("weight", "bias"))
            norm = weight.ndim == 1
            part = nn.LayerNorm(len(weight), eps=1e-12) if norm else nn.Linear(weight.shape[1], len(weight))
            part.weight.data, part.bias.data = weight, bias
            self.parts.append(part)

    def forward(self, x: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
        query, key, value, out, rise, fall, first_norm, norm = self.parts
        count, length, width = x.shape
        heads = [part(x).view(count, length, 12, width // 12).transpose(1, 2) for part in (query, key, value)]
        mixed = functional.scaled_dot_product_attention(*heads, attn_mask=inside[:, None, None, :])
        x = first_norm(x + out(mixed.transpose(1, 2).reshape(x.shape)))
        found: torch.Tensor = norm(x + fall(functional.gelu(rise(x))))
        return found


class Model(nn.Module):
    """The layers and the two heads."""

    def __init__(self, file: E5File) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(384, eps=1e-12)
        for of in ("weight", "bias"):
            getattr(self.norm, of).data = torch.tensor(file.read(f"embeddings.LayerNorm.{of}"))
        layers = [Layer(file, number) for number in range(file.config["num_hidden_layers"])]
        self.frozen, self.layers = nn.ModuleList(layers[:FROZEN]), nn.ModuleList(layers[FROZEN:])
        self.heads = nn.ModuleDict({name: nn.Linear(384, 1) for name in HEADS})
        for head in self.heads.values():
            nn.init.zeros_(head.weight)

    def forward(self, x: torch.Tensor, inside: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        """Logits (rows, 1 + tokens): of "nothing", and of each token of the text."""
        with torch.no_grad():
            x = self.norm(x)
            for layer in self.frozen:
                x = layer(x, inside)
        for layer in self.layers:
            x = layer(x, inside)
        logits = self.heads["answer"](x)[..., 0].float().masked_fill(~text, -1e4)
        return torch.cat([self.heads["nothing"](x[:, 0]).float(), logits], dim=1)

    def _parts(self) -> dict[str, Any]:
        parts = {
            f"{one.prefix}{name}": part
            for one in self.layers
            for name, part in zip(one.names, one.parts, strict=True)
        }
        return {**parts, **self.heads}

    def start_from(self, trained: Mapping[str, NDArray[Any]]) -> None:
        """Set the layers and heads to tensors as `trained` gives them: int8 matrices (n, m) with scales
        (n,), or float32. Raises KeyError for a missing one."""
        for name, part in self._parts().items():
            weight, scale = trained[f"{name}.weight"], trained.get(f"{name}.weight.scale")
            part.weight.data = torch.tensor(weight if scale is None else weight * scale[:, None])
            part.bias.data = torch.tensor(trained[f"{name}.bias"])

    def trained(self) -> dict[str, NDArray[Any]]:
        """The tensors to keep, by BERT's names: matrices as int8 with one scale a row."""
        found: dict[str, NDArray[Any]] = {}
        for name, part in self._parts().items():
            weight = part.weight.detach().numpy()
            found[f"{name}.bias"] = part.bias.detach().numpy()
            if weight.ndim == 1 or len(weight) == 1:
                found[f"{name}.weight"] = weight
                continue
            scale = np.abs(weight).max(axis=1) / 127
            found[f"{name}.weight"] = np.round(weight / scale[:, None]).astype(np.int8)
            found[f"{name}.weight.scale"] = scale
        return found


def loss_of(rows: Sequence[Row], model: Model, file: E5File, *, bfloat16: bool) -> torch.Tensor:
    """Mean over rows of -log of the share of the answers' tokens, or of "nothing"."""
    start, end = (int(each) for each in file.tokens("")[[0, -1]])
    embed, length = bert_embedding(file), max(map(len, rows)) + 4
    x = np.zeros((len(rows), length, 384), np.float32)
    inside, text = (np.zeros((len(rows), length), bool) for _ in range(2))
    right = np.zeros((len(rows), length + 1), bool)
    for at, row in enumerate(rows):
        before = len(row.question) + 3
        ids = np.concatenate([[start], row.question, [end, end], row.text, [end]])
        x[at, : len(ids)], inside[at, : len(ids)] = embed(ids), True
        text[at, before : before + len(row.text)] = True
        right[at, 0] = not row.answers
        for first, last in row.answers:
            right[at, 1 + before + first : 1 + before + last] = True
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        logits = model(*map(torch.from_numpy, (x, inside, text)))
    wanted = logits.masked_fill(~torch.from_numpy(right), -1e4)
    return (torch.logsumexp(logits, 1) - torch.logsumexp(wanted, 1)).mean()


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[Row]]:
    """Without end; rows of about one length together."""
    while True:
        order = rng.sample(rows, len(rows))
        for at in range(0, len(order), BATCH * POOLED):
            pool = sorted(order[at : at + BATCH * POOLED], key=len)
            yield from rng.sample(
                [pool[i : i + BATCH] for i in range(0, len(pool), BATCH)], -(-len(pool) // BATCH)
            )


def main() -> None:
    """Train, print the loss, and write the weights."""
    parser = option_parser(__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--without", nargs="*", type=Path, default=[])
    parser.add_argument("--steps", type=int, default=1538)
    parser.add_argument("--start", type=Path, help="weights of an earlier run to continue from")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument(
        "--bfloat16", action="store_true", help="faster on a processor that has it, else 12 times slower"
    )
    chosen = parser.parse_args()
    left_out = set[str]()
    for file in chosen.without:
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
            ids = (one["id"] for paragraph in article["paragraphs"] for one in paragraph["qas"])
            left_out |= {str(article.get("title")), *ids}
    torch.manual_seed(0)
    rng = random.Random(0)
    weights = open_file(find_weights(Q4, EncoderSettings()) / FILE)
    tokenizer, _ = weights.tokens.of_letters(None)
    asked = [one for file in chosen.files for one in with_unanswered([*read_set(file, left_out)], rng)]
    rows = [*rows_of(asked, tokenizer, rng)]
    model = Model(weights)
    if chosen.start is not None:
        model.start_from(load_file(chosen.start))
    trained = [*model.layers.parameters(), *model.heads.parameters()]
    groups = [[one for one in trained if (one.ndim > 1) is matrix] for matrix in (True, False)]
    decay = [{"params": part, "weight_decay": of} for part, of in zip(groups, (0.01, 0.0), strict=True)]
    optimizer = torch.optim.AdamW(decay, lr=RATE, betas=(0.9, 0.98))
    for step, batch in zip(range(chosen.steps), batches(rows, rng), strict=False):
        rate = RATE * min(1.0, step / WARM) * max(0.02, 1 - step / chosen.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = loss_of(batch, model, weights, bfloat16=chosen.bfloat16)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step}, loss {loss.item():.3f}", flush=True)
    save_file(model.trained(), chosen.into)


if __name__ == "__main__":
    main()
