"""Whether a video or a frame is the one that is remembered, by relevance of words to frames and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.attributes import ATTRIBUTES
from rag.reasoners.embedded.lines import rank_lines
from rag.reasoners.embedded.locate import event_text, frame_scores
from rag.reasoners.embedded.phrases import WHOLE, positioned_statements, statements
from rag.reasoners.embedded.scoring import ZeroShotScorer
from rag.reasoners.roles.match_frame import FrameMatch, MatchRequest
from rag.reasoners.roles.material import ConstraintKind, Memory, VideoView
from rag.reasoners.roles.verify_video import VerifyRequest, VideoVerdict
from rag.relevance import image_relevance
from rag.words import content_words

if TYPE_CHECKING:
    from rag.reasoners.embedded.scoring import SentenceVectors

MATCHES = 0.5
WHOLE_ENOUGH = 0.6
MOMENT_ENOUGH = 0.4
"""Scores from which a video is taken for the remembered one: by its impression, 70 % of the right videos of
the development split reach it and 8 % of the others; by a moment, 47 and 2 % (docs/design/raclo.md)."""
SOUND = 0.25
"""Weight of the sound, against the images: much that is said in one video is said in others."""

SPOKEN = 1 / 3
"""Of what lines say beyond the frames, the share that counts."""
SAME_SCENE = 0.85
"""Cosine of two frames from which they show the same scene."""
COMPARED = frozenset({"color"})
"""Attributes whose values are compared with each other: words on the light of a frame are far below the
threshold of objects, and rank by it all the same. Those on style do not (docs/design/shotfinder.md)."""


def verify_video(request: VerifyRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoVerdict:
    """Against an impression of the whole: the mean over its sentences of how well frames or lines fit.

    Without one, against a moment: by the frame that fits all of it at once, with its neighbours in time,
    and by the sound. Confidence is one half where a fit is just enough.
    """
    memory, view = request.memory, request.view
    audio = _audio(memory.auditory_memory, view, vectors)
    whole = memory.global_impression
    moment = [part for part in (memory.key_moment, memory.before, memory.after) if content_words(part)]
    if content_words(whole):
        found, enough = _fit_of_all(whole, view, scorer, vectors), WHOLE_ENOUGH
    else:
        found, enough = _moment_fit(memory, moment, audio, view, scorer, vectors), MOMENT_ENOUGH
    fit = 0.0 if found is None else round(found, 6)
    match = found is not None and fit >= enough
    confidence = fit / enough / 2 if fit < enough else 0.5 + (fit - enough) / (1 - enough) / 2
    # Nothing compared: even odds.
    confidence = 0.5 if found is None else confidence
    parts = {
        part: _fit_of_all(part, view, scorer, vectors) for part in (whole, *moment) if not match and part
    }
    return VideoVerdict(
        video_match=match,
        audio_match=None if audio is None else audio >= MATCHES,
        confidence=round(confidence if match else 1 - confidence, 6),
        contradictions=tuple(part for part, one in parts.items() if one is not None and one < 1 - MATCHES),
        reason="there is nothing to compare"
        if found is None
        else f"it fits by {fit:.2f}; from {enough:.2f} on it is taken for the video",
    )


def match_frame(request: MatchRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> FrameMatch:
    """A point that cannot be compared from vectors and words is None, and decides nothing."""
    view = request.candidate
    text = _fit_of_all(request.description, view, scorer, vectors)
    image = None if request.reference is None else _alike(view, request.reference, scorer)
    audio = _audio(request.auditory_memory, view, vectors)
    # Nothing compared: even odds.
    fit = MATCHES if text is None else text
    return FrameMatch(
        text_match=text is not None and text >= MATCHES,
        image_match=None if request.reference is None else image is not None and image >= SAME_SCENE,
        audio_match=None if audio is None else audio >= MATCHES,
        constraint_match=_meets(request.constraint_kind, request.constraint, view, scorer),
        confidence=round(fit if fit >= MATCHES else 1 - fit, 6),
        reason=("there is nothing to compare" if text is None else f"the description fits by {text:.2f}")
        + ("" if image is None else f"; the frames' cosine is {image:.2f}"),
    )


def _meets(kind: ConstraintKind, text: str, view: VideoView, scorer: ZeroShotScorer) -> bool | None:
    """Whether frames meet a constraint; None where it is of a kind that they do not show, or there are none.

    Where it names one value of an attribute in `COMPARED`: whether no other value fits as well.
    """
    if kind not in ("color", "style") or not content_words(text):
        return None
    attribute = ATTRIBUTES[kind]
    named = attribute.named(text)
    if kind not in COMPARED or len(named) != 1:
        found = _by_frames(text, view, scorer)
        return None if found is None else found >= MATCHES
    scores = scorer.z(list(attribute.phrases.values()), view)
    if scores is None:
        return None
    fits = dict(zip(attribute.phrases, scores.mean(axis=1).tolist(), strict=True))
    return all(fits[named[0]] > fit for value, fit in fits.items() if value != named[0])


def _fit_of_all(part: str, view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors) -> float | None:
    """The mean over the sentences of a part: a video of the same kind shares some of them, never all.

    What it began or ended with is searched there alone.
    """
    parts_ = positioned_statements(part) or [(part, WHOLE)]
    fits = [_fit(sentence, _share_of(view, share), scorer, vectors) for sentence, share in parts_]
    known = [fit for fit in fits if fit is not None]
    return sum(known) / len(known) if known else None


def _moment_fit(
    memory: Memory,
    moment: Sequence[str],
    audio: float | None,
    view: VideoView,
    scorer: ZeroShotScorer,
    vectors: SentenceVectors,
) -> float | None:
    """In [0, 1]: of the best frame for the moment alone and of the best with its neighbours, the mean.

    Taken apart, an action, an object and what came next each appear somewhere in any long video. Where
    there are no frames, the mean over what lines say of each part.
    """
    alone = frame_scores(memory.key_moment, Memory(key_moment=memory.key_moment), view, scorer)
    beside = frame_scores(memory.key_moment, replace(memory, auditory_memory=""), view, scorer)
    if alone is not None and beside is not None:
        by_frames: float | None = image_relevance((float(alone.max()) + float(beside.max())) / 2)
    else:
        spoken = [by_lines for part in moment if (by_lines := _by_lines(part, view, vectors)) is not None]
        by_frames = sum(spoken) / len(spoken) if spoken else None
    if by_frames is None or audio is None:
        return audio if by_frames is None else by_frames
    return (by_frames + SOUND * audio) / (1 + SOUND)


def _share_of(view: VideoView, share: tuple[float, float]) -> VideoView:
    """The frames and lines of a share of a view; of frames at least the nearest one."""
    if share == WHOLE:
        return view
    length = view.end - view.start
    start, end = view.start + share[0] * length, view.start + share[1] * length
    texts = tuple(line for line in view.texts if line.start < end and line.end > start)
    times, vectors_ = view.frame_times, view.frame_vectors
    if times is None or vectors_ is None or not len(times):
        return replace(view, start=start, end=end, texts=texts)
    inside = (times >= start) & (times < end)
    inside[np.abs(times - (start + end) / 2).argmin()] = True
    return replace(
        view, start=start, end=end, texts=texts, frame_times=times[inside], frame_vectors=vectors_[inside]
    )


def _fit(text: str, view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors) -> float | None:
    """In [0, 1]; None where there are neither frames nor lines.

    Frames go before lines: that a thing is spoken of says little about its being seen, and in an hour
    of talk nearly everything is spoken of. So what lines say beyond the frames counts a third.
    """
    if not content_words(text):
        return None
    by_frames = _by_frames(text, view, scorer)
    by_lines = _by_lines(text, view, vectors)
    if by_frames is None or by_lines is None:
        return by_lines if by_frames is None else by_frames
    return by_frames + SPOKEN * max(0.0, by_lines - by_frames)


def _by_frames(text: str, view: VideoView, scorer: ZeroShotScorer) -> float | None:
    event = event_text(text)
    found = scorer.relevance([event, f"a video that shows {event}"], view)
    return None if found is None else max(found)


def _by_lines(text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    best = [
        found[0].relevance
        for part in statements(text) or [text]
        if (found := rank_lines(part, view, vectors))
    ]
    return max(best, default=None)


def _audio(memory_text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    """How well what is said fits the remembered sound; None where one of the two is silent."""
    if not content_words(memory_text):
        return None
    return _by_lines(memory_text, view, vectors)


def _alike(one: VideoView, other: VideoView, scorer: ZeroShotScorer) -> float | None:
    """Greatest cosine of their frames; None where their vectors are not there or not of one kind."""
    ours, theirs = scorer.vectors(one), scorer.vectors(other)
    if ours is None or theirs is None:
        return None
    return round(float((ours.astype("float64") @ theirs.astype("float64").T).max()), 6)
