"""Whether an answer is right (Video-Browser, figure 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from rag.reasoners.matching import exact_match, normalized_match
from rag.reasoners.protocol import Draft, Reply, Role, RoleCall


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Video-Browser, figure 6."""

    question: str
    ground_truths: tuple[str, ...]
    """Any one of them is right."""
    prediction: str
    """Empty: no answer, which is never right."""


class Verdict(Reply):
    """Whether the answer is right, and which rule or model decided."""

    is_correct: bool
    rule: Literal["exact", "normalized", "token_f1", "embedding", "model", "none"]
    """What decided: the same characters; the same after `normalized`; words or vectors near enough
    (the embedded reasoner's rules); a language model; or nothing at all, as for an empty answer."""
    score: float = Field(ge=0, le=1)
    """Of the deciding rule; 1 for a match of characters."""
    reason: str = ""

    @property
    def by_match(self) -> bool:
        """Right by exact or normalized match, without anybody's judgement."""
        return self.is_correct and self.rule in ("exact", "normalized")


class Judgement(Reply):
    """What a language model says of an answer that no rule decides."""

    is_correct: bool
    reason: str = ""


def matched_verdict(request: JudgeRequest) -> Verdict | None:
    """Right by exact or normalized match, wrong without an answer; None where it takes a judge."""
    if not request.prediction.strip():
        return Verdict(is_correct=False, rule="none", score=0.0, reason="no answer")
    if exact_match(request.prediction, request.ground_truths):
        return Verdict(is_correct=True, rule="exact", score=1.0)
    if normalized_match(request.prediction, request.ground_truths):
        return Verdict(is_correct=True, rule="normalized", score=1.0)
    return None


def _prompt(request: JudgeRequest) -> RoleCall:
    return RoleCall(
        {
            "question": request.question,
            "truth": "\n".join(request.ground_truths),
            "prediction": request.prediction,
        }
    )


def _verdict(reply: Judgement) -> Verdict:
    return Verdict(
        is_correct=reply.is_correct, rule="model", score=float(reply.is_correct), reason=reply.reason
    )


JUDGE = Role(
    "judge",
    "judge",
    JudgeRequest,
    Verdict,
    _prompt,
    decided=matched_verdict,
    draft=Draft(Judgement, _verdict),
)
