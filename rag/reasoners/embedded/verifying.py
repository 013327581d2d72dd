"""Whether a video or a frame is the one that is remembered, by relevance of words to frames and lines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.listening import heard
from rag.reasoners.embedded.locating import sought
from rag.reasoners.embedded.recollection import placed, recollected
from rag.reasoners.embedded.sight import Sight
from rag.reasoners.roles import FrameMatch, MatchRequest, VerifyRequest, VideoVerdict, VideoView
from rag.relevance import content_words

if TYPE_CHECKING:
    from rag.reasoners.embedded.vectors import SentenceVectors

__all__ = ["SAME_SCENE", "match_frame", "verify_video"]

MATCHES = 0.5
WHOLE = (0.0, 1.0)
SPOKEN = 1 / 3
"""Of what lines say beyond the frames, the share that counts."""
SAME_SCENE = 0.85
"""Cosine of two frames from which they show the same scene."""


def verify_video(request: VerifyRequest, sight: Sight, vectors: SentenceVectors) -> VideoVerdict:
    """The mean over the parts of the memory of how well frames or lines fit; a match from one half on."""
    memory, view = request.memory, request.view
    told = (memory.global_impression, memory.key_moment, memory.before, memory.after)
    parts = [part for part in told if content_words(part)]
    fits = [_fit_of_all(part, view, sight, vectors) for part in parts]
    known = [fit for fit in fits if fit is not None]
    mean = round(sum(known) / len(known), 6) if known else 0.0
    audio = _audio(memory.auditory_memory, view, vectors)
    match = bool(known) and mean >= MATCHES
    unlike = [part for part, fit in zip(parts, fits, strict=True) if fit is not None and fit < 1 - MATCHES]
    return VideoVerdict(
        video_match=match,
        audio_match=None if audio is None else audio >= MATCHES,
        confidence=mean if match else round(1 - mean, 6),
        contradictions=() if match else tuple(unlike),
        reason=f"{len(known)} of {len(told)} parts could be compared; they fit by {mean:.2f} on average",
    )


def match_frame(request: MatchRequest, sight: Sight, vectors: SentenceVectors) -> FrameMatch:
    """A point that cannot be compared from vectors and words is None, and decides nothing."""
    view = request.candidate
    text = _fit_of_all(request.description, view, sight, vectors)
    image = None if request.reference is None else _alike(view, request.reference, sight)
    audio = _audio(request.auditory_memory, view, vectors)
    asked = request.constraint if request.constraint_kind in ("color", "style") else ""
    constraint = _pictured(asked, view, sight) if content_words(asked) else None
    fit = 0.0 if text is None else text
    return FrameMatch(
        text_match=fit >= MATCHES,
        image_match=None if request.reference is None else image is not None and image >= SAME_SCENE,
        audio_match=None if audio is None else audio >= MATCHES,
        constraint_match=None if constraint is None else constraint >= MATCHES,
        confidence=round(fit if fit >= MATCHES else 1 - fit, 6),
        reason=f"the description fits by {fit:.2f}"
        + ("" if image is None else f"; the frames' cosine is {image:.2f}"),
    )


def _fit_of_all(part: str, view: VideoView, sight: Sight, vectors: SentenceVectors) -> float | None:
    """The mean over the sentences of a part: a video of the same kind shares some of them, never all.

    What it began or ended with is sought there alone.
    """
    told = placed(part) or [(part, WHOLE)]
    fits = [_fit(sentence, _share_of(view, share), sight, vectors) for sentence, share in told]
    known = [fit for fit in fits if fit is not None]
    return sum(known) / len(known) if known else None


def _share_of(view: VideoView, share: tuple[float, float]) -> VideoView:
    """The frames and lines of a share of a view; of frames at least the one that lies nearest."""
    if share == WHOLE:
        return view
    length = view.end - view.start
    start, end = view.start + share[0] * length, view.start + share[1] * length
    texts = tuple(line for line in view.texts if line.start < end and line.end > start)
    times, held = view.frame_times, view.frame_vectors
    if times is None or held is None or not len(times):
        return replace(view, start=start, end=end, texts=texts)
    inside = (times >= start) & (times < end)
    inside[np.abs(times - (start + end) / 2).argmin()] = True
    return replace(
        view, start=start, end=end, texts=texts, frame_times=times[inside], frame_vectors=held[inside]
    )


def _fit(text: str, view: VideoView, sight: Sight, vectors: SentenceVectors) -> float | None:
    """In [0, 1]; None where there are neither frames nor lines.

    Frames go before lines: that somebody speaks of a thing says little about its being seen, and in an hour
    of talk nearly everything is spoken of. So what lines say beyond the frames counts a third.
    """
    if not content_words(text):
        return None
    seen = _pictured(text, view, sight)
    said = _spoken(text, view, vectors)
    if seen is None or said is None:
        return said if seen is None else seen
    return seen + SPOKEN * max(0.0, said - seen)


def _pictured(text: str, view: VideoView, sight: Sight) -> float | None:
    event = sought(text)
    found = sight.relevance([event, f"a video that shows {event}"], view)
    return None if found is None else max(found)


def _spoken(text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    best = [
        found[0].relevance for part in recollected(text) or [text] if (found := heard(part, view, vectors))
    ]
    return max(best, default=None)


def _audio(remembered: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    """How well what is said fits what was heard; None where one of the two is silent."""
    if not content_words(remembered):
        return None
    return _spoken(remembered, view, vectors)


def _alike(one: VideoView, other: VideoView, sight: Sight) -> float | None:
    """Greatest cosine of their frames; None where their vectors are not there or not of one kind."""
    ours, theirs = sight.vectors(one), sight.vectors(other)
    if ours is None or theirs is None:
        return None
    return round(float((ours.astype("float64") @ theirs.astype("float64").T).max()), 6)
