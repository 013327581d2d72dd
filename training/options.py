"""Fit the weights of `rag.reasoners.embedded.answer_choice` to published reading sets and made statements.

    python -m training.options FILE... --into rag/reasoners/embedded/options.json [--unseen FILE...]

The libraries and questions are those of `benchmarks.reading_quality`. The options of a question are its
answer and three answers of other questions of its library, with a digit where it has one and of like length.
To every fourth question there are four others and no answer, and so to the foreign ones. Evidence is
retrieved as `rag ask` does. Besides these: sentences of the sets, claimed and denied, and the facts of the
made how-to passages about things that no clip of the synthetic world shows (`eval.workbench.passages`),
against one that is not so.

What frames alone say is right with a chance that is fitted to each `--seen FILE LIBRARY`, JSON lines of
questions to a library: {"question": str, "options": [str, ...], "answer": index or null, "clip": the file
that shows it or null, "also": [others that do]}. Each library weighs the same. Those of `seen.jsonl` were
written by eye about the 55 public clips of the development file of `rag eval run realclips`.

One conditional logit is fitted over all options and "none of them" (`answer_choice`), with a small L2 penalty
on standardized weights. The same files give the same bytes. Printed is how well each set is answered by
weights that are fitted to the others alone, and how often one of the options is chosen where none is right.
"""

from __future__ import annotations

import json
import math
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.options import option_parser
from benchmarks.reading_quality import opened
from benchmarks.reading_sets import Asked, ReadingLibrary, reading_libraries
from corpora.records import Passage
from eval.workbench.passages import world_passages
from indexers.registry import open_query_encoder
from rag import Library
from rag.answering import Context, Pipeline
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.embedded.answer_choice import (
    FEATURES,
    NONE,
    Compared,
    Weights,
    compare,
    seen_features,
    weights,
)
from rag.reasoners.embedded.frame_votes import frame_votes, window_weights
from rag.reasoners.embedded.rewriting import anchor_event, rewrite_question, spelled_out
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import sentences_of
from rag.reasoners.roles.reading import Reading, ReadPassage
from rag.records import Question, SearchFilter
from rag.settings import Settings
from rag.words import split_sentences
from training.quotation import conditional_logit, logistic_fit, read_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHERS = 3
NEAREST = 10
"""Answers of other questions nearest in length, of which the others are taken."""
ABSENT = 4
"""One question in so many is asked once more without its answer."""
AMONG = 5
"""Files of which a question about what is seen is asked."""
LEAST_CLAIMED = 5
"""Words that a sentence which is claimed has more than."""
CLAIMED = 60
"""Sentences of a set that are claimed and denied."""
IMAGE = 0.625
"""The scale of the frames' vote: 1 / the temperature of least log loss on 450 questions of two dev worlds of
egofact-workbench-hard (docs/design/workbench.md)."""
FIRST = np.ones(len(FEATURES))
"""Weights by which the sentences of the first fit are chosen."""
PENALTY = 1e-3
DIGITS = 3
_VERB = re.compile(
    r"\b(?:is|are|was|were|can|could|has|have|had|must|should|will|ist|sind|war|waren|kann|hat|es|son|fue)\b"
)
_NOT = {"ist": "nicht", "sind": "nicht", "war": "nicht", "waren": "nicht", "kann": "nicht", "hat": "nicht"}
_NUMBER = re.compile(r"\b\d+\b")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, what was compared with its options, and the right one; None where none is."""

    set_name: str
    kind: str
    reading: Reading
    truth: int | None

    def compared(self, vectors: SentenceVectors, weights: NDArray[np.float64]) -> Compared:
        """What the reasoner compares with these weights."""
        question = spelled_out(self.reading.question)
        return compare(question, sentences_of(self.reading), vectors, {}, weights)


def asked_options(library: ReadingLibrary) -> Iterator[tuple[str, Question, int | None]]:
    """Kind, question with options, and the right one's index."""
    pool = sorted({min(one.answers, key=len) for one in library.asked if one.answers})
    for at, asked in enumerate(library.asked):
        if asked.kind == "impossible":
            continue
        draw = random.Random(zlib.crc32(asked.text.encode()))
        truth = min(asked.answers, key=len, default="")
        others = _others(asked, truth, pool)
        if len(others) <= OTHERS:
            continue
        if truth:
            options = [*draw.sample(others, OTHERS), truth]
            draw.shuffle(options)
            yield "own", Question(str(at), asked.text, tuple(options)), options.index(truth)
        if not truth or at % ABSENT == 0:
            options = draw.sample(others, OTHERS + 1)
            yield "absent" if truth else "foreign", Question(str(at), asked.text, tuple(options)), None


def _others(asked: Asked, truth: str, pool: Sequence[str]) -> list[str]:
    """Answers to other questions of the kind and length of the truth."""
    held = [one.casefold() for one in asked.answers]
    free = [
        one for one in pool if not any(one.casefold() in other or other in one.casefold() for other in held)
    ]
    alike = [one for one in free if bool(_NUMBER.search(one)) == bool(_NUMBER.search(truth))]
    if not truth:
        return free
    free = alike if len(alike) > OTHERS else free
    return sorted(free, key=lambda one: (abs(len(one) - len(truth)), one))[:NEAREST]


def retrieved(library: ReadingLibrary, encoder: Any) -> Iterator[Example]:
    """All questions of a library with what `rag ask` reads for them."""
    with opened(library, encoder) as retriever:
        reasoner = EmbeddedReasoner(encoder)
        for kind, question, truth in asked_options(library):
            yield Example(library.set_name, kind, read_passages(question, retriever, reasoner)[0], truth)


def claimed(library: ReadingLibrary, most: int) -> Iterator[Example]:
    """Sentences that are, as a question, to be affirmed, or denied where the text denies or gives another
    number; and every `ABSENT`-th once more, of a passage that does not have it.

    The question leaves out a third of the sentence's words."""
    draw = random.Random(library.name)
    chosen = draw.sample(library.passages, min(most, len(library.passages)))
    for number, passage in enumerate(chosen):
        sentences = split_sentences(passage.text)
        fit = [
            at for at, one in enumerate(sentences) if _VERB.search(one) and len(one.split()) > LEAST_CLAIMED
        ]
        if not fit:
            continue
        at = draw.choice(fit)
        said = sentences[at]
        kept = [word for word in said.rstrip(".").split() if _NUMBER.search(word) or draw.random() > 1 / 3]
        kind = draw.choice(("yes", "no", "number") if _NUMBER.search(said) else ("yes", "no"))
        if kind == "no":
            said = _VERB.sub(lambda verb: f"{verb[0]} {_NOT.get(verb[0], 'not')}", said, count=1)
        if kind == "number":
            said = _NUMBER.sub(lambda found: str(int(found[0]) + draw.choice((1, 2, 10))), said)
        options = [" ".join(kept), f"not {' '.join(kept)}"]
        if draw.random() < 0.5:
            options.reverse()
        truth = int(options[0].startswith("not ") == (kind == "yes"))
        question = Question("claim", f"{' '.join(kept)}?", tuple(options))
        body = replace(passage, text=" ".join([*sentences[:at], said, *sentences[at + 1 :]]))
        yield Example(library.set_name, "claim", _reading(question, [body]), truth)
        if number % ABSENT == 0:
            yield Example(library.set_name, "absent", _reading(question, [chosen[number - 1]]), None)


def stated() -> Iterator[Example]:
    """The facts of made how-to passages about things that no clip shows, each against one that is not so; and
    every `ABSENT`-th once more, of another passage."""
    draw = random.Random(5)
    strange = [one for one in world_passages() if one.kind_id is None]
    passages = [Passage(one.passage_id, one.passage_id, one.title, one.text) for one in strange]
    for number, one in enumerate(strange):
        for said in one.statements:
            options = [said.fact, draw.choice(said.counterfacts)]
            draw.shuffle(options)
            question = Question("fact", "Which statement is true about the object?", tuple(options))
            yield Example("how-to", "claim", _reading(question, [passages[number]]), options.index(said.fact))
            if number % ABSENT == 0:
                yield Example("how-to", "absent", _reading(question, [passages[number - 1]]), None)


def _reading(question: Question, passages: Sequence[Passage]) -> Reading:
    held = tuple(ReadPassage(one, "", 1.0, None) for one in passages)
    return Reading(question, rewrite_question(question), anchor_event(question), (), held)


def fit(examples: Sequence[Example], vectors: SentenceVectors, by: NDArray[np.float64]) -> Weights:
    """Weights of least log loss of the right option, or of "none of them" where none is; of the sentences
    that the weights `by` put first, which the reasoner compares."""
    pairs = [(one.compared(vectors, by), one.truth) for one in examples]
    held = [(one, truth) for one, truth in pairs if one.sentences]
    size = len(FEATURES)
    spread = np.concatenate([one.rows.reshape(-1, size) for one, _ in held]).std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    questions = []
    for one, truth in held:
        # Each sentence of each option, and last that none is right, which has weights of its own.
        rows = np.zeros((one.rows.shape[0] * one.rows.shape[1] + 1, size + len(NONE)))
        rows[:-1, :size] = (one.rows / spread).reshape(-1, size)
        rows[-1, size:] = one.facts
        of_option = np.repeat(np.arange(len(one.rows)), one.rows.shape[1])
        questions.append((rows, np.append(of_option == truth, truth is None).astype(np.float64)))
    penalty = np.append(np.full(size, PENALTY), np.zeros(len(NONE)))
    found = conditional_logit(questions, penalty)
    return Weights((found[:size] / spread).round(DIGITS), found[size:].round(DIGITS), IMAGE, weights().seen)


def fit_seen(sets: Iterable[tuple[str, str]]) -> tuple[float, ...]:
    """`Weights.seen`: a logistic regression of whether the option that frames put first is right.

    `sets`: of each a file of questions and the library that they are asked of. Sets weigh the same, and in
    each the questions with an answer half, and those without the other half.
    """
    rows, right, weight = [], [], []
    for file, library in sets:
        absent = []
        for truth, best, features in seen_rows(Path(file).read_text(encoding="utf-8").splitlines(), library):
            rows.append(features)
            right.append(float(best == truth))
            absent.append(truth is None)
        count = np.array([len(absent) - sum(absent), sum(absent)])
        weight += (0.5 / np.maximum(1, count))[np.array(absent, int)].tolist()
    penalty = np.array([PENALTY] * (len(rows[0]) - 1) + [0.0])
    found = logistic_fit(np.array(rows), np.array(right), np.array(weight), penalty)
    return tuple(found.round(DIGITS).tolist())


def seen_rows(lines: Iterable[str], library: str) -> Iterator[tuple[int | None, int, list[float]]]:
    """For each question for which frames vote: the right option, the one they put first, and the features."""
    with Library.open(library) as opened_library:
        retriever, settings = opened_library.engine.new_retriever(), opened_library.settings
        reasoner = EmbeddedReasoner(retriever.text_encoder, retriever.tower)
        names = sorted(retriever.reader.indexed_paths())
        for question, truth, paths in asked_seen(lines, names):
            where = retriever.resolve(SearchFilter(paths=paths))
            context = Context(
                *(question, retriever, reasoner, settings, where),
                top_k=settings.search.top_k,
                threshold=settings.search.threshold,
            )
            reading = Pipeline().run(context).reading
            if reading is None:
                continue
            calibrator = reasoner.images.calibrator
            votes = frame_votes(reading, calibrator, window_weights(reading, calibrator))
            if votes is not None:
                best = max(range(len(votes)), key=lambda at: votes[at].z)
                yield truth, best, seen_features(votes[best], len(votes))


def asked_seen(
    lines: Iterable[str], names: Sequence[str]
) -> Iterator[tuple[Question, int | None, tuple[str, ...]]]:
    """Each question, its right option, and the files that it is asked of: all, `AMONG` with the one that
    shows it, as many others, and all others."""
    draw = random.Random(3)
    for asked in map(json.loads, lines):
        question = Question("seen", asked["question"], tuple(asked["options"]))
        yield question, asked["answer"], tuple(names)
        if asked["clip"] is not None:
            showing = [asked["clip"], *asked["also"]]
            others = [name for name in names if not name.endswith(tuple(showing))]
            yield question, asked["answer"], (asked["clip"], *draw.sample(others, AMONG - 1))
            yield question, None, tuple(draw.sample(others, AMONG))
            yield question, None, tuple(others)


def shares(one: Compared, by: Weights) -> NDArray[np.float64]:
    """float64 (options + 1,): of each option, and of none of them."""
    none = float(one.facts @ by.none)
    words = (
        np.logaddexp.reduce(one.rows @ by.features, axis=1)
        if one.sentences
        else np.full(len(one.rows), -np.inf)
    )
    values = np.array([*words, none])
    return np.asarray(np.exp(values - np.logaddexp.reduce(values)), np.float64)


def measured(held: Sequence[Example], vectors: SentenceVectors, by: Weights) -> dict[str, float]:
    """For questions with an answer: percent right where one must be chosen and where not; of those
    without: percent to which an option is chosen."""
    found = [(one, shares(one.compared(vectors, by.features), by)) for one in held]
    asked = [(one.truth, share) for one, share in found if one.truth is not None]

    def percent(hits: Sequence[Any]) -> float:
        return 100 * sum(hits) / len(hits) if hits else math.nan

    return {
        "questions": len(asked),
        "must": percent([share[:-1].argmax() == truth for truth, share in asked]),
        "right": percent([share.argmax() == truth for truth, share in asked]),
        **{
            kind: percent([share.argmax() < len(share) - 1 for one, share in found if one.kind == kind])
            for kind in ("absent", "foreign")
        },
    }


def main() -> None:
    """Write the weights with the sets that they were fitted to; print the table of the sets left out."""
    parser = option_parser(__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--libraries", type=int, default=6)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--unseen", nargs="*", type=Path, default=[], help="sets that are measured alone")
    parser.add_argument(
        "--seen", nargs=2, action="append", default=[], metavar=("FILE", "LIBRARY"), help="what is seen there"
    )
    chosen = parser.parse_args()
    encoder = open_query_encoder(Settings().encoder.text, Settings().encoder)
    vectors = SentenceVectors(encoder)
    every = {"how-to": list(stated())}
    for path in (*chosen.files, *chosen.unseen):
        libraries = reading_libraries(path, chosen.libraries, chosen.questions)
        every[path.stem] = [
            one
            for library in libraries
            for one in (*retrieved(library, encoder), *claimed(library, CLAIMED // chosen.libraries))
        ]
    fitted = ["how-to", *(path.stem for path in chosen.files)]
    by = fit_to([one for name in fitted for one in every[name]], vectors)
    if chosen.seen:
        by = replace(by, seen=fit_seen(chosen.seen))
    made = {
        "fitted_to": [*(path.name for path in chosen.files), "how-to passages (eval.workbench.passages)"],
        "questions": sum(len(every[name]) for name in fitted),
        "features": dict(zip(FEATURES, by.features.tolist(), strict=True)),
        "none": dict(zip(NONE, by.none.tolist(), strict=True)),
        "image": by.image,
        "seen": by.seen,
    }
    chosen.into.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name, held in every.items():
        others = by
        if name in fitted:
            others = fit_to([one for other in fitted for one in every[other] if other != name], vectors)
        table = measured(held, vectors, others)
        print(name, *(f"{key} {value:.1f}" for key, value in table.items()), sep=" | ")


def fit_to(held: Sequence[Example], vectors: SentenceVectors) -> Weights:
    """To sentences that `FIRST` puts first, then to those that these weights do: those that the reasoner
    compares."""
    return fit(held, vectors, fit(held, vectors, FIRST).features)


if __name__ == "__main__":
    main()
