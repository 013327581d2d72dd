"""Whether a video or a frame is the one that is remembered, by relevance of words to frames and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.reasoners.embedded.listening import heard
from rag.reasoners.embedded.locating import sought
from rag.reasoners.embedded.sight import Sight
from rag.reasoners.roles import FrameMatch, MatchRequest, VerifyRequest, VideoVerdict, VideoView
from rag.relevance import content_words

if TYPE_CHECKING:
    from rag.reasoners.embedded.vectors import SentenceVectors

__all__ = ["SAME_SCENE", "match_frame", "verify_video"]

MATCHES = 0.5
SAME_SCENE = 0.85
"""Cosine of two frames from which they show the same scene."""


def verify_video(request: VerifyRequest, sight: Sight, vectors: SentenceVectors) -> VideoVerdict:
    """The mean over the parts of the memory of how well frames or lines fit; a match from one half on."""
    memory, view = request.memory, request.view
    told = (memory.global_impression, memory.key_moment, memory.before, memory.after)
    parts = [part for part in told if content_words(part)]
    fits = [_fit(part, view, sight, vectors) for part in parts]
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
    text = _fit(request.description, view, sight, vectors)
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


def _fit(text: str, view: VideoView, sight: Sight, vectors: SentenceVectors) -> float | None:
    """In [0, 1], by the better of frames and lines; None where there is neither."""
    if not content_words(text):
        return None
    seen = _pictured(text, view, sight)
    said = _spoken(text, view, vectors)
    known = [fit for fit in (seen, said) if fit is not None]
    return max(known) if known else None


def _pictured(text: str, view: VideoView, sight: Sight) -> float | None:
    found = sight.relevance([sought(text)], view)
    return None if found is None else found[0]


def _spoken(text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    found = heard(text, view, vectors)
    return found[0].relevance if found else None


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
