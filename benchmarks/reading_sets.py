"""Libraries and questions out of published reading sets, for `reading_quality` and `training.quotation`.

A set is a file of SQuAD's JSON (SQuAD 1.1 and 2.0, XQuAD, SQuADShifts, COVID-QA, PolicyQA), TweetQA's JSON or
SubjQA's CSV; none comes with this project. Its paragraphs are cut into passages as `rag index` cuts them.
"""

from __future__ import annotations

import csv
import json
import random
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from corpora.passages.chunking import chunk
from corpora.passages.document import make_document
from corpora.records import Passage

GROUP = 40
UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
ALONE = range(1_000, 12_001)
"""Words of an article that is a library by itself, by the median of its set."""
NO_ANSWER = "ANSWERNOTFOUND"
"""The mark of SubjQA, at the end of each review too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answers; `kind`: `own`, `foreign` or `impossible`, the last two without any."""

    text: str
    answers: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class ReadingLibrary:
    """The passages of one library, and what it is asked."""

    name: str
    passages: tuple[Passage, ...]
    asked: tuple[Asked, ...]

    @property
    def set_name(self) -> str:
        """The stem of the file that it is from."""
        return self.name.rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    title: str
    text: str
    asked: tuple[Asked, ...]


def reading_libraries(file: str | Path, libraries: int, questions: int) -> list[ReadingLibrary]:
    """The first `libraries` of a set; the same file gives the same questions.

    `file`: a path, or "PATH:A-B" for its articles from A up to B, which are counted from 0.

    Articles of a middling length are libraries of their own, every second one with its title; others are
    mixed into libraries of `GROUP` paragraphs. Up to `questions` of each library's own are sampled, a fifth
    as many impossible ones, and a fifth as many foreign ones: own to others of the set and not to it.
    """
    name, _, span = str(file).partition(":")
    first, _, last = span.partition("-")
    path = Path(name)
    articles = _articles(path)[int(first or 0) : int(last) if last else None]
    shuffler = random.Random(path.stem)
    if int(median(sum(len(one.text.split()) for one in article) for article in articles)) in ALONE:
        parts = [
            [replace(one, title=one.title * (at % 2)) for one in article]
            for at, article in enumerate(articles)
        ]
    else:
        mixed = [replace(paragraph, title="") for article in articles for paragraph in article]
        shuffler.shuffle(mixed)
        parts = [mixed[at : at + GROUP] for at in range(0, len(mixed) - GROUP + 1, GROUP)]
    every = [_merged(asked for held in part for asked in held.asked) for part in parts]
    found = []
    for at, part in enumerate(parts[:libraries]):
        own = {normalized(one.text) for one in every[at]}
        others = {
            normalized(one.text): Asked(one.text, (), "foreign")
            for part_asked in every
            for one in part_asked
            if one.kind == "own" and normalized(one.text) not in own
        }
        chosen: list[Asked] = []
        for kind, most in (("own", questions), ("impossible", questions // 5)):
            held = [one for one in every[at] if one.kind == kind]
            chosen += shuffler.sample(held, min(most, len(held)))
        chosen += shuffler.sample(list(others.values()), min(questions // 5, len(others)))
        passages = {one.passage_id: one for paragraph in part for one in _passages(paragraph)}
        found.append(ReadingLibrary(f"{path.stem}-{at}", tuple(passages.values()), tuple(chosen)))
    return found


def _merged(every: Iterable[Asked]) -> list[Asked]:
    """Each question once, with all answers that its paragraphs give; impossible only without any."""
    found: dict[str, Asked] = {}
    for one in every:
        before = found.get(normalized(one.text))
        answers = tuple(sorted({*(before.answers if before else ()), *one.answers}))
        found[normalized(one.text)] = Asked(one.text, answers, "own" if answers else "impossible")
    return list(found.values())


def _articles(path: Path) -> list[list[_Paragraph]]:
    """The paragraphs of each article of a set."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [
                (row["review"], row["question"], [row["human_ans_spans"]]) for row in csv.DictReader(stream)
            ]
        return [_by_text(rows)]
    held = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(held, list):
        return [_by_text((row["Tweet"], row["Question"], row["Answer"]) for row in held)]
    return [
        [
            _Paragraph(str(article.get("title") or "").replace("_", " "), one["context"], _asked(one["qas"]))
            for one in article["paragraphs"]
        ]
        for article in held["data"]
    ]


def _by_text(rows: Iterable[tuple[str, str, Sequence[str]]]) -> list[_Paragraph]:
    """Paragraphs of rows of a text, a question and its answers; only answers that the text holds count.

    A row without any leaves the text alone."""
    found: dict[str, list[Asked]] = {}
    for text, question, answers in rows:
        text = text.removesuffix(NO_ANSWER).strip()
        asked = found.setdefault(text, [])
        if given := tuple(sorted({answer for answer in answers if holds(text, (answer,))})):
            asked.append(Asked(question, given, "own"))
    return [_Paragraph("", text, tuple(held)) for text, held in found.items()]


def _asked(questions: Sequence[Any]) -> tuple[Asked, ...]:
    found = []
    for question in questions:
        answers = tuple(sorted({str(answer["text"]) for answer in question.get("answers", ())}))
        impossible = bool(question.get("is_impossible"))
        if impossible or answers:
            kind = "impossible" if impossible else "own"
            found.append(Asked(str(question["question"]), () if impossible else answers, kind))
    return tuple(found)


def _passages(paragraph: _Paragraph) -> list[Passage]:
    document = make_document(paragraph.title, paragraph.text)
    return chunk(document) if document else []


def normalized(text: str) -> str:
    """Lower case, without punctuation and articles, between two spaces (SQuAD's evaluation script)."""
    plain = "".join(" " if letter in string.punctuation else letter for letter in text.lower())
    return " " + " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split()) + " "


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a quotation holds one of the answers, word by word; sign by sign where words have no blanks."""
    said = normalized(text)
    wanted = [normalized(answer) for answer in answers if normalized(answer).strip()]
    return any((one.strip() if UNSPACED.search(one) else one) in said for one in wanted)
