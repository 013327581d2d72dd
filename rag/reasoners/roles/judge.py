"""Whether an answer is right (Video-Browser, figure 6): by equal characters first, then by a reasoner.

Both families judge by `exact_match` and `normalized_match` first; benchmarks report them beside the judge.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from rag.reasoners.protocol import Reply, Role, RoleCall

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_KEPT = re.compile(r"(?<=\d)[.,](?=\d)|(?<![^\s(])-(?=\d)")
"""A point or a comma between figures is part of the number, and so is a sign before it."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHE = re.compile("['’]")


def normalized(text: str) -> str:
    """Compatibility forms folded (NFKC), small letters, no articles, no punctuation, single spaces.

    As SQuAD's (Rajpurkar et al. 2016), but what changes the fact stays: a point between figures, the
    sign of a number, + and # as in "C++", accents. A comma that parts thousands goes.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    folded = _THOUSANDS.sub("", _APOSTROPHE.sub("", folded))
    held = _KEPT.sub(lambda found: "\1" if found[0] == "-" else "\0", folded)
    plain = "".join(" " if _punctuates(letter) else letter for letter in held)
    plain = plain.replace("\0", ".").replace("\1", "-")
    return " ".join(_ARTICLE.sub(" ", plain).split())


def exact_match(prediction: str, ground_truths: tuple[str, ...]) -> bool:
    """The same characters as one of them, but for white space at both ends."""
    return prediction.strip() in {truth.strip() for truth in ground_truths} - {""}


def normalized_match(prediction: str, ground_truths: tuple[str, ...]) -> bool:
    """The same as one of them after `normalized`."""
    return normalized(prediction) in {normalized(truth) for truth in ground_truths} - {""}


def _punctuates(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "P" and letter not in "%&#@"


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
    rule: SkipJsonSchema[Literal["exact", "normalized", "words", "embedding", "model", "none"]] = "model"
    """What decided: the same characters; the same after `normalized`; words or vectors near enough
    (the embedded reasoner's rules); a language model; or nothing at all, as for an empty answer."""
    score: SkipJsonSchema[float] = Field(0.0, ge=0, le=1)
    """The score by the deciding rule; 1 for a match of characters."""
    reason: str = ""

    @property
    def by_match(self) -> bool:
        """Right by exact or normalized match, without a call of the judge."""
        return self.is_correct and self.rule in ("exact", "normalized")


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


def _sanitize(_: JudgeRequest, reply: Verdict) -> Verdict:
    if reply.rule != "model":
        return reply
    return reply.model_copy(update={"score": float(reply.is_correct)})


JUDGE = Role(
    "judge", "judge", JudgeRequest, Verdict, _prompt, _sanitize, decided=matched_verdict, reply_tokens=512
)
