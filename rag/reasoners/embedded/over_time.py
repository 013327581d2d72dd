"""Questions about when or how often something happens.

What comes before or after a step is the option that a passage names next to it.
"Which of these happens first?" is decided by when each option's event is best supported, "how many times"
by the number of windows that support the event asked for, where these are all its occurrences found, or one
of the options must be chosen. What supports: a sentence of the windows (`text_relevance`), or a frame
(as `image_relevance`), at a relevance of one half or more; tags hold for a whole video and support no time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rag.questions import option_label
from rag.reasoners.embedded.rewriting import asks_for_order, parts
from rag.reasoners.embedded.scoring import SentenceVectors
from rag.reasoners.embedded.sentences import relevances, sequence_of
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.relevance import (
    IMAGE_MIDDLE,
    IMAGE_SLOPE,
    ImageScoreCalibrator,
    content_words,
    lexical_overlap,
    logistic,
    numbers,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


SUPPORTED = 0.5
LEAST_DOUBT = 1e-6
"""That a text supports an event, or that it does not: what relevance is rounded to."""
UNSEEN = 0.05
"""Weight of an option that nothing supports against one that is surely seen at the right end."""
SURE_COUNT, SURE_OF_ALL = 0.3, 0.7
"""Share that the nearest number gets beyond an even one: where the windows read show only a part of the
video, and where they are all occurrences found in it."""
LEAST_STEP_WORDS = 2
"""Of an event, by which a step of a passage is known."""
OPEN_COUNT = 0.5
"""Confidence of a number that no option gives."""


@dataclass(frozen=True, slots=True)
class _Support:
    """The strongest place at which an option is seen or stated."""

    log_odds: float
    """Of the strength, which rounds to 1 where it is great."""
    time: float
    window: int

    @property
    def strength(self) -> float:
        """In [0, 1], to 6 decimals."""
        return round(logistic(self.log_odds), 6)


def answer_over_time(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    """None where the question is about neither order nor number, or nothing in the windows speaks to it."""
    question = reading.question
    end = asks_for_order(question.text)
    if end is not None:
        # Times of two videos have no order.
        videos = dict.fromkeys(window.window.video_id for window in reading.windows)
        supports = [
            [
                _support(option, reading, vectors, calibrator, _windows_of(video_id, reading))
                for option in question.options
            ]
            for video_id in videos
        ]
        return _by_order(max(supports, key=_strength, default=[]), end)
    offered = [numbers(option) for option in question.options]
    whole = reading.all_occurrences or reading.must_choose
    if (step := _by_step(reading)) is not None:
        return step
    if reading.rewritten.counted and whole and all(len(found) == 1 for found in offered):
        return _by_count(reading, [found[0] for found in offered], vectors, calibrator)
    return None


def _windows_of(video_id: str, reading: Reading) -> list[int]:
    return [index for index, window in enumerate(reading.windows) if window.window.video_id == video_id]


def _strength(supports: Sequence[_Support | None]) -> float:
    return sum(found.strength for found in supports if found is not None)


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
    order = ", then ".join(f"({option_label(index)}) at {time:.0f} s" for time, index in sorted(placed))
    windows = {found.window for found in supports if found is not None}
    return _chosen(weights, f"Seen or said: {order}.", windows)


def _by_step(reading: Reading) -> ChosenOption | None:
    """Of what comes before or after an event, the option that a passage names nearest to it on that side.

    None where no passage has a sentence with all words of the event, and on that side one with an option's,
    and where two options are as near.
    """
    taken = parts(reading.question.text)
    event = content_words(taken.event)
    if taken.position == "within" or len(event) < LEAST_STEP_WORDS:
        return None
    steps = [(s.index, set(content_words(s.text))) for s in sequence_of(reading) if s.origin == "passage"]
    anchors = [at for at, (_, words) in enumerate(steps) if lexical_overlap(event, words) == 1]
    side = 1 if taken.position == "after" else -1
    weights, passages = [], set()
    for option in reading.question.options:
        stems = content_words(option)
        distances = [
            ((at - anchor) * side, passage)
            for anchor in anchors
            for at, (passage, words) in enumerate(steps)
            if (at - anchor) * side > 0 and passage == steps[anchor][0] and lexical_overlap(stems, words) == 1
        ]
        distance, passage = min(distances, default=(0, -1))
        weights.append(1 / distance if distance else UNSEEN)
        passages |= {passage} - {-1}
    if not passages or weights.count(max(weights)) > 1:
        return None
    found = _chosen(weights, f"Of the options it is named next, {taken.position} “{taken.event}”.", set())
    return found.model_copy(update={"passages": tuple(sorted(passages))})


def _by_count(
    reading: Reading,
    offered: Sequence[float],
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
) -> ChosenOption | None:
    """`offered`: the number of each option."""
    supporting = _supporting(reading, vectors, calibrator)
    if not supporting:
        return None
    nearest = min(range(len(offered)), key=lambda i: (abs(offered[i] - len(supporting)), i))
    weights = [1.0] * len(offered)
    weights[nearest] += (SURE_OF_ALL if reading.all_occurrences else SURE_COUNT) * len(offered)
    return _chosen(weights, _counted(supporting, reading), set(supporting))


def count_open(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> OpenAnswer | None:
    """The number of occurrences with their times; None where none is counted or no window supports one."""
    supporting = _supporting(reading, vectors, calibrator) if reading.all_occurrences else []
    if not supporting:
        return None
    times = sorted(reading.windows[index].window.start for index in supporting)
    return OpenAnswer(
        text=f"{len(supporting)}: at {', '.join(f'{time:.0f} s' for time in times)}.",
        confidence=OPEN_COUNT,
        explanation=_counted(supporting, reading),
        windows=tuple(supporting),
    )


def _supporting(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> list[int]:
    """The windows that support the event that is counted."""
    event, windows = reading.rewritten.counted, range(len(reading.windows))
    return [index for index in windows if _support(event, reading, vectors, calibrator, [index])]


def _counted(supporting: Sequence[int], reading: Reading) -> str:
    return f"{len(supporting)} of {len(reading.windows)} windows show or say “{reading.rewritten.counted}”."


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
    among: Sequence[int],
) -> _Support | None:
    """The stronger support of an event in the one of the windows `among` where words and frames, as odds
    multiplied, support it most; the earliest of equals. None where neither has a relevance of one half."""
    best, most = None, 0.0
    rows = None if calibrator is None else calibrator.encode([event])
    for index in among:
        supports = _by_text(event, reading, index, vectors), _by_frames(rows, reading, index, calibrator)
        found = [support for support in supports if support and support.strength >= SUPPORTED]
        together = sum(support.log_odds for support in found)
        here = max(found, key=lambda support: (support.log_odds, -support.time), default=None)
        if here and (best is None or (together, -here.time) > (most, -best.time)):
            best, most = here, together
    return best


def _by_text(event: str, reading: Reading, index: int, vectors: SentenceVectors) -> _Support | None:
    texts = [text for text in reading.windows[index].texts if text.kind != "tag"]
    if not texts or not content_words(event):
        return None
    strengths = relevances(event, [text.text for text in texts], vectors, reading.text_vectors)
    at = strengths.index(max(strengths))
    sure = min(strengths[at], 1 - LEAST_DOUBT)
    return _Support(math.log(max(LEAST_DOUBT, sure) / (1 - sure)), texts[at].start, index)


def _by_frames(
    rows: NDArray[np.float32] | None, reading: Reading, index: int, calibrator: ImageScoreCalibrator | None
) -> _Support | None:
    window = reading.windows[index]
    if calibrator is None or rows is None or window.frame_vectors is None or not len(window.frame_vectors):
        return None
    z: NDArray[np.float64] = np.round(calibrator.level_z(rows, window.frame_vectors)[0], 6)
    at = int(np.argmax(z))
    time = float(window.frame_times[at]) if window.frame_times is not None else window.window.start
    return _Support(IMAGE_SLOPE * (float(z[at]) - IMAGE_MIDDLE), time, index)
