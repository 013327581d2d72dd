"""Fit the weights of `rag.reasoners.embedded.quotation` to reading sets in SQuAD's JSON.

    python -m training.quotation FILE... --into rag/reasoners/embedded/quotation.json

The libraries and questions are those of `benchmarks.reading_quality`. The order is a conditional logit: of
the sentences that were shortlisted for a question, those that hold an answer get the greatest share. The
confidence is a logistic regression on held-out libraries: the order is fitted without each fifth of the
libraries and gives the evidence of that fifth, so that the confidence is not that of text the order was
fitted to. Foreign questions count `FOREIGN` times: an answer to one is worse than none to another. Both have
a small L2 penalty on standardized weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.reading_quality import Encoded, ReadingLibrary, holds, opened, reading_libraries
from rag.answering import EVERYWHERE, Context, Pipeline, read
from rag.questions import parse_question
from rag.reasoners.embedded import EmbeddedReasoner
from rag.reasoners.embedded.answer_open import cosines_of_shortlist
from rag.reasoners.embedded.quotation import EVIDENCE, FEATURES, PassageText

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS = 5
FOREIGN = 3.0
PENALTY = 1e-3


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the features (n, 14) of its sentences and which of them hold an answer, (n,)."""

    library: str
    foreign: bool
    text: PassageText
    rows: NDArray[np.float64]
    right: NDArray[np.float64]


def examples(library: ReadingLibrary, encoder: Any) -> list[Example]:
    """Of the questions that are not marked as impossible, those for which a passage was found."""
    found = []
    with opened(library, encoder) as retriever:
        reasoner, settings = EmbeddedReasoner(encoder), retriever.settings
        stages = Pipeline()
        for asked in library.asked:
            if asked.kind == "impossible":
                continue
            context = Context(
                *(parse_question(asked.text), retriever, reasoner, settings, EVERYWHERE),
                top_k=settings.search.top_k,
                threshold=settings.search.threshold,
            )
            rewriting = stages.rewrite(context)
            passages = stages.retrieve_passages(context, rewriting)
            reading = read(context, rewriting, (), (), (), passages)
            asking = cosines_of_shortlist(reading, reasoner.sentences)
            if not asking.cosines:
                continue
            text = PassageText(asking.core, asking.sentences, [one.score for one in reading.passages])
            rows = text.rows(asking.cosines)
            right = np.array([float(holds(one.text, asked.answers)) for one in asking.cosines])
            found.append(Example(library.name, asked.kind == "foreign", text, rows, right))
    return found


def fit_order(held: Sequence[Example]) -> NDArray[np.float64]:
    """(14,) weights: the log of the share of right sentences, summed over questions that have one."""
    useful = [one for one in held if 0 < one.right.sum() < len(one.right)]
    spread = _spread(np.concatenate([one.rows for one in useful]))
    # Padded to the longest: (m, n, 14), a sentence that is none has value -inf.
    shape = (len(useful), max(len(one.rows) for one in useful))
    rows, right, none = np.zeros((*shape, len(FEATURES))), np.zeros(shape), np.full(shape, -np.inf)
    for at, one in enumerate(useful):
        inside = slice(len(one.rows))
        rows[at, inside], right[at, inside], none[at, inside] = one.rows / spread, one.right, 0.0

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = rows @ weights + none
        every = np.exp(values - values.max(axis=1, keepdims=True))
        hits = every * right
        share, wanted = every / every.sum(axis=1, keepdims=True), hits / hits.sum(axis=1, keepdims=True)
        slope = np.einsum("mn,mnf->f", share - wanted, rows) / len(rows)
        value = -np.log(hits.sum(axis=1) / every.sum(axis=1)).mean() + PENALTY * weights @ weights
        return float(value), slope + 2 * PENALTY * weights

    return _minimized(loss, len(FEATURES)) / spread


def _minimized(loss: Callable[..., Any], size: int) -> NDArray[np.float64]:
    found = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x, np.float64)


def _spread(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of each column; 1 for one that is always the same."""
    found = rows.std(axis=0)
    return np.where(found > 1e-9, found, 1.0)


def evidence(held: Sequence[Example], order: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Of each question: evidence (m, 10) of the sentence that is quoted, whether it is right, and weight."""
    background = mean_of_wrong(held, order)
    rows, right, weight = [], [], []
    for one in held:
        values = one.rows @ order
        best = int(values.argmax())
        rows.append(one.text.evidence(one.rows, values, best, background))
        right.append(one.right[best])
        weight.append(FOREIGN if one.foreign else 1.0)
    return np.array(rows), np.array(right), np.array(weight)


def mean_of_wrong(held: Sequence[Example], order: NDArray[np.float64]) -> float:
    """Mean value of the sentences that hold no answer."""
    return float(np.concatenate([(one.rows @ order)[one.right == 0] for one in held]).mean())


def fit_confidence(
    rows: NDArray[np.float64], right: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(10,) weights of a logistic regression; the constant, first, has no penalty."""
    spread = _spread(rows)
    scaled, weight = rows / spread, weight / weight.sum()
    penalty = np.full(rows.shape[1], PENALTY)
    penalty[0] = 0.0

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = scaled @ weights
        losses = np.logaddexp(0, values) - right * values
        slope = scaled.T @ (weight * (1 / (1 + np.exp(-values)) - right))
        return float(weight @ losses + penalty @ weights**2), slope + 2 * penalty * weights

    return _minimized(loss, rows.shape[1]) / spread


def fit(held: Sequence[Example]) -> dict[str, Any]:
    """Both sets of weights by name, and the background."""
    libraries = sorted({one.library for one in held})
    parts = []
    for fold in range(FOLDS):
        left_out = set(libraries[fold::FOLDS])
        order = fit_order([one for one in held if one.library not in left_out and not one.foreign])
        parts.append(evidence([one for one in held if one.library in left_out], order))
    confidence = fit_confidence(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = fit_order([one for one in held if not one.foreign])
    return {
        "order": _named(FEATURES, order),
        "confidence": _named(EVIDENCE, confidence),
        "background": round(mean_of_wrong(held, order), 4),
    }


def _named(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, values, strict=True)}


def main() -> None:
    """Write the weights with the sets that they were fitted to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--libraries", type=int, default=12)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--into", type=Path, required=True)
    chosen = parser.parse_args()
    encoder = Encoded()
    held = []
    for path in chosen.files:
        for library in reading_libraries(path, chosen.libraries, chosen.questions):
            held += examples(library, encoder)
            print(library.name, len(held), flush=True)
    made = {
        "fitted_to": [path.name for path in chosen.files],
        "libraries": len({one.library for one in held}),
        "questions": sum(not one.foreign for one in held),
        "foreign_questions": sum(one.foreign for one in held),
        **fit(held),
    }
    chosen.into.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
