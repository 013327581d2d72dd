"""The turn that judges an answer."""

from __future__ import annotations

from rag.reasoners.llm.turns import Turn
from rag.reasoners.roles import JudgeRequest
from rag.reasoners.roles.replies import Reply


class Judgement(Reply):
    is_correct: bool
    reason: str = ""


def judge(request: JudgeRequest) -> Turn[Judgement]:
    return Turn(
        "judge",
        {
            "question": request.question,
            "truth": "\n".join(request.ground_truths),
            "prediction": request.prediction,
        },
        Judgement,
    )
