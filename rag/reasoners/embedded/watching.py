"""Where in a video something is, whether it is there, and what an interval shows.

With frames at t_0 ... t_n-1, a frame that fits represents the stretch from the
frame before it to the frame after it, since sparse frames show no more. A line
represents its own time and 2 s on both sides. Of stretches that overlap the best counts.

No image is described freely. What is said of the frames are names that they are near to (`scoring`), under
"seems to show". The timeline has chapters and lines as they are, and frames by their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest

import numpy as np
from numpy.typing import NDArray

from corpora.records import kind_name
from rag.reasoners.attributes import ATTRIBUTES
from rag.reasoners.embedded.phrases import statements
from rag.reasoners.embedded.rewriting import event_text
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer, lines, rank_lines
from rag.reasoners.roles.material import ConstraintKind, Memory, VideoView, clipped, distinct
from rag.reasoners.roles.watching import (
    CaptionRequest,
    FrameMatch,
    Located,
    LocatedWindow,
    LocateRequest,
    MatchRequest,
    Observation,
    ObserveRequest,
    SummarizeRequest,
    Timeline,
    TimelineEvent,
    VerifyRequest,
    VideoSummary,
    VideoVerdict,
    WindowCaption,
)
from rag.relevance import image_relevance
from rag.words import word_set

LEAST = 0.2
"""Relevance below which the video is said not to hold it."""
AROUND = 2.0
"""Seconds on both sides of a line."""
LONGEST_STEP = 15.0
"""Seconds that a frame represents on one side at most."""
BESIDE = 0.5
"""Weight of what was just before and just after, against the moment itself."""
NEARBY = 12.0
"""Seconds before or after a moment that count as just before or just after."""
MOST_LINES = 6
_Place = tuple[float, float, LocatedWindow]
"""Relevance, the time of the frame or of the middle of the line, and the window."""


def locate(request: LocateRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Located:
    """The best windows, or the frame nearest to the best; N/A where nothing reaches 0.2 and it need not be
    chosen."""
    view, asked = request.view, " ".join(asking_sentences(request.query))
    if request.target == "frame" and not view.times:
        return Located(relevant=request.must_choose, confidence=0.0, reason="there are no frames")
    if request.target == "frame" and request.memory is not None:
        asked = request.memory.auditory_memory or asked
    found = [*_by_frames(request, scorer), *_by_lines(asked, view, vectors)]
    found.sort(key=lambda each: (-each[0], each[2].start, each[2].end))
    best = found[0][0] if found else 0.0
    if best < LEAST and not request.must_choose:
        reason = "no frame and no line speaks to it"
        return Located(relevant=False, confidence=round(1 - best, 6), reason=reason)
    windows: list[LocatedWindow] = []
    for one in clipped([window for fit, _, window in found if fit >= LEAST or request.must_choose], view):
        if not any(one.start < other.end and other.start < one.end for other in windows):
            windows.append(one)
    whole = LocatedWindow(start=view.start, end=max(view.end, view.start + 0.001), reason="nothing to go by")
    windows = windows[: request.max_windows] or [whole]
    if request.target == "frame":
        frame = int(np.abs(np.asarray(view.times) - (found[0][1] if found else view.start)).argmin())
        return Located(relevant=True, frame=frame, confidence=best, reason=windows[0].reason)
    return Located(relevant=True, windows=tuple(windows), confidence=best, reason=windows[0].reason)


def asking_sentences(text: str) -> list[str]:
    """The sentences of a text that are questions; where there are none, the text."""
    return [sentence for sentence in statements(text) if sentence.endswith("?")] or [text]


def frame_scores(
    query: str, memory: Memory | None, view: VideoView, scorer: ZeroShotScorer
) -> NDArray[np.float64] | None:
    """Standard scores, float64 (n,), of a view's n frames: the moment, and half as much its neighbours.

    None without words to compare, or where the view has no vectors that the scorer's tower can compare.
    """
    moment = memory or Memory()
    text = moment.key_moment or moment.global_impression or query
    # What else is asked for is sound or size, or measured.
    if moment.constraint_kind in ("color", "style"):
        text = f"{text} {moment.constraint}"
    asked = [event_text(sentence) for sentence in asking_sentences(text) if sentence.strip()]
    scores = scorer.z(asked, view)
    if scores is None:
        return None
    total, weight = scores.mean(axis=0), 1.0
    times = np.asarray(view.times, np.float64)
    for beside, side in ((moment.before, -1), (moment.after, 1)):
        near = scorer.z([beside] if beside else [], view)
        if near is not None and len(times) == total.size:
            total = total + BESIDE * _best_beside(near[0], times, side)
            weight += BESIDE
    return np.asarray(np.round(total / weight, 6), np.float64)


def _best_beside(scores: NDArray[np.float64], times: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """(n,) for each frame the best score among frames up to 12 s before it (`side` -1) or after it.

    Where frames are further apart, its neighbour; at the ends of the view, the frame itself.
    """
    if side > 0:
        return _best_beside(scores[::-1], -times[::-1], -1)[::-1]
    at = np.arange(len(times))
    first = np.minimum(np.searchsorted(times, times - NEARBY), np.maximum(at - 1, 0))
    stop = np.maximum(at, first + 1)
    return np.array([scores[low:high].max() for low, high in zip(first, stop, strict=True)])


def _by_frames(request: LocateRequest, scorer: ZeroShotScorer) -> list[_Place]:
    view, times = request.view, request.view.frame_times
    scores = frame_scores(request.query, request.memory, view, scorer)
    if scores is None or times is None or len(scores) != len(times):
        return []
    found, edges = [], [view.start, *times.tolist(), view.end]
    for at in np.argsort(-scores, kind="stable")[: request.max_windows + 2].tolist():
        time, z = edges[at + 1], float(scores[at])
        start, end = max(edges[at], time - LONGEST_STEP), min(edges[at + 2], time + LONGEST_STEP)
        reason = f"the frame at {time:.1f} s fits (z = {z:.2f})"
        found.append((image_relevance(z), time, LocatedWindow(start=max(0.0, start), end=end, reason=reason)))
    return found


def _by_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[_Place]:
    """By the lines that speak most to a text. Tags hold for the whole video, and say nowhere in
    particular."""
    found = []
    placed = [one for one in rank_lines(text, view, vectors) if one[1].kind != "tag"]
    for relevance, line in placed[:MOST_LINES]:
        start, end = max(0.0, line.start - AROUND), max(line.end, line.start) + AROUND
        reason = f"{kind_name(line.kind, line.track)} at {line.start:.1f} s: {line.text}"
        window = LocatedWindow(start=start, end=end, reason=reason)
        found.append((relevance, (line.start + line.end) / 2, window))
    return found


MATCHES = 0.5
"""Relevance from which a text fits, or is supported."""
SOUND = 0.25
"""Weight of the sound, against the images: much that is said in one video is said in others."""
SAME_SCENE = 0.85
"""Cosine of two frames from which they show the same scene."""


def verify_video(request: VerifyRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoVerdict:
    """Judge by an impression of the whole: the mean over its sentences of the best frame or line, for what a
    film is about is said at least as often as it is shown.

    Without an impression judge by a moment and the sound: by the frame that fits it best, with its neighbours
    in time, or by the lines, if they fit it better. Where nothing can be compared, it fits by 0.
    """
    memory, view = request.memory, request.view
    audio = _fit_of_lines(memory.auditory_memory, view, vectors)
    whole = memory.global_impression
    if whole:
        said = [_fit_of_lines(one, view, vectors) for one in statements(whole)]
        seen = scorer.relevance([event_text(one) for one in statements(whole)], view) or []
        fits = _mean([one for pair in zip_longest(said, seen) if (one := _better(*pair)) is not None])
    else:
        moment = " ".join((memory.key_moment, memory.before, memory.after))
        scores = frame_scores("", memory, view, scorer)
        best = None if scores is None else image_relevance(float(scores.max()))
        fits = _better(best, _fit_of_lines(moment, view, vectors))
    known = [(one, weight) for one, weight in ((fits, 1.0), (audio, SOUND)) if one is not None]
    fit = sum(each * weight for each, weight in known) / sum(weight for _, weight in known) if known else 0.0
    return VideoVerdict(
        video_match=fit >= MATCHES,
        audio_match=None if audio is None else audio >= MATCHES,
        confidence=_confidence(fit),
        reason=_reason("it", fit if known else None),
    )


def _better(*fits: float | None) -> float | None:
    return max((fit for fit in fits if fit is not None), default=None)


def match_frame(request: MatchRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> FrameMatch:
    """A point that cannot be compared from vectors and words is None, and decides nothing."""
    view = request.candidate
    text = _fit(request.description, view, scorer, vectors)
    image = None if request.reference is None else _alike(view, request.reference, scorer)
    audio = _fit_of_lines(request.auditory_memory, view, vectors)
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
    """The confidence of the verdict, yes or no; 0.5 where nothing could be compared."""
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
    return _fit_of_lines(text, view, vectors) if seen is None else _mean(seen)


def _fit_of_lines(text: str, view: VideoView, vectors: SentenceVectors) -> float | None:
    """The mean over the sentences of a text of its best line; None where there is no sentence or no line."""
    return _mean([fit for one in statements(text) for fit, _ in rank_lines(one, view, vectors)[:1]])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _alike(one: VideoView, other: VideoView, scorer: ZeroShotScorer) -> float | None:
    """Greatest cosine of their frames; None where their vectors are not there or not of one kind."""
    ours, theirs = scorer.vectors(one), scorer.vectors(other)
    if ours is None or theirs is None:
        return None
    return round(float((ours.astype("float64") @ theirs.astype("float64").T).max()), 6)


SUMMARY_LINES, MOST_TIMELINE_LINES = 12, 400
"""Lines of a summary and of a timeline, at most."""
LEAST_LENGTH = 0.001
"""Seconds; no event is shorter."""


def observe(request: ObserveRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Observation:
    """The names of what is seen, or where there are none the line nearest to the question; missing keywords
    and events, by frames and lines."""
    keywords = distinct(word for facet in request.facets for word in facet.keywords)
    events = distinct(query for facet in request.facets for query in facet.queries)
    if not request.facets:
        events = distinct([request.vlm_query or request.question.text])
    missing = _unsupported(keywords, request.view, scorer, vectors)
    unmet = _unsupported(events, request.view, scorer, vectors)
    return Observation(
        caption=next(iter(_described(request.question.text, request.view, scorer, vectors)), ""),
        missing=missing,
        needs_more_info=bool(unmet or (missing and not events)),
        missing_visual_keyword=next(iter((*unmet, *missing)), ""),
        reasoning=f"{len(events) - len(unmet)} of {len(events)} events are shown or said, "
        f"{len(keywords) - len(missing)} of {len(keywords)} keywords are there.",
    )


def _unsupported(
    texts: Iterable[str], view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors
) -> tuple[str, ...]:
    """The texts that no frame and no line speaks to, and whose words the lines lack."""
    known = word_set(" ".join(line.text for line in lines(view)))

    def fit(text: str) -> float:
        words = word_set(text)
        fits = [float(bool(words) and words <= known)]
        fits += [relevance for relevance, _ in rank_lines(text, view, vectors)[:1]]
        return max(fits + (scorer.relevance([event_text(text)], view) or []))

    return tuple(text for text in texts if fit(text) < MATCHES)


def _described(text: str, view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors) -> list[str]:
    """What the frames seem to show, if anything, and the lines nearest to a text, best first."""
    names = scorer.named(view)
    said = [line.text for _, line in rank_lines(text, view, vectors) if line.kind != "tag"]
    return [*([f"Seems to show {names}."] if names else []), *said[:SUMMARY_LINES]]


def summarize(request: SummarizeRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoSummary:
    """What the frames seem to show, and the lines nearest to the question; one a line, best first."""
    summary = "\n".join(_described(request.question.text, request.view, scorer, vectors))
    return VideoSummary(relevant=bool(summary), summary=summary)


def timeline(view: VideoView, scorer: ZeroShotScorer) -> Timeline:
    """Order events by start. Neighbouring frames with the same names are one event."""
    said = [
        TimelineEvent(
            start=max(0.0, line.start), end=max(line.end, line.start + LEAST_LENGTH), description=line.text
        )
        for line in lines(view)[:MOST_TIMELINE_LINES]
        if line.kind != "tag" and line.text and view.start <= line.start < view.end
    ]
    events = [*_frame_events(view, scorer), *said]
    return Timeline(
        events=tuple(sorted(events, key=lambda event: (event.start, event.end, event.description)))
    )


def caption_window(request: CaptionRequest, scorer: ZeroShotScorer) -> WindowCaption:
    """The names of what the frames show, in time order; the keywords change nothing."""
    return WindowCaption(actions=tuple(event.description for event in _frame_events(request.view, scorer)))


def _frame_events(view: VideoView, scorer: ZeroShotScorer) -> list[TimelineEvent]:
    """A frame lasts from half-way to half-way to its neighbours; the first and the last up to the ends."""
    names, times = scorer.named_each(view), view.frame_times
    if times is None:
        return []
    middles = (times[1:] + times[:-1]) / 2
    edges = np.clip([view.start, *middles, view.end], view.start, view.end).round(6).tolist()
    events = []
    for name, run in groupby(range(len(names)), key=names.__getitem__):
        at = list(run)
        start, end = edges[at[0]], edges[at[-1] + 1]
        if name and end - start >= LEAST_LENGTH:
            events.append(TimelineEvent(start=start, end=end, description=name))
    return events
