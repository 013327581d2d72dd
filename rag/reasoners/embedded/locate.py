"""Where in a video: peaks of the frame scores, and lines of the transcript that speak to it.

With frames at t_0 ... t_n-1, a frame that fits represents the stretch from the
frame before it to the frame after it, since sparse frames show no more. A line
represents its own time and 2 s on both sides. Overlapping stretches become one,
and rank by the best of what they hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import kind_name
from rag.reasoners.embedded.lines import ScoredLine, rank_lines
from rag.reasoners.embedded.phrases import statements
from rag.reasoners.embedded.question_forms import Form, declarative, parts, says_more, speech_question
from rag.reasoners.embedded.question_parts import decompose
from rag.reasoners.embedded.scoring import ZeroShotScorer
from rag.reasoners.roles.locate import Located, LocatedWindow, LocateRequest
from rag.reasoners.roles.material import Memory, VideoView
from rag.relevance import image_relevance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.reasoners.embedded.scoring import SentenceVectors

LEAST = 0.2
"""Relevance below which the video is said not to hold it."""
AROUND = 2.0
"""Seconds on both sides of a line."""
LONGEST_STEP = 15.0
"""Seconds that a frame represents on one side at most."""
SCENE = 1.0
"""Weight of the scene that a question names, against the moment itself."""
BESIDE = 0.5
"""Weight of what was just before and just after, against the moment itself."""
NEARBY = 12.0
"""Seconds before or after a moment that count as just before or just after."""
LINE_WEIGHT = 2.0
"""Standard scores that a line spoken at the moment is worth, of relevance 1."""
MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class _Stretch:
    start: float
    end: float
    relevance: float
    reason: str


def locate(request: LocateRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Located:
    """The best windows, or the best frame; N/A where nothing reaches 0.2 and it need not be chosen."""
    if request.target == "frame":
        return _frame(request, scorer, vectors)
    view, stretches = request.view, list[_Stretch]()
    for text in asking_sentences(request.query):
        quoted = _by_quoted_lines(text, view, vectors)
        stretches += quoted or [
            *_by_frames(replace(request, query=text), scorer),
            *_by_lines(text, view, vectors),
        ]
    kept = [stretch for stretch in _merged(stretches) if stretch.relevance >= LEAST or request.must_choose]
    if not kept and not request.must_choose:
        best = max((stretch.relevance for stretch in stretches), default=0.0)
        return Located(
            relevant=False, confidence=round(1 - best, 6), reason="no frame and no line speaks to it"
        )
    if not kept:
        whole = LocatedWindow(
            start=view.start, end=max(view.end, view.start + 0.001), reason="nothing to go by"
        )
        return Located(relevant=True, windows=(whole,), confidence=0.0, reason="nothing to go by")
    windows = tuple(
        LocatedWindow(start=stretch.start, end=stretch.end, reason=stretch.reason)
        for stretch in kept[: request.max_windows]
    )
    return Located(relevant=True, windows=windows, confidence=kept[0].relevance, reason=kept[0].reason)


def asking_sentences(text: str) -> list[str]:
    """Of a question of several sentences those that ask for something; any other text unchanged.

    "The channel X uploaded a video in May. In it, what is poured?": only the second can be seen.
    """
    if not text.rstrip().endswith("?"):
        return [text]
    asking = [part for part in decompose(text) if part.endswith("?") or Form.ASKING.search(part)]
    return asking or [text]


def event_text(text: str) -> str:
    """A question as the event that one would see; any other text unchanged."""
    taken = parts(text)
    event = declarative(taken.core) if text.rstrip().endswith("?") else text.strip()
    shown = event if says_more(event) else taken.scene or text
    return f"{taken.event}, {shown}" if taken.event and taken.event not in shown else shown


def frame_scores(
    query: str, memory: Memory | None, view: VideoView, scorer: ZeroShotScorer
) -> NDArray[np.float64] | None:
    """Standard scores, float64 (n,), of a view's n frames: the moment, and half as much its neighbours.

    None where the view has no vectors that the scorer's tower can compare.
    """
    texts = _moments(query, memory)
    scores = scorer.z([event_text(text) for text in texts], view)
    if scores is None:
        return None
    # What is remembered of one frame holds of it all at once; a question is asked in one way or another.
    total = scores.max(axis=0) if memory is None else scores.mean(axis=0)
    weight = 1.0
    # Sparse frames rarely show the moment itself, but nearly always the scene that it belongs to.
    scenes = list(dict.fromkeys(scene for text in texts if (scene := parts(text).scene)))
    around = scorer.z([f"a video that shows {scene}" for scene in scenes], view)
    if around is not None:
        total = total + SCENE * around.max(axis=0)
        weight += SCENE
    times = np.asarray(view.times, np.float64)
    for text, side in ((memory.before, -1), (memory.after, 1)) if memory is not None else ():
        texts = statements(text)
        near = scorer.z(texts, view) if texts else None
        if near is None or len(times) != total.size:
            continue
        total = total + BESIDE * _best_beside(near.mean(axis=0), times, side)
        weight += BESIDE
    return np.asarray(np.round(total / weight, 6), np.float64)


def _moments(query: str, memory: Memory | None) -> list[str]:
    remembered = memory.key_moment or memory.global_impression if memory is not None else ""
    constraint = (
        memory.constraint if memory is not None and memory.constraint_kind in ("color", "style") else ""
    )
    texts = [f"{text} {constraint}".strip() for text in (remembered, query) if text.strip()]
    if memory is not None:
        texts = [sentence for text in texts for sentence in statements(text) or [text]]
    return list(dict.fromkeys(texts)) or ["something"]


def _best_beside(scores: NDArray[np.float64], times: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """(n,) for each frame the best score among frames up to 12 s before it (`side` -1) or after it.

    Where frames are further apart, its neighbour; at the ends of the view, the frame itself.
    """
    best = np.empty_like(scores)
    for at, time in enumerate(times):
        if side < 0:
            first = min(int(np.searchsorted(times, time - NEARBY)), max(0, at - 1))
            best[at] = scores[first : max(at, first + 1)].max()
        else:
            last = max(int(np.searchsorted(times, time + NEARBY, side="right")), min(len(times), at + 2))
            best[at] = scores[min(at + 1, last - 1) : last].max()
    return best


def _by_frames(request: LocateRequest, scorer: ZeroShotScorer) -> list[_Stretch]:
    scores = frame_scores(request.query, request.memory, request.view, scorer)
    if scores is None:
        return []
    view, times = request.view, request.view.frame_times
    if times is None:
        return []
    stretches, event = [], event_text(request.query)
    for at in np.argsort(-scores, kind="stable")[: request.max_windows + 2]:
        before = times[at - 1] if at else view.start
        after = times[at + 1] if at + 1 < len(times) else view.end
        start = max(view.start, float(before), float(times[at]) - LONGEST_STEP)
        end = min(view.end, float(after), float(times[at]) + LONGEST_STEP)
        if end > start:
            reason = f"{event}: the frame at {times[at]:.1f} s fits (z = {scores[at]:.2f})"
            stretches.append(_Stretch(start, end, image_relevance(float(scores[at])), reason))
    return stretches


def _by_lines(query: str, view: VideoView, vectors: SentenceVectors) -> list[_Stretch]:
    stretches = []
    for line in rank_lines(query, view, vectors)[:MOST_LINES]:
        start = max(view.start, line.start - AROUND)
        end = min(view.end, max(line.end, line.start) + AROUND)
        # Tags and titles hold for the whole video, and say nowhere in particular.
        if end > start and line.kind != "tag":
            reason = f"{kind_name(line.kind)} at {line.start:.1f} s: {line.text}"
            stretches.append(_Stretch(start, end, line.relevance, reason))
    return stretches


def _by_quoted_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[_Stretch]:
    """Where a question about what is said is answered by text; empty for any other question."""
    asked = speech_question(text)
    return [line for line in _by_lines(asked, view, vectors) if line.relevance >= LEAST] if asked else []


def _merged(stretches: list[_Stretch]) -> list[_Stretch]:
    """Those that overlap become one, best first; two stretches that only touch stay two."""
    kept: list[_Stretch] = []
    for stretch in sorted(stretches, key=lambda one: (-one.relevance, one.start, one.end, one.reason)):
        over = [other for other in kept if stretch.start < other.end and other.start < stretch.end]
        if not over:
            kept.append(stretch)
        elif len(over) == 1 and stretch.relevance >= LEAST:
            other = over[0]
            widened = _Stretch(
                min(stretch.start, other.start), max(stretch.end, other.end), other.relevance, other.reason
            )
            if not any(
                widened.start < one.end and one.start < widened.end for one in kept if one is not other
            ):
                kept[kept.index(other)] = widened
    return kept


def _lines_for(text: str, view: VideoView, vectors: SentenceVectors) -> list[ScoredLine]:
    """The lines that speak most to any sentence of a text, those that hold for the whole video left out."""
    found = [
        line for part in statements(text) or [text] for line in rank_lines(part, view, vectors)[:MOST_LINES]
    ]
    return [line for line in found if line.kind != "tag"]


def _frame(request: LocateRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Located:
    """By frame scores; what is said near a frame counts as much as what it shows."""
    view = request.view
    times = np.asarray(view.times, np.float64)
    if not len(times):
        return Located(relevant=request.must_choose, confidence=0.0, reason="there are no frames")
    scores = frame_scores(request.query, request.memory, view, scorer)
    seen = np.zeros(len(times)) if scores is None or len(scores) != len(times) else scores
    relevance = (
        np.array([image_relevance(float(z)) for z in seen]) if scores is not None else np.zeros(len(times))
    )
    sound = request.memory.auditory_memory if request.memory is not None else ""
    bonus = np.zeros(len(times))
    for line in _lines_for(sound or request.query, view, vectors):
        near = (times >= line.start - AROUND) & (times <= line.end + AROUND)
        # Sparse frames may all be beside a line: then the nearest one represents it.
        near[np.abs(times - (line.start + line.end) / 2).argmin()] = True
        if sound:
            bonus = np.where(near, np.maximum(bonus, LINE_WEIGHT * line.relevance), bonus)
        relevance = np.where(near, np.maximum(relevance, line.relevance), relevance)
    fits = -np.round(seen + bonus, 6) if sound else -np.round(relevance, 6)
    order = np.lexsort((np.arange(len(times)), -seen, fits))
    at = int(order[0])
    best = round(float(relevance[at]), 6)
    if best < LEAST and not request.must_choose:
        return Located(relevant=False, confidence=round(1 - best, 6), reason="no frame fits")
    reason = f"the frame at {times[at]:.1f} s fits best (z = {seen[at]:.2f})"
    return Located(relevant=True, frame=at, confidence=best, reason=reason)
