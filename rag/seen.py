"""Answers that rest on images alone, where no text answers: they are never sure, and to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from localization.windows import Window
from rag.questions import option_label
from rag.records import SURE, Answer, Question, ScoredOption, SearchFilter, VideoCitation, rounded_down
from rag.retrieval import RetrievedClip, Retriever

LOOKED_AT = 3
"""Clips of an option, the best by all that is found, of which the one counts whose images fit it best."""
NOT_SURE = SURE - 0.01
"""The greatest confidence of such an answer."""


def answer_by_images(
    question: Question,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    retriever: Retriever,
    where: SearchFilter,
    threshold: float,
    unanswered: str,
) -> Answer | None:
    """As `option_seen` for a question with options, else as `window_seen`."""
    if question.options:
        return option_seen(question, retriever, where, threshold=threshold, unanswered=unanswered)
    return window_seen(question, clips, windows, retriever, threshold=threshold, unanswered=unanswered)


def window_seen(
    question: Question,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    retriever: Retriever,
    *,
    threshold: float,
    unanswered: str,
) -> Answer | None:
    """The window whose images fit an open question best. None where none have the relevance of a match, or
    where their encoder names images and has no name for these.

    `windows`: one for each of the `clips` that were found for the question. `threshold`: least relevance of a
    match, in [0, 1]. `unanswered`: why no text answers it.
    """
    best = max(clips, key=lambda clip: clip.image_relevance, default=None)
    if best is None or best.image_relevance < threshold:
        return None
    window = windows[list(clips).index(best)]
    seen = _citation(best, window, retriever)
    if _is_unknown(seen, retriever):
        return None
    like = f", which {seen.evidence[0].text.replace('like:', 'like')}" if seen.evidence else ""
    text = f"{window.start:.1f}-{window.end:.1f} s of {PurePath(best.path).name}{like}."
    return _answer(question, None, text, best.image_relevance, f"{_fit(best)} {unanswered}", seen)


def option_seen(
    question: Question, retriever: Retriever, where: SearchFilter, *, threshold: float, unanswered: str
) -> Answer | None:
    """The option that images fit best, of all that may be searched: in a few videos the best of several is
    easily a match. None where none have the relevance of a sure match, where no option has more than all
    others together, or as `window_seen`."""
    found = [_best_by_images(retriever, option, where) for option in question.options]
    relevance = [0.0 if clip is None else clip.image_relevance for clip in found]
    scores = [round(value / (sum(relevance) or 1.0), 6) for value in relevance]
    at = scores.index(max(scores))
    best = found[at]
    if best is None or best.image_relevance < max(threshold, SURE) or scores[at] <= 0.5:
        return None
    (window,) = retriever.localize([best], question.options[at], "within", where)
    seen = _citation(best, window, retriever)
    if _is_unknown(seen, retriever):
        return None
    labels = [option_label(index) for index in range(len(found))]
    sure, why = min(best.image_relevance, scores[at]), f"{_fit(best)} {unanswered}"
    answer = _answer(question, labels[at], question.options[at], sure, why, seen)
    return replace(answer, options=tuple(map(ScoredOption, labels, question.options, scores)))


def _is_unknown(seen: VideoCitation, retriever: Retriever) -> bool:
    """Whether images are like nothing that their encoder can name."""
    return retriever.tower is not None and retriever.tower.names_images and not seen.evidence


def _best_by_images(retriever: Retriever, option: str, where: SearchFilter) -> RetrievedClip | None:
    clips = retriever.find_clips(option, option, LOOKED_AT, where)
    return max(clips, key=lambda clip: clip.image_relevance, default=None)


def _citation(clip: RetrievedClip, window: Window, retriever: Retriever) -> VideoCitation:
    seen = retriever.seen(window.video_id, window.start, window.end)
    return VideoCitation(clip.path, window.video_id, window.start, window.end, clip.score, seen)


def _fit(clip: RetrievedClip) -> str:
    return f"Images of this window fit it (relevance {rounded_down(clip.image_relevance):.2f})."


def _answer(
    question: Question, choice: str | None, text: str, sure: float, why: str, seen: VideoCitation
) -> Answer:
    return Answer(question, choice, text, min(sure, NOT_SURE), why.strip(), True, (seen,))
