"""The role that says whether an answer is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from rag.reasoners.roles.replies import Reply


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Video-Browser, figure 6."""

    question: str
    ground_truths: tuple[str, ...]
    """Any one of them is right."""
    prediction: str
    """Empty: no answer, which is never right."""


class Verdict(Reply):
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
