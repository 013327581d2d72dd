"""Controls: chance, and question and options without the film."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.runs.records import LETTERS, Query, Sample
from eval.tasks.adapter import sample_of
from eval.tasks.longvideo.systems.corpus import Corpus
from eval.workbench.seeds import stable_number

SHARPNESS = 10.0


@dataclass(frozen=True)
class Chance:
    """One of the options by a die that is thrown for each question anew."""

    seed: int
    name: str = "random"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"seed": self.seed}

    def answer(self, query: Query) -> Sample:
        thrown = stable_number("longvideo chance", self.seed, query.query_id) % len(query.options)
        return sample_of(query, LETTERS[thrown], confidence=round(1 / len(query.options), 6))


@dataclass(frozen=True)
class Blind:
    """The option whose words lie nearest to the question's; nothing of the film."""

    corpus: Corpus
    name: str = "blind"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, query: Query) -> Sample:
        encode = self.corpus.library.engine.text_encoder.encode_text
        wanted = encode([query.text])[0].astype(np.float64)
        fits = np.round(encode(list(query.options)).astype(np.float64) @ wanted, 6)
        powers = np.exp(SHARPNESS * (fits - fits.max()))
        scores = (powers / powers.sum()).round(6)
        best = int(np.argmax(fits))
        return sample_of(
            query,
            LETTERS[best],
            scores=tuple(float(score) for score in scores),
            confidence=float(scores[best]),
        )
