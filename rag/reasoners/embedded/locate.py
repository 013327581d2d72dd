"""Where in a video: peaks of the frame scores, and lines of the transcript that speak to it.

With frames at t_0 ... t_n-1, a frame that fits represents the stretch from the
frame before it to the frame after it, since sparse frames show no more. A line
represents its own time and 2 s on both sides. Of stretches that overlap the best counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpora.records import kind_name
from rag.reasoners.embedded.lines import rank_lines
from rag.reasoners.embedded.phrases import statements
from rag.reasoners.embedded.question_forms import event_text
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.roles.locate import Located, LocatedWindow, LocateRequest
from rag.reasoners.roles.material import Memory, VideoView, clipped
from rag.relevance import image_relevance

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
        reason = f"{kind_name(line.kind)} at {line.start:.1f} s: {line.text}"
        window = LocatedWindow(start=start, end=end, reason=reason)
        found.append((relevance, (line.start + line.end) / 2, window))
    return found
