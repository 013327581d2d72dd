"""EgoFact's score: the letter exactly, and whether the video was understood (EgoFact, 3.3 and D.1).

A language model judges the caption that the answer was read off. The embedded reasoner judges nothing: what
its runs understood is seen by the exact times of events (`eval.metrics.localization.event_shown`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Output, Query, Score
from rag.errors import Unanswered
from rag.reasoners.prompts import load_prompt
from rag.reasoners.protocol import Example, Reasoner, Reply, Role, RoleCall


@dataclass(frozen=True, slots=True)
class CaptionCheck:
    """What a judge of understanding is asked."""

    question: str
    """Without its options."""
    caption: str


class Sufficiency(Reply):
    """Y or N of D.1."""

    sufficient: bool


def _check_prompt(request: CaptionCheck) -> RoleCall:
    return RoleCall({"question": request.question, "caption": request.caption})


def _check_examples() -> Iterator[Example[CaptionCheck, Sufficiency]]:
    named = CaptionCheck("What is the object that the woman polishes?", "1. She polishes a mirror.")
    yield Example("event named", named, Sufficiency(sufficient=True))
    other = CaptionCheck(named.question, "1. She cuts bread.")
    yield Example("another event", other, Sufficiency(sufficient=False))


CHECK_CAPTION = Role(
    "check_caption",
    "judge",
    CaptionCheck,
    Sufficiency,
    _check_prompt,
    examples=_check_examples,
    package="eval.tasks.egofact",
)


@dataclass(frozen=True, slots=True)
class EgoFactScore(Score):
    """Right or wrong, and whether the event was understood."""

    understood: bool | None = None
    """None where it was not judged: the gold clip was not read, or nothing was captioned."""
    understood_by: str = ""
    """The model that judged."""


@dataclass(frozen=True)
class ModelJudge:
    """The judge model, over the question without its options and the caption of the gold clip (D.1)."""

    reasoner: Reasoner
    name: str
    """The model's, as the report says it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"judge": "model", "model": self.name, "prompt": load_prompt(CHECK_CAPTION).version}

    def score(self, query: Query, output: Output, correct: bool) -> EgoFactScore:
        """Not judged where no caption of the gold clip was written, or the judge's reply is not usable.

        Raises `ReasonerError` where the judge fails in another way.
        """
        caption = output.evidence.get("captions", {}).get(query.video)
        if caption is None:
            return EgoFactScore(correct)
        sufficient: bool | None = False
        if caption:
            try:
                sufficient = self.reasoner.run(CHECK_CAPTION, CaptionCheck(query.text, caption)).sufficient
            except Unanswered:
                sufficient = None
        return EgoFactScore(correct, understood=sufficient, understood_by=self.name)


@dataclass(frozen=True)
class EgoFactScorer:
    """`judge`: of understanding; None: it is not judged."""

    judge: ModelJudge | None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return {"scorer": "exact", **({} if self.judge is None else self.judge.settings)}

    def score(self, query: Query, output: Output) -> EgoFactScore:
        """Score one output; see `eval.task.Scorer`."""
        correct = output.choice == query.answer
        return EgoFactScore(correct) if self.judge is None else self.judge.score(query, output, correct)
