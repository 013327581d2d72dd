"""Controls of every multiple-choice task: chance, and the question without its video."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.runs.records import LETTERS, Output, TaskInput
from eval.workbench.seeds import stable_number
from rag.library import Library

SHARPNESS = 10.0
"""Of the softmax over the cosines of `Blind`."""


@dataclass(frozen=True)
class Chance:
    """One of the options, uniformly at random by seed and query id."""

    seed: int
    stream: tuple[str, ...] = ()
    """Before the seed, so that tasks draw apart."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"seed": self.seed}

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        place = stable_number(*self.stream, self.seed, asked.query_id) % len(asked.options)
        return Output(choice=LETTERS[place], confidence=round(1 / len(asked.options), 6))


@dataclass(frozen=True)
class Blind:
    """Question and options only: the option nearest to the question by sentence embedding."""

    library: Library
    settings: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        encode = self.library.engine.text_encoder.encode_text
        question, *options = (encode([text])[0].astype(np.float64) for text in (asked.text, *asked.options))
        similarities = np.array([round(float(option @ question), 6) for option in options])
        powers = np.exp(SHARPNESS * (similarities - similarities.max()))
        scores = (powers / powers.sum()).round(6).tolist()
        best = int(np.argmax(similarities))
        return Output(choice=LETTERS[best], scores=tuple(scores), confidence=scores[best])
