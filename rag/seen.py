"""An answer that rests on images alone, where no text answers: it is never sure, and to be looked at."""

from __future__ import annotations

from collections.abc import Sequence

from localization.windows import Window
from rag.citations import place_of_window
from rag.records import UNSURE, Answer, Question, VideoCitation, rounded_down
from rag.retrieval import RetrievedClip, Retriever


def answer_by_images(
    question: Question,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    retriever: Retriever,
    *,
    threshold: float,
    unanswered: str,
) -> Answer | None:
    """The window whose images fit an open question best, where no sentence answers it. None where none
    have the relevance of a match, or where their encoder names images and has no name for these.

    `windows`: one for each of the `clips` that were found for the question. `threshold`: least relevance of a
    match, in [0, 1]. `unanswered`: why no text answers it.
    """
    best = max(range(len(clips)), key=lambda at: clips[at].image_relevance, default=None)
    if best is None or clips[best].image_relevance < threshold:
        return None
    clip, window = clips[best], windows[best]
    named = retriever.seen(window.video_id, window.start, window.end)
    if retriever.tower is not None and retriever.tower.names_images and not named:
        return None
    like = f", which {named[0].text.replace('like:', 'like')}" if named else ""
    cited = VideoCitation(clip.path, window.video_id, window.start, window.end, clip.score, named)
    return Answer(
        question=question,
        choice=None,
        text=f"{place_of_window(window.start, window.end, clip.path)}{like}.",
        confidence=min(clip.image_relevance, UNSURE),
        explanation=f"Images of this window fit it (relevance {rounded_down(clip.image_relevance):.2f}). "
        f"{unanswered}".strip(),
        matched=True,
        citations=(cited,),
    )
