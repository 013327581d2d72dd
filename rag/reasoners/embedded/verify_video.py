"""Whether a video or a frame is the one that is remembered, by relevance of words to frames and lines."""

from __future__ import annotations

from rag.reasoners.attributes import ATTRIBUTES
from rag.reasoners.embedded.lines import rank_lines
from rag.reasoners.embedded.locate import frame_scores
from rag.reasoners.embedded.phrases import statements
from rag.reasoners.embedded.question_forms import event_text
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.roles.match_frame import FrameMatch, MatchRequest
from rag.reasoners.roles.material import ConstraintKind, VideoView
from rag.reasoners.roles.verify_video import VerifyRequest, VideoVerdict
from rag.relevance import image_relevance

MATCHES = 0.5
SOUND = 0.25
"""Weight of the sound, against the images: much that is said in one video is said in others."""
SAME_SCENE = 0.85
"""Cosine of two frames from which they show the same scene."""


def verify_video(request: VerifyRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoVerdict:
    """Against an impression of the whole: the mean over its sentences of how well frames or lines fit.

    Without one, against a moment: by the frame that fits it best, with its neighbours in time, and by the
    sound. Where no frame can be compared, by lines alone.
    """
    memory, view = request.memory, request.view
    audio = _by_lines(memory.auditory_memory, view, vectors)
    whole = memory.global_impression
    scores = None if whole else frame_scores("", memory, view, scorer)
    if scores is not None:
        fit: float | None = image_relevance(float(scores.max()))
    else:
        moment = " ".join((memory.key_moment, memory.before, memory.after))
        fit = _fit(whole or moment, view, scorer, vectors)
    if fit is None or audio is None:
        fit = audio if fit is None else fit
    else:
        fit = (fit + SOUND * audio) / (1 + SOUND)
    return VideoVerdict(
        video_match=fit is not None and fit >= MATCHES,
        audio_match=None if audio is None else audio >= MATCHES,
        confidence=_confidence(fit),
        reason=_reason("it", fit),
    )


def match_frame(request: MatchRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> FrameMatch:
    """A point that cannot be compared from vectors and words is None, and decides nothing."""
    view = request.candidate
    text = _fit(request.description, view, scorer, vectors)
    image = None if request.reference is None else _alike(view, request.reference, scorer)
    audio = _by_lines(request.auditory_memory, view, vectors)
    return FrameMatch(
        text_match=text is not None and text >= MATCHES,
        image_match=None if request.reference is None else image is not None and image >= SAME_SCENE,
        audio_match=None if audio is None else audio >= MATCHES,
        constraint_match=_meets(request.constraint_kind, request.constraint, view, scorer),
        confidence=_confidence(text),
        reason=_reason("the description", text)
        + ("" if image is None else f"; the frames' cosine is {image:.2f}"),
    )


def _confidence(fit: float | None) -> float:
    """Of the verdict, yes or no; even odds where nothing could be compared."""
    return MATCHES if fit is None else round(max(fit, 1 - fit), 6)


def _reason(what: str, fit: float | None) -> str:
    return "there is nothing to compare" if fit is None else f"{what} fits by {fit:.2f}"


def _meets(kind: ConstraintKind, text: str, view: VideoView, scorer: ZeroShotScorer) -> bool | None:
    """Whether the one value of an attribute that a constraint names fits frames better than each other does.

    None where it is of a kind that frames do not show, or there are none.
    """
    if kind not in ("color", "style") or not statements(text):
        return None
    values = ATTRIBUTES[kind].phrases
    scores = scorer.z(list(values.values()), view)
    if scores is None:
        return None
    fits = dict(zip(values, scores.mean(axis=1).tolist(), strict=True))
    best = [value for value, fit in fits.items() if fit == max(fits.values())]
    return best == ATTRIBUTES[kind].named(text)


def _fit(text: str, view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors) -> float | None:
    """The mean over the sentences of a text of its best frame, or of its best line where there are no frames.

    That a thing is spoken of says little about its being seen, and in an hour of talk nearly everything is
    spoken of. None where nothing can be compared.
    """
    sentences = statements(text)
    seen = scorer.relevance([event_text(sentence) for sentence in sentences], view)
    return _by_lines(text, view, vectors) if seen is None else sum(seen) / len(seen)


def _by_lines(text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    """The mean over the sentences of a text of its best line; None where there is no sentence or no line."""
    ranked = [rank_lines(sentence, view, vectors) for sentence in statements(text)]
    best = [found[0][0] for found in ranked if found]
    return sum(best) / len(best) if best else None


def _alike(one: VideoView, other: VideoView, scorer: ZeroShotScorer) -> float | None:
    """Greatest cosine of their frames; None where their vectors are not there or not of one kind."""
    ours, theirs = scorer.vectors(one), scorer.vectors(other)
    if ours is None or theirs is None:
        return None
    return round(float((ours.astype("float64") @ theirs.astype("float64").T).max()), 6)
