"""EgoFact's score: the letter exactly, and whether the video was understood (EgoFact, 3.3 and D.1).

A language model judges the caption that the answer was read off. The embedded reasoner judges nothing: what
its runs understood is seen by the exact times of events (`eval.metrics.localization.event_shown`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Output, Query, Score
from rag.errors import Unanswered
from rag.reasoners.prompts import load_prompt
from rag.reasoners.protocol import Reasoner, Reply, Role, RoleCall


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


CHECK_CAPTION = Role(
    "check_caption", "judge", CaptionCheck, Sufficiency, _check_prompt, package="eval.tasks.egofact"
)


@dataclass(frozen=True, slots=True)
class EgoFactScore(Score):
    """Right or wrong, and whether the event was understood."""

    understood: bool | None = None
    """None where it was not judged: the gold clip was not read, or nothing was captioned."""
    understood_by: str = ""
    """The model that judged."""


@dataclass(frozen=True)
class EgoFactScorer:
    """`judge`: of understanding, over the question without its options and the caption of the gold clip
    (D.1); None: it is not judged. `model`: the judge's, as the report names it."""

    judge: Reasoner | None = None
    model: str = ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        if self.judge is None:
            return {"scorer": "exact"}
        version = load_prompt(CHECK_CAPTION).version
        return {"scorer": "exact", "judge": "model", "model": self.model, "prompt": version}

    def score(self, query: Query, output: Output) -> EgoFactScore:
        """Score one output; see `eval.task.Scorer`.

        Understanding is not judged where no caption of the gold clip was written, or the judge's reply is not
        usable. Raises `ReasonerError` where the judge fails in another way.
        """
        correct = output.choice == query.answer
        caption = output.evidence.get("captions", {}).get(query.video)
        if self.judge is None or caption is None:
            return EgoFactScore(correct)
        sufficient: bool | None = False
        if caption:
            try:
                sufficient = self.judge.run(CHECK_CAPTION, CaptionCheck(query.text, caption)).sufficient
            except Unanswered:
                sufficient = None
        return EgoFactScore(correct, understood=sufficient, understood_by=self.model)
