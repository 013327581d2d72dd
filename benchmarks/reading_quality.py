"""How often the embedded reasoner quotes the answer of a real text, and how well it knows.

    python -m benchmarks.reading_quality FILE... [--libraries 12] [--questions 60] [--into FOLDER]

FILE: a reading set in SQuAD's JSON (SQuAD 1.1 and 2.0, XQuAD, SQuADShifts, PolicyQA, ...); none comes with
this project. Each article is a library of its own: its paragraphs are the passages, indexed with
all-MiniLM-L6-v2, every second article with its title. Sets of very short or very long articles (reviews,
comments) are mixed into libraries of 40 paragraphs. Each library is asked `--questions` of its own questions,
a fifth as many of other libraries of the set ("foreign": nothing in it answers them), and as many of those
that SQuAD 2.0 marks as impossible. A quotation is right where it holds one of the answers, as SQuAD
normalizes them. An answer that the threshold refuses counts as wrong and has no confidence. Intervals
resample libraries.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from corpora.records import Passage
from eval.metrics.calibration import expected_calibration_error
from eval.metrics.intervals import Estimate, cluster_interval
from eval.metrics.scored import Scored
from eval.reports.generic import draw_reliability
from eval.reports.spec import ReportSpec, Row, Section
from eval.runs.records import Query, Sample
from indexers.protocol import TextEncoder
from indexers.registry import open_query_encoder, open_text_encoder
from rag.answering import answer_question
from rag.questions import parse_question
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.embedded.sentences import split_sentences
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.store.reading import Reader
from rag.store.records import EncoderRef, FileRow, Meta
from rag.store.writing import Writer

GROUP = 40
ALONE = range(8, 101)
"""Paragraphs of an article that is a library by itself, by the median of its set."""
FEW = 8
"""Texts; no more than these are encoded one at a time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answers; `kind`: `own`, `foreign` or `impossible`, the last two without any."""

    text: str
    answers: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class ReadingLibrary:
    """The paragraphs of one library, as (title, text), and what it is asked."""

    name: str
    paragraphs: tuple[tuple[str, str], ...]
    asked: tuple[Asked, ...]


def reading_libraries(path: Path, libraries: int, questions: int) -> list[ReadingLibrary]:
    """The first `libraries` of a set; the same file gives the same questions."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    shuffler = random.Random(path.stem)
    if median(len(article["paragraphs"]) for article in articles) in ALONE:
        titles = [str(article.get("title") or "").replace("_", " ") for article in articles]
        parts = [(title * (at % 2), articles[at]["paragraphs"]) for at, title in enumerate(titles)]
    else:
        mixed = [paragraph for article in articles for paragraph in article["paragraphs"]]
        shuffler.shuffle(mixed)
        parts = [("", mixed[at : at + GROUP]) for at in range(0, len(mixed) - GROUP + 1, GROUP)]
    every = [_asked(paragraphs) for _, paragraphs in parts]
    found = []
    for at, (title, paragraphs) in enumerate(parts[:libraries]):
        others = [
            Asked(one.text, (), "foreign")
            for other, held in enumerate(every)
            if other != at
            for one in held
            if one.kind == "own"
        ]
        chosen: list[Asked] = []
        for kind, most in (("own", questions), ("impossible", questions // 5)):
            held = [one for one in every[at] if one.kind == kind]
            chosen += shuffler.sample(held, min(most, len(held)))
        chosen += shuffler.sample(others, min(questions // 5, len(others)))
        texts = tuple((title, str(paragraph["context"])) for paragraph in paragraphs)
        found.append(ReadingLibrary(f"{path.stem}-{at}", texts, tuple(chosen)))
    return found


def _asked(paragraphs: Sequence[Any]) -> list[Asked]:
    found = []
    for question in (question for paragraph in paragraphs for question in paragraph["qas"]):
        answers = tuple(sorted({str(answer["text"]) for answer in question.get("answers", ())}))
        impossible = bool(question.get("is_impossible"))
        if impossible or answers:
            kind = "impossible" if impossible else "own"
            found.append(Asked(str(question["question"]), () if impossible else answers, kind))
    return found


def normalized(text: str) -> str:
    """Lower case, without punctuation and articles, between two spaces (SQuAD's evaluation script)."""
    plain = "".join(" " if letter in string.punctuation else letter for letter in text.lower())
    return " " + " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split()) + " "


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a quotation holds one of the answers, word by word."""
    return any(normalized(answer).strip() and normalized(answer) in normalized(text) for answer in answers)


class Encoded:
    """MiniLM with its rows kept; many texts go through the encoder of indexing, few through a question's."""

    def __init__(self) -> None:
        settings = Settings().encoder
        self._many = open_text_encoder("all-MiniLM-L6-v2", settings)
        self._few = open_query_encoder("all-MiniLM-L6-v2", settings)
        self._rows: dict[str, Any] = {}

    def encode_text(self, texts: Sequence[str]) -> Any:
        """Unit rows, float32 (n, dim)."""
        import numpy as np

        missing = list(dict.fromkeys(text for text in texts if text not in self._rows))
        if missing:
            encoder = self._many if len(missing) > FEW else self._few
            self._rows.update(zip(missing, encoder.encode_text(missing), strict=True))
        return np.stack([self._rows[text] for text in texts])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._many, name)


@contextmanager
def opened(library: ReadingLibrary, encoder: TextEncoder) -> Iterator[Retriever]:
    """The library indexed in a temporary folder."""
    passages = [
        Passage(f"{library.name}-{at}", f"{library.name}-{at}", title, text)
        for at, (title, text) in enumerate(library.paragraphs)
    ]
    encoder.encode_text([asked.text for asked in library.asked])
    encoder.encode_text([sentence for _, text in library.paragraphs for sentence in split_sentences(text)])
    with tempfile.TemporaryDirectory() as folder:
        with Writer.open(Path(folder) / "library") as writer:
            writer.set_meta(Meta(None, EncoderRef(encoder.name, encoder.fingerprint, encoder.dim)))
            writer.put_file(FileRow("/passages.csv", "set", "passages", 1, 1, 1, "1"))
            texts = [f"{passage.title}\n{passage.text}" for passage in passages]
            writer.put_passages("set", passages, encoder.encode_text(texts))
            writer.maintain()
        with Reader.open(Path(folder) / "library") as reader:
            yield Retriever(reader, None, encoder, Settings())


def measure(library: ReadingLibrary, encoder: TextEncoder) -> list[Scored]:
    """Every question asked; `Sample.choice` is A where it was answered, None where not."""
    scored = []
    with opened(library, encoder) as retriever:
        reasoner = EmbeddedReasoner(encoder)
        for number, asked in enumerate(library.asked):
            question = parse_question(asked.text)
            answer = answer_question(question, retriever, reasoner, retriever.settings)
            query = Query(
                f"{library.name}-{number}", asked.text, (), "", asked.kind, "", library.name, (0.0, 0.0)
            )
            correct = answer.matched and holds(answer.text, asked.answers)
            choice = "A" if answer.matched else None
            sample = Sample(
                *(query.query_id, asked.kind, "", library.name, choice, correct, None),
                confidence=answer.confidence,
            )
            scored.append(Scored(query, sample, None, None, False, False))
    return scored


def share(scored: Sequence[Scored], *, answered: bool) -> Estimate | None:
    """Of the questions that are answered, or answered right."""
    values = [float(one.sample.choice is not None if answered else one.sample.correct) for one in scored]
    return cluster_interval(values, [one.query.cluster for one in scored])


def report(name: str, scored: Sequence[Scored]) -> str:
    """One line of a table: shares in percent with their intervals."""
    own, foreign, impossible = (
        [one for one in scored if one.query.family == kind] for kind in ("own", "foreign", "impossible")
    )
    answered = [one for one in own if one.sample.choice is not None]
    cells = [
        name,
        str(len({one.query.cluster for one in own})),
        str(len(own)),
        _percent(share(own, answered=False)),
        _percent(share(own, answered=True)),
        _percent(expected_calibration_error(answered)),
        _percent(share(foreign, answered=True)),
        _percent(share(impossible, answered=True)),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(found: Estimate | None) -> str:
    if found is None:
        return "-"
    low, high = found.low, found.high
    interval = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
    return f"{100 * found.value:.1f}{interval}, n={found.n}"


HEAD = (
    "| set | libraries | questions | right | answered | calibration error | foreign answered | "
    "impossible answered |"
)


def main() -> None:
    """Print one line a set; `--into`: the reliability diagram of the answered questions too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--libraries", type=int, default=12)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--into", type=Path, help="folder for reliability.png")
    chosen = parser.parse_args()
    encoder = Encoded()
    print(HEAD, "|---|---|---|---|---|---|---|---|", sep="\n")
    rows = []
    for path in chosen.files:
        found = [
            scored
            for library in reading_libraries(path, chosen.libraries, chosen.questions)
            for scored in measure(library, encoder)
        ]
        print(report(path.stem, found), flush=True)
        answered = [one for one in found if one.query.family == "own" and one.sample.choice is not None]
        if answered:
            rows.append(Row(path.stem, path.stem, (0,), {}, tuple(answered), (), ()))
    if chosen.into is not None:
        chosen.into.mkdir(parents=True, exist_ok=True)
        spec = ReportSpec(lambda _: [], lambda *_: [], "", shown=tuple(row.system for row in rows))
        draw_reliability(Section("reading", spec, {}, (), tuple(rows)), chosen.into)


if __name__ == "__main__":
    main()
