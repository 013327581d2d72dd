"""Controls without any library: chance, and the question alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.runs.records import LETTERS, Output, TaskInput
from eval.tasks.egofact.solvers.corpus import Corpus
from eval.workbench.seeds import stable_number


@dataclass(frozen=True)
class Chance:
    """One of the options, uniformly at random by seed and query id."""

    seed: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"seed": self.seed}

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        place = stable_number(self.seed, asked.query_id) % len(asked.options)
        return Output(choice=LETTERS[place], confidence=round(1 / len(asked.options), 6))


@dataclass(frozen=True)
class Blind:
    """Question and options only: the option nearest to the question by sentence embedding."""

    corpus: Corpus
    settings: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        encode = self.corpus.library.engine.text_encoder.encode_text
        wanted = encode([asked.text])[0].astype(np.float64)
        fits = np.array([round(float(encode([o])[0].astype(np.float64) @ wanted), 6) for o in asked.options])
        powers = np.exp(10 * (fits - fits.max()))
        scores = (powers / powers.sum()).round(6)
        best = int(np.argmax(fits))
        return Output(
            choice=LETTERS[best], scores=tuple(float(s) for s in scores), confidence=float(scores[best])
        )
