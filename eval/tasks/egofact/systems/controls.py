"""Controls: what chance, the question alone, and the passages alone can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.runs.records import LETTERS, Query, Sample, sample_of
from eval.tasks.egofact.systems.corpus import Corpus
from eval.tasks.egofact.systems.finding import Asked, passages_by_option
from eval.tasks.egofact.systems.reading import read
from eval.workbench.seeds import stable_number


@dataclass(frozen=True)
class Chance:
    """One of the options by a die that is thrown for each query anew."""

    seed: int
    name: str = "random"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"seed": self.seed}

    def answer(self, query: Query) -> Sample:
        thrown = stable_number(self.seed, query.query_id) % len(query.options)
        share = round(1 / len(query.options), 6)
        return sample_of(query, LETTERS[thrown], confidence=share)


@dataclass(frozen=True)
class Blind:
    """Question and options only: the option whose words lie nearest to the question's."""

    corpus: Corpus
    name: str = "blind"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, query: Query) -> Sample:
        encode = self.corpus.library.text_encoder.encode_text
        wanted = encode([query.text])[0].astype(np.float64)
        fits = np.array([round(float(encode([o])[0].astype(np.float64) @ wanted), 6) for o in query.options])
        powers = np.exp(10 * (fits - fits.max()))
        scores = (powers / powers.sum()).round(6)
        best = int(np.argmax(fits))
        return sample_of(
            query,
            LETTERS[best],
            scores=tuple(float(s) for s in scores),
            confidence=float(scores[best]),
        )


@dataclass(frozen=True)
class PassagesOnly:
    """The passages of the options and no picture. One hop has no passages: there it is blind."""

    corpus: Corpus
    name: str = "passages-only"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, query: Query) -> Sample:
        if query.passage is None:
            return Blind(self.corpus).answer(query)
        asked = Asked.of(self.corpus, query)
        return read(asked, (), passages_by_option(asked))
