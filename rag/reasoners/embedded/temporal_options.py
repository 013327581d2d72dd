"""Options that differ only in when, or how often: the times and the windows at which each is seen or told.

"Which of these happens first?" is decided by when each option's event is best
supported, "how many times" by the number of windows that support the event asked
for. What supports: a sentence of the windows (`text_relevance`), or a frame
(`ImageScoreCalibrator.relevance`), at a relevance of one half or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rag.questions import option_label
from rag.reasoners.embedded.rewriting import declarative, parts
from rag.reasoners.embedded.vectors import SentenceVectors
from rag.reasoners.roles import ChosenOption, Reading
from rag.relevance import (
    ImageScoreCalibrator,
    content_words,
    lexical_overlap,
    logistic,
    numbers,
    text_relevance,
)
from rag.relevance.image_relevance import MIDDLE, SLOPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUPPORTED = 0.5
UNSEEN = 0.05
"""Weight of an option that nothing supports against one that is surely seen at the right end."""
SURE_COUNT = 0.3
"""Share that the nearest number gets beyond an even one: the windows read show only a part of the video."""

_ORDER = re.compile(
    r"\bwhich (?:of (?:these|the following)|event|one)\b.*"
    r"\b(?:happens?|comes?|occurs?|takes? place|is (?:seen|shown))\b.*?"
    r"\b(?P<end>first|earliest|last|latest)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Support:
    """The strongest place at which an option is seen or told."""

    strength: float
    time: float
    window: int


def asks_for_order(text: str) -> Literal["first", "last"] | None:
    """Which end of the order a question asks for; None where it asks for neither."""
    found = _ORDER.search(text)
    if found is None:
        return None
    return "first" if found["end"].lower() in ("first", "earliest") else "last"


def asks_for_count(text: str, options: Sequence[str]) -> bool:
    """Whether a number is asked for, and every option is one."""
    return _COUNT.search(text) is not None and all(len(numbers(option)) == 1 for option in options)


def answer_over_time(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    """None where the question is about neither order nor number, or nothing in the windows speaks to it."""
    question = reading.question
    end = asks_for_order(question.text)
    if end is not None:
        supports = [_support(option, reading, vectors, calibrator) for option in question.options]
        return _by_order(supports, end)
    if asks_for_count(question.text, question.options):
        return _by_count(reading, vectors, calibrator)
    return None


def _by_order(supports: Sequence[_Support | None], end: Literal["first", "last"]) -> ChosenOption | None:
    placed = [(found.time, index) for index, found in enumerate(supports) if found is not None]
    if not placed:
        return None
    placed.sort(key=lambda pair: (pair[0] if end == "first" else -pair[0], pair[1]))
    weights = [UNSEEN] * len(supports)
    for rank, (_, index) in enumerate(placed):
        found = supports[index]
        assert found is not None, "only what is placed is ranked"
        weights[index] += found.strength * 0.5**rank
    told = ", then ".join(f"({option_label(index)}) at {time:.0f} s" for time, index in sorted(placed))
    windows = {found.window for found in supports if found is not None}
    return _chosen(weights, f"Seen or told: {told}.", windows)


def _by_count(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    asked = declarative(parts(reading.question.text).core)
    event = asked if content_words(asked) else reading.question.text
    supporting = [
        index
        for index in range(len(reading.windows))
        if _support(event, reading, vectors, calibrator, only=index)
    ]
    if not supporting:
        return None
    offered = [numbers(option)[0] for option in reading.question.options]
    nearest = min(range(len(offered)), key=lambda i: (abs(offered[i] - len(supporting)), i))
    weights = [1.0] * len(offered)
    weights[nearest] += SURE_COUNT * len(offered)
    return _chosen(
        weights,
        f"{len(supporting)} of {len(reading.windows)} windows show or tell “{event}”.",
        set(supporting),
    )


def _chosen(weights: Sequence[float], explanation: str, windows: set[int]) -> ChosenOption:
    whole = sum(weights)
    scores = tuple(round(weight / whole, 6) for weight in weights)
    best = max(range(len(scores)), key=lambda i: (scores[i], -i))
    return ChosenOption(
        choice=option_label(best),
        scores=scores,
        confidence=scores[best],
        explanation=explanation,
        windows=tuple(sorted(windows)),
    )


def _support(
    event: str,
    reading: Reading,
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
    only: int | None = None,
) -> _Support | None:
    """The strongest support of an event at a relevance of one half, the earliest of equals."""
    found = [
        support
        for index in (range(len(reading.windows)) if only is None else (only,))
        for support in (
            _by_text(event, reading, index, vectors),
            _by_frames(event, reading, index, calibrator),
        )
        if support is not None and support.strength >= SUPPORTED
    ]
    return max(found, key=lambda support: (support.strength, -support.time), default=None)


def _by_text(event: str, reading: Reading, index: int, vectors: SentenceVectors) -> _Support | None:
    texts = reading.windows[index].texts
    words = content_words(event)
    if not texts or not words:
        return None
    rows = vectors.of([event, *(text.text for text in texts)])
    best: _Support | None = None
    for text in texts:
        cosine = float(rows[event] @ rows[text.text])
        strength = text_relevance(cosine, lexical_overlap(words, set(content_words(text.text))))
        if best is None or strength > best.strength:
            best = _Support(strength, text.start, index)
    return best


def _by_frames(
    event: str, reading: Reading, index: int, calibrator: ImageScoreCalibrator | None
) -> _Support | None:
    window = reading.windows[index]
    if calibrator is None or window.frame_vectors is None or not len(window.frame_vectors):
        return None
    z: NDArray[np.float64] = np.round(
        calibrator.level_z(calibrator.encode([event]), window.frame_vectors)[0], 6
    )
    at = int(np.argmax(z))
    time = float(window.frame_times[at]) if window.frame_times is not None else window.window.start
    return _Support(round(logistic(SLOPE * (float(z[at]) - MIDDLE)), 6), time, index)
