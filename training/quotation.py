"""Fit the weights of `rag.reasoners.embedded.answer_open` to published reading sets.

    python -m training.quotation FILE[:A-B]... --into rag/reasoners/embedded/quotation.json

The libraries and questions are those of `benchmarks.reading_quality`, of a file from its article FIRST on;
the same files give the same bytes. The order is a conditional logit: of all sentences that were read for a
question, those that hold an answer get the greatest share. The confidence is a logistic regression on
held-out libraries: the order is fitted without each fifth of the libraries and gives the evidence of that
fifth, so that the confidence is not that of text it was fitted to. Foreign questions together count as much
as all of their own text: an answer to one is worse than none to another. Each question that is answered is
asked once more without the sentences that answer it, and counts 0.15 times. Both have a small L2 penalty. No
file may be one that the reader was trained on (`training.reader`): of those it knows the answers. Whether a
number is asked for is a logistic regression on the vectors of questions alone, of the sets of `--numbers`.

With `--english` the weights of what the ranker reads are fitted, else those of other languages; the other
part of `--into` stays, and so do the weights of numbers without `--numbers`, and the order with
`--confidence-only`. So were made both parts of the file that comes with this project (`--libraries 20
--questions 30` and `--libraries 4 --questions 25`). Some sets of the second ask in another language than the
text's: such a set, as `xquad_en_asked_de.json`, is the file of the text with the questions of the other
language's file, by their ids. CLAPNQ, SelQA and FairytaleQA were written as SQuAD's JSON: an answer is a
sentence that is marked as one, or words of the text.

Printed is how well each set is answered by weights that are fitted to the others alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.options import option_parser
from benchmarks.reading_quality import draw, opened, outcome, print_table
from benchmarks.reading_sets import Asked, ReadingLibrary, holds, reading_libraries
from eval.metrics.scored import Scored
from indexers.registry import open_query_encoder
from indexers.settings import EncoderSettings
from rag.answering import EVERYWHERE, Context, Pipeline, read
from rag.questions import parse_question
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.embedded.answer_open import (
    EVIDENCE,
    FEATURES,
    AskedText,
    Weights,
    asked_texts,
    columns,
    read_values,
)
from rag.reasoners.embedded.ranker import open_ranker
from rag.reasoners.roles.reading import Reading
from rag.records import Question
from rag.retrieval import Retriever
from rag.settings import Settings
from rag.words import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder

FOLDS = 5
LIBRARIES, QUESTIONS = 25, 1000
"""Libraries and questions that are taken of a set whose questions ask for numbers."""
PRECISE = {"maxiter": 3000, "ftol": 1e-13, "gtol": 1e-9}
ABSENT = "absent"
"""Kind of a question asked once more of what was read without the sentences that answer it."""
ABSENT_WEIGHT = 0.15
"""Weight of such a question in the fit of the confidence; one of its own text and an impossible one count 1.
All foreign ones count as much as all of their own text. Of 0.6, 1 and 1.6 times that, 0.6 answered more of
them, and 1.6 fewer questions in another language than the text's."""
PENALTY = 1e-3
NUMBER_PENALTY = 1e-4
"""The value with most right of 1e-6, 1e-5, 1e-4 and 3e-4, on the sets of docs/design/reading.md."""
DIGITS = 3
"""Digits of a weight: sums of float32 in another order change the fifth."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the sentences read for it and which of them hold an answer, float64 (n,)."""

    library: str
    set_name: str
    asked: Asked
    text: AskedText
    reads: Sequence[float]
    cosines: Sequence[float]
    right: NDArray[np.float64]
    relevant: bool
    """Whether retrieval found a passage above the threshold; else no sentence is quoted."""
    relevances: Sequence[float]
    rows: NDArray[np.float64]
    """`FEATURES` of each sentence, float64 (n, features)."""

    @property
    def foreign(self) -> bool:
        """Whether it is a question of another library."""
        return self.asked.kind == "foreign"


def read_passages(
    question: Question, retriever: Retriever, reasoner: EmbeddedReasoner
) -> tuple[Reading, float]:
    """What `rag ask` reads of a library of text, and the relevance of its best passage."""
    search, stages = retriever.settings.search, Pipeline()
    context = Context(
        *(question, retriever, reasoner, retriever.settings, EVERYWHERE),
        top_k=search.top_k,
        threshold=search.threshold,
    )
    rewriting = stages.rewrite(context)
    passages = stages.retrieve_passages(context, rewriting)
    relevance = max((one.relevance for one in passages), default=0.0)
    return read(context, rewriting, (), (), (), passages), relevance


def examples(library: ReadingLibrary, encoder: Any, *, english: bool) -> list[Example]:
    """Examples of a library's questions; if `english`, those that the ranker can read, with its relevance."""
    found = []
    with opened(library, encoder) as retriever:
        reasoner = EmbeddedReasoner(encoder)
        for asked in library.asked:
            reading, relevance = read_passages(parse_question(asked.text), retriever, reasoner)
            texts, least = asked_texts(asked.text, reading), retriever.settings.search.threshold
            if len(texts) > 1 or (english and True not in texts):
                continue
            text = next(iter(texts.values()), AskedText(asked.text, []))
            said, relevant = [one.context for one in text.sentences], relevance >= least
            values = open_ranker().values(asked.text, said) if english else np.zeros(len(said))
            known = dict(zip(said, values.tolist(), strict=True))
            found.append(_example(library, asked, text, encoder, known, relevant=relevant))
            kept = [one for one in text.sentences if not holds(one.text, asked.answers)]
            if asked.kind == "own" and len(kept) < len(text.sentences):
                without = AskedText(asked.text, kept, text.scores)
                absent = replace(asked, answers=(), kind=ABSENT)
                found.append(_example(library, absent, without, encoder, known, relevant=relevant))
    return found


def _example(
    library: ReadingLibrary,
    asked: Asked,
    text: AskedText,
    encoder: Any,
    known: Mapping[str, float],
    *,
    relevant: bool,
) -> Example:
    """`known`: the relevance of each sentence."""
    said = [one.context for one in text.sentences]
    vector, *each = np.asarray(encoder.encode_text([asked.text, *said]), np.float64)
    cosines = [round(float(vector @ row), 6) for row in each]
    right = np.array([float(holds(one.text, asked.answers)) for one in text.sentences])
    reads = read_values(text, asked.text) if cosines else []
    relevance = [known[one] for one in said]
    rows = rows_of(text, reads, cosines, relevance)
    usable = relevant and bool(cosines)
    return Example(
        library.name, library.set_name, asked, text, reads, cosines, right, usable, relevance, rows
    )


def rows_of(text: AskedText, *values: Sequence[float]) -> NDArray[np.float64]:
    """`Example.rows`; `values`: its `reads`, `cosines` and `relevances`."""
    return columns(FEATURES, (text.features(at, *each) for at, each in enumerate(zip(*values, strict=True))))


def logistic_fit(
    rows: NDArray[np.float64],
    right: NDArray[np.float64],
    weight: NDArray[np.float64],
    penalty: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weights, float64 (features,), of rows (n, features) that are `right`, 0 or 1 (n,); `weight` (n,) sums
    to 1, `penalty` is that of each column."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = rows @ weights
        losses = np.logaddexp(0, values) - right * values
        slope = rows.T @ (weight * (1 / (1 + np.exp(-values)) - right))
        return float(weight @ losses + penalty @ weights**2), slope + 2 * penalty * weights

    return _minimized(loss, rows.shape[1])


def fit_order(held: Sequence[Example]) -> NDArray[np.float64]:
    """Weights of `FEATURES`: the log of the share of right sentences, summed over questions that have one."""
    useful = [one for one in held if 0 < one.right.sum() < len(one.right)]
    spread = _spread(np.concatenate([one.rows for one in useful]))
    penalty = np.full(len(FEATURES), PENALTY)
    return conditional_logit([(one.rows / spread, one.right) for one in useful], penalty) / spread


def conditional_logit(
    questions: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], penalty: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights, float64 (features,), of greatest mean log share of what is right of each question, less the
    `penalty` of each weight times its square.

    `questions`: the features of what may be chosen, float64 (n, features), and which of it is right, 1 or 0,
    float64 (n,)."""
    # Padded to the longest: what is none has value -inf.
    shape = (len(questions), max(len(right) for _, right in questions))
    rows, right, none = np.zeros((*shape, len(penalty))), np.zeros(shape), np.full(shape, -np.inf)
    for at, (own, wanted) in enumerate(questions):
        rows[at, : len(own)], right[at, : len(own)], none[at, : len(own)] = own, wanted, 0.0

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = rows @ weights + none
        parts = np.exp(values - values.max(axis=1, keepdims=True))
        hits = parts * right
        whole, hit = parts.sum(axis=1), np.maximum(hits.sum(axis=1), 1e-300)
        slope = np.einsum("mn,mnf->f", parts / whole[:, None] - hits / hit[:, None], rows) / len(rows)
        value = np.log(whole / hit).mean() + penalty @ weights**2
        return float(value), slope + 2 * penalty * weights

    return _minimized(loss, len(penalty))


def _minimized(loss: Callable[..., Any], size: int) -> NDArray[np.float64]:
    from scipy.optimize import minimize  # a second of every run of the tests

    found = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=PRECISE)
    return np.asarray(found.x, np.float64)


def _spread(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of each column; 1 for one that is always the same."""
    found = rows.std(axis=0)
    return np.where(found > 1e-9, found, 1.0)


def evidence(
    held: Sequence[Example], order: NDArray[np.float64], foreign: float
) -> tuple[NDArray[np.float64], ...]:
    """`EVIDENCE` of the sentence that each question quotes, whether it is right, and its weight, which
    is `foreign` for a foreign one."""
    background = mean_of_wrong(held, order)
    found, right, weight = [], [], []
    for one in held:
        values = one.rows @ order
        best = int(values.argmax())
        row = dict(zip(FEATURES, one.rows[best].tolist(), strict=True))
        row["most_relevant"] = float(one.rows[:, FEATURES.index("relevance")].max())
        found.append(one.text.evidence(best, row, values, best, background))
        right.append(one.right[best])
        weight.append({"foreign": foreign, ABSENT: ABSENT_WEIGHT}.get(one.asked.kind, 1.0))
    return columns(EVIDENCE, found), np.array(right), np.array(weight)


def mean_of_wrong(held: Sequence[Example], order: NDArray[np.float64]) -> float:
    """Mean value of the sentences that hold no answer."""
    values = [(one.rows @ order)[one.right == 0] for one in held]
    return float(np.concatenate(values).mean())


def fit_confidence(
    rows: NDArray[np.float64], right: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of `EVIDENCE` by a logistic regression; the constant has no penalty."""
    spread = _spread(rows)
    penalty = np.full(rows.shape[1], PENALTY)
    penalty[EVIDENCE.index("constant")] = 0.0
    return logistic_fit(rows / spread, right, weight / weight.sum(), penalty) / spread


def fit_number(asked: Sequence[Asked], encoder: TextEncoder) -> list[float]:
    """`Weights.number`, fitted to whether an answer to a question has a number."""
    vectors = np.asarray(encoder.encode_text([one.text for one in asked]), np.float64)
    right = np.array([float(any(map(numbers, one.answers))) for one in asked])
    penalty = np.append(np.full(vectors.shape[1], NUMBER_PENALTY), 0.0)
    rows = np.column_stack([vectors, np.ones(len(vectors))])
    found = logistic_fit(rows, right, np.full(len(right), 1 / len(right)), penalty)
    return [round(float(value), DIGITS) for value in found]


def fit(
    every: Sequence[Example], number: Sequence[float], encoder: str, order: NDArray[np.float64] | None = None
) -> Weights:
    """All weights.

    `number`: as of `fit_number`; `encoder`: the name of the encoder of all vectors; `order`: weights of
    `FEATURES` that are not fitted, but kept.

    Raises ValueError for fewer than two libraries: the confidence is that of libraries left out.
    """
    held = [one for one in every if one.cosines]
    libraries = sorted({one.library for one in held})
    if len(libraries) < 2:
        raise ValueError("the confidence is fitted to libraries left out: give two or more")
    kinds = Counter(one.asked.kind for one in held)
    foreign = kinds["own"] / max(1, kinds["foreign"])
    parts = []
    for fold in range(min(FOLDS, len(libraries))):
        left_out = set(libraries[fold::FOLDS])
        seen = [one for one in held if one.library not in left_out and not one.foreign]
        kept = fit_order(seen) if order is None else order
        parts.append(evidence([one for one in held if one.library in left_out], kept, foreign))
    confidence = fit_confidence(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    if order is None:
        order = fit_order([one for one in held if not one.foreign])
    background = round(mean_of_wrong(held, order), DIGITS)
    return Weights(_named(FEATURES, order), _named(EVIDENCE, confidence), number, encoder, background)


def _named(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return {name: round(float(value), DIGITS) for name, value in zip(names, values, strict=True)}


def answered(held: Sequence[Example], fitted: Weights) -> list[Scored]:
    """Each question as `fitted` answers it."""
    found = []
    threshold = Settings().search.threshold
    for number, one in enumerate(held):
        confidence, right = 0.0, False
        if one.relevant:
            places, rows = one.text.shortlist(one.reads, fitted)
            cosines, relevance = ([every[at] for at in places] for every in (one.cosines, one.relevances))
            ranked = one.text.ranked(places, rows, cosines, relevance, fitted)
            confidence, right = ranked.confidence, bool(one.right[ranked.found[0].place])
        found.append(
            outcome(one.library, number, one.asked, confidence, right, matched=confidence >= threshold)
        )
    return found


def asked_of(files: Sequence[str]) -> list[Asked]:
    """Questions with answers: of each file at most 1,000, of all its libraries."""
    found = []
    for file in files:
        libraries = reading_libraries(file, LIBRARIES, QUESTIONS // LIBRARIES)
        found += [one for library in libraries for one in library.asked if one.answers]
    return found


def main() -> None:
    """Write the weights with the sets that they were fitted to; print the table of the sets left out."""
    parser = option_parser(__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--libraries", type=int, default=6)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--numbers", nargs="+", default=[], help="sets that those weights are fitted to")
    parser.add_argument("--english", action="store_true", help="fit the weights of what the ranker reads")
    parser.add_argument("--confidence-only", action="store_true", help="keep the other weights of --into")
    parser.add_argument("--unseen", nargs="*", default=[], help="sets that are measured alone")
    parser.add_argument("--figures", type=Path, help="folder for reliability.png")
    chosen = parser.parse_args()
    encoder = open_query_encoder(EncoderSettings().text, EncoderSettings())
    by_set: dict[str, list[Example]] = {}
    for file in (*chosen.files, *chosen.unseen):
        libraries = reading_libraries(file, chosen.libraries, chosen.questions)
        every = (examples(library, encoder, english=chosen.english) for library in libraries)
        by_set[file] = [one for found in every for one in found]
    stems = chosen.files
    held = [one for stem in stems for one in by_set[stem]]
    made = json.loads(chosen.into.read_text(encoding="utf-8"))
    part = "english" if chosen.english else "others"
    if chosen.numbers:
        made["numbers_fitted_to"] = [Path(one).name for one in chosen.numbers]
        made |= {"number": fit_number(asked_of(chosen.numbers), encoder), "encoder": encoder.name}
    number = made["number"]
    order = columns(FEATURES, [made[part]["order"]])[0] if chosen.confidence_only else None
    fitted = fit(held, number, encoder.name, order)
    names = [Path(file).name for file in chosen.files]
    made[part] = {
        "order_fitted_to": made[part]["order_fitted_to"] if chosen.confidence_only else names,
        "fitted_to": names,
        "libraries": len({one.library for one in held}),
        "questions": sum(one.asked.kind == "own" for one in held),
        "foreign_questions": sum(one.foreign for one in held),
        **{name: getattr(fitted, name) for name in ("order", "confidence", "background")},
    }
    chosen.into.write_text(_as_json(made), encoding="utf-8")
    tables = {}
    for stem, own in by_set.items():
        others = [one for file in stems if file != stem for one in by_set[file]]
        if stem in stems and not others:
            continue
        tables[Path(stem).name] = answered(
            own, fit(others, number, encoder.name, order) if stem in stems else fitted
        )
    print_table(tables)
    if chosen.figures is not None:
        draw(tables, chosen.figures)


def _as_json(made: Mapping[str, Any]) -> str:
    """A line for each entry, and for each list of numbers."""
    text = re.sub(r",\s+(?=-?\d)", ", ", json.dumps(made, indent=1))
    return re.sub(r"\[\s+(?=-?\d)", "[", text) + "\n"


if __name__ == "__main__":
    main()
