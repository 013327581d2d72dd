"""Answers that rest on images alone, where no text answers: they are never sure, and to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Protocol

from localization.windows import Window
from rag.questions import option_label
from rag.records import SURE, Answer, Question, ScoredOption, SearchFilter, VideoCitation, rounded_down
from rag.retrieval import RetrievedClip, Retriever

LOOKED_AT = 3
"""Clips of an option, the best by all that is found, of which the one counts whose images fit it best."""
NOT_SURE = SURE - 0.01
"""The greatest confidence of such an answer."""


class Asked(Protocol):
    """A question, and what it is answered with: `rag.answering.Context`."""

    @property
    def question(self) -> Question:
        """With its options, if any."""
        ...

    @property
    def retriever(self) -> Retriever:
        """Of the library that is asked."""
        ...

    @property
    def where(self) -> SearchFilter:
        """What may be searched."""
        ...

    @property
    def threshold(self) -> float:
        """Least relevance of a match, in [0, 1]."""
        ...


def answer_by_images(
    context: Asked, clips: Sequence[RetrievedClip], windows: Sequence[Window], unanswered: str
) -> Answer | None:
    """The window whose images fit an open question best, or of several options the one that images fit best.

    `windows`: one for each of the `clips` that were found for the question. `unanswered`: why no text answers
    it. None where no images have the relevance of a match, or where their encoder names images and has no
    name for these; for an option, where none have the relevance of a sure match.
    """
    question, retriever = context.question, context.retriever
    if question.options:
        return _option_seen(context, unanswered)
    shown = [clip for clip in clips if clip.image_relevance >= context.threshold]
    if not shown:
        return None
    best = max(shown, key=lambda clip: clip.image_relevance)
    window = windows[list(clips).index(best)]
    seen = _citation(best, window, retriever)
    if retriever.tower is not None and retriever.tower.names_images and not seen.evidence:
        return None
    like = f", which {seen.evidence[0].text.replace('like:', 'like')}" if seen.evidence else ""
    text = f"{window.start:.1f}-{window.end:.1f} s of {PurePath(best.path).name}{like}."
    return _answer(question, None, text, best.image_relevance, f"{_fit(best)} {unanswered}", seen)


def _option_seen(context: Asked, unanswered: str) -> Answer | None:
    """Of all that may be searched: in a few videos the best of several options is easily a match."""
    question, retriever, where = context.question, context.retriever, context.where
    found = [_best_by_images(retriever, option, where) for option in question.options]
    relevance = [0.0 if clip is None else clip.image_relevance for clip in found]
    scores = [round(value / (sum(relevance) or 1.0), 6) for value in relevance]
    at = scores.index(max(scores))
    best = found[at]
    # Where none has more than all others together, images do not distinguish them.
    if best is None or best.image_relevance < max(context.threshold, SURE) or scores[at] <= 0.5:
        return None
    (window,) = retriever.localize([best], question.options[at], "within", where)
    seen = _citation(best, window, retriever)
    labels = [option_label(index) for index in range(len(found))]
    sure, why = min(best.image_relevance, scores[at]), f"{_fit(best)} {unanswered}"
    answer = _answer(question, labels[at], question.options[at], sure, why, seen)
    return replace(answer, options=tuple(map(ScoredOption, labels, question.options, scores)))


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
