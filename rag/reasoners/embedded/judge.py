"""Whether an answer is right, by rules that are said with every verdict.

After exact and normalized match (`rag.reasoners.roles.judge`), in this order:
a number or a denial that differs makes it wrong; a run of its words that is the
truth, or nearly so, makes it right (`token_f1`); a sentence of the same sense
makes it right (`embedding`). A rule of words is no judge of facts: report it
under its name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag.reasoners.embedded.option_features import denies
from rag.reasoners.roles.judge import JudgeRequest, Verdict, matched_verdict, normalized, token_f1
from rag.words import numbers, word_set

if TYPE_CHECKING:
    from rag.reasoners.embedded.scoring import SentenceVectors

LEAST_F1 = 0.8
LEAST_COSINE = 0.92
LONGEST_PREDICTION = 60
"""Words; a longer answer holds many things, and any truth might be among them."""
_HEDGE = re.compile(r"\b(?:or|either|maybe|perhaps|possibly|unclear|cannot be determined|unknown)\b")


def judge(request: JudgeRequest, vectors: SentenceVectors) -> Verdict:
    """The verdict over all truths that favours the prediction most; it names the rule that decided."""
    matched = matched_verdict(request)
    if matched is not None:
        return matched
    if not any(normalized(truth) for truth in request.ground_truths):
        return Verdict(is_correct=False, rule="none", score=0.0, reason="there is no truth to compare with")
    said = [
        _judged(request.prediction, truth, vectors) for truth in request.ground_truths if normalized(truth)
    ]
    return max(said, key=lambda verdict: (verdict.is_correct, verdict.score))


def _judged(prediction: str, truth: str, vectors: SentenceVectors) -> Verdict:
    words, wanted = normalized(prediction).split(), normalized(truth).split()
    best = _best_run(words, wanted)
    if why := _excluded(prediction, truth, words):
        return Verdict(is_correct=False, rule="token_f1", score=best, reason=why)
    if best >= LEAST_F1 and not _replaced(prediction, truth):
        return Verdict(is_correct=True, rule="token_f1", score=best, reason="it holds the words of the truth")
    rows = vectors.of([prediction, truth])
    cosine = round(min(1.0, max(0.0, float(rows[prediction] @ rows[truth]))), 6)
    right = cosine >= LEAST_COSINE
    reason = "of the same sense" if right else "neither its words nor its sense are those of the truth"
    return Verdict(is_correct=right, rule="embedding", score=cosine, reason=reason)


def _replaced(prediction: str, truth: str) -> bool:
    """Whether a word of the truth is lacking while the answer has others."""
    ours, theirs = word_set(prediction), word_set(truth)
    return bool(theirs - ours) and bool(ours - theirs)


def _best_run(words: list[str], wanted: list[str]) -> float:
    """F1 of the run of the answer's words, of the truth's length give or take one, nearest to it."""
    if len(words) > LONGEST_PREDICTION:
        return token_f1(" ".join(words), " ".join(wanted))
    sizes = {len(wanted) + change for change in (-1, 0, 1)}
    spans = [
        words[at : at + size] for size in sizes if size > 0 for at in range(max(1, len(words) - size + 1))
    ]
    return max((token_f1(" ".join(span), " ".join(wanted)) for span in spans), default=0.0)


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
