"""Whether an answer is right, by rules that are said with every verdict.

After exact and normalized match (`rag.reasoners.roles.judge`), in this order: a number or a denial that
differs makes it wrong; one that holds the words of the truth is right (`words`), and so is one of the same
sense (`embedding`). A rule of words is no judge of facts: report it under its name.
"""

from __future__ import annotations

import re

from rag.reasoners.embedded.answer_choice import denies
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.units import share, units
from rag.reasoners.roles.judge import JudgeRequest, Verdict, matched_verdict, normalized
from rag.words import numbers

LEAST_SHARE = 0.9
"""Of the units of a truth."""
LEAST_COSINE = 0.92
LONGEST_PREDICTION = 60
"""Words; a longer answer holds many things, and any truth might be among them."""
_HEDGE = re.compile(r"\b(?:or|either|maybe|perhaps|possibly|unclear|cannot be determined|unknown)\b")


def judge(request: JudgeRequest, vectors: SentenceVectors) -> Verdict:
    """The verdict over all truths that favours the prediction most; it names the rule that decided."""
    matched = matched_verdict(request)
    if matched is not None:
        return matched
    none = Verdict(is_correct=False, rule="none", score=0.0, reason="there is no truth to compare with")
    truths = filter(normalized, request.ground_truths)
    said = [_judged(request.prediction, truth, vectors) for truth in truths]
    return max(said, key=lambda verdict: (verdict.is_correct, verdict.score), default=none)


def _judged(prediction: str, truth: str, vectors: SentenceVectors) -> Verdict:
    words = normalized(prediction).split()
    held = round(share(units(truth), units(prediction)), 6)
    if why := _excluded(prediction, truth, words):
        return Verdict(is_correct=False, rule="words", score=held, reason=why)
    if held >= LEAST_SHARE and len(words) <= LONGEST_PREDICTION:
        return Verdict(is_correct=True, rule="words", score=held, reason="it holds the words of the truth")
    rows = vectors.of([prediction, truth])
    cosine = round(min(1.0, max(0.0, float(rows[prediction] @ rows[truth]))), 6)
    right = cosine >= LEAST_COSINE
    reason = "of the same sense" if right else "neither its words nor its sense are those of the truth"
    return Verdict(is_correct=right, rule="embedding", score=cosine, reason=reason)


def _excluded(prediction: str, truth: str, words: list[str]) -> str:
    """Why it cannot be right; empty where nothing excludes it."""
    ours, theirs = set(numbers(prediction)), set(numbers(truth))
    if theirs - ours:
        return "another number"
    if ours - theirs and len(normalized(truth).split()) == len(theirs):
        return "more than one number"
    if denies(truth) != denies(prediction):
        return "one denies and the other does not"
    if _HEDGE.search(" ".join(words)) and not _HEDGE.search(normalized(truth)):
        return "it does not commit itself"
    return ""
