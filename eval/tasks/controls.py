"""Controls of every multiple-choice task: chance, and the question without its video."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.runs.records import LETTERS, Output, TaskInput
from eval.workbench.seeds import stable_number
from rag.library import Library
from rag.reasoners.roles.answers import ANSWER_CHOICE
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.reasoners.roles.reading import Reading
from rag.records import Question

SHARPNESS = 10.0
"""The sharpness of the softmax over the cosines of `Blind`."""


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
    """Question and options only, answered by the model that is tested (EgoFact, 2.2: non-trivial).

    The embedded reasoner knows nothing without evidence: its row is the option nearest to the
    question by sentence embedding.
    """

    library: Library

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {} if self._embedded else {"answered_by": "reasoner"}

    @property
    def _embedded(self) -> bool:
        return self.library.settings.reasoner.kind == "embedded"

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`. Raises `ReasonerError` where a model fails."""
        return self._nearest(asked) if self._embedded else self._asked(asked)

    def _asked(self, asked: TaskInput) -> Output:
        reasoner = self.library.engine.reasoner
        reasoner.usage()
        reply = reasoner.run(
            ANSWER_CHOICE,
            Reading(
                question=Question(asked.query_id, asked.text, asked.options),
                rewritten=RewrittenQuestion(visual_query=asked.text),
                anchor=AnchorEvent(description=asked.text),
                windows=(),
                passages=(),
                must_choose=True,
            ),
        )
        usage = reasoner.usage()
        return Output(
            choice=reply.choice,
            scores=reply.scores,
            confidence=reply.confidence,
            evidence={"explanation": reply.explanation},
            tokens={"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        )

    def _nearest(self, asked: TaskInput) -> Output:
        encode = self.library.engine.text_encoder.encode_text
        question, *options = (encode([text])[0].astype(np.float64) for text in (asked.text, *asked.options))
        similarities = np.array([round(float(option @ question), 6) for option in options])
        powers = np.exp(SHARPNESS * (similarities - similarities.max()))
        scores = (powers / powers.sum()).round(6).tolist()
        best = int(np.argmax(similarities))
        return Output(choice=LETTERS[best], scores=tuple(scores), confidence=scores[best])
