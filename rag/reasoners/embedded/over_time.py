"""Questions about when or how often something happens.

What comes before or after a step is the option that a passage names next to it. "Which of these happens
first?" is decided by the chance of each option to come first, its event being at each place that supports
it with a chance by the place's odds; "how many times" by the number of windows that support the event asked
for, where these are all its occurrences found, or one of the options must be chosen. What supports: a
sentence of the windows (`text_relevance`), or a frame (as `image_relevance`), at a relevance of one half or
more; tags hold for a whole video and support no time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rag.questions import option_label
from rag.reasoners.embedded.lines import relevances
from rag.reasoners.embedded.procedures import asked_steps
from rag.reasoners.embedded.question_forms import asks_for_order, parts
from rag.reasoners.embedded.scoring import SentenceVectors, frames_of
from rag.reasoners.embedded.sentences import sequence_of
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.relevance import IMAGE_MIDDLE, IMAGE_SLOPE, TEXT_ODDS_POWER, ImageScoreCalibrator, logistic
from rag.words import content_words, lexical_overlap, numbers, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAST_DOUBT = 1e-6
"""That a text supports an event, or that it does not: what relevance is rounded to."""
PLACE_POWER = 0.5
"""Of the odds of a place: frames of one event, and a frame and the words beside it, are not independent.
Of 0.2, 0.25, 0.35 and 0.5 that of the least log loss of the confidence, on 300 questions of order about two
sets of long videos that no report is about."""
UNSEEN = 0.02
"""Weight of an option that nothing supports against one that is surely seen at the right end."""
SURE_COUNT, SURE_OF_ALL = 0.3, 0.7
"""Share that the nearest number gets beyond an even one: where the windows read show only a part of the
video, and where they are all occurrences found in it."""
LEAST_STEP_WORDS = 2
"""Of an event, by which a step of a passage is known."""
LEAST_OF_STEP = 0.5
"""Share of an option's words that the step which it is must exceed."""
OPEN_COUNT = 0.5
"""Confidence of a number that no option gives."""


@dataclass(frozen=True, slots=True)
class _Support:
    """A window in which an event is seen or stated."""

    log_odds: float
    """Of words and of frames, added up; at least 0."""
    time: float
    """Seconds, of the stronger of the two."""
    window: int


def answer_over_time(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    """None where the question is about neither order nor number, or nothing in the windows speaks to it."""
    question = reading.question
    end = asks_for_order(question.text)
    if end is not None:
        # Times of two videos have no order.
        videos: dict[str, list[int]] = {}
        for index, window in enumerate(reading.windows):
            videos.setdefault(window.window.video_id, []).append(index)
        of_videos = [
            [_supports(option, reading, vectors, calibrator, among) for option in question.options]
            for among in videos.values()
        ]
        return _by_order(max(of_videos, key=_strength, default=[]), end)
    offered = [numbers(option) for option in question.options]
    whole = reading.all_occurrences or reading.must_choose
    if (step := _by_number(reading) or _by_step(reading)) is not None:
        return step
    if reading.rewritten.counted and whole and all(len(found) == 1 for found in offered):
        return _by_count(reading, [found[0] for found in offered], vectors, calibrator)
    return None


def _strength(options: Sequence[Sequence[_Support]]) -> float:
    return sum(logistic(max(place.log_odds for place in places)) for places in options if places)


def _by_order(options: Sequence[Sequence[_Support]], end: Literal["first", "last"]) -> ChosenOption | None:
    """`options`: the places of each."""
    if not any(options):
        return None
    places = [_chances(found) for found in options]
    weights = [UNSEEN + _chance_at(end, index, places) for index in range(len(places))]
    likeliest = [
        (max(found, key=lambda one: (one[0], -one[1].time))[1], option_label(index))
        for index, found in enumerate(places)
        if found
    ]
    likeliest.sort(key=lambda one: one[0].time)
    order = ", then ".join(f"({label}) at {place.time:.0f} s" for place, label in likeliest)
    return _chosen(weights, f"Seen or said: {order}.", {place.window for place, _ in likeliest})


_Places = Sequence[tuple[float, _Support]]
"""Of one event, each with the chance that it is the right one."""


def _chances(found: Sequence[_Support]) -> _Places:
    top = max((place.log_odds for place in found), default=0.0)
    odds = [math.exp(PLACE_POWER * (place.log_odds - top)) for place in found]
    return [(share / sum(odds), place) for share, place in zip(odds, found, strict=True)]


def _chance_at(end: Literal["first", "last"], index: int, events: Sequence[_Places]) -> float:
    """That an event comes first, or last, of those that have places."""
    others = [places for at, places in enumerate(events) if at != index and places]
    return sum(
        chance * math.prod(_chance_beyond(place.time, end, places) for places in others)
        for chance, place in events[index]
    )


def _chance_beyond(time: float, end: Literal["first", "last"], places: _Places) -> float:
    """That an event comes after a time, or before it for the last; half of what is at the same time."""
    sign = 1 if end == "first" else -1
    later = sum(chance for chance, place in places if sign * place.time > sign * time)
    return later + sum(chance for chance, place in places if place.time == time) / 2


def _by_number(reading: Reading) -> ChosenOption | None:
    """Of the options the one of which the step asked for by its number has most words; None where that is not
    asked, the step has no more than half of its words, or two share as many."""
    asked = asked_steps(reading)
    if asked is None or len(asked.steps) > 1:
        return None
    held = word_set(asked.steps[0])
    weights = [UNSEEN + lexical_overlap(content_words(option), held) for option in reading.question.options]
    if max(weights) <= UNSEEN + LEAST_OF_STEP or weights.count(max(weights)) > 1:
        return None
    return _chosen(weights, f"It is the step “{asked.steps[0]}”.", passages=asked.passages)


def _by_step(reading: Reading) -> ChosenOption | None:
    """Of what comes before or after an event, the option that a passage names nearest to it on that side.

    None where no passage has a sentence with all words of the event, and on that side one with an option's,
    and where two options are as near.
    """
    taken = parts(reading.question.text)
    event = content_words(taken.event)
    if taken.position == "within" or len(event) < LEAST_STEP_WORDS:
        return None
    steps = [(s.index, word_set(s.text)) for s in sequence_of(reading) if s.origin == "passage"]
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
    why = f"Of the options it is named next, {taken.position} “{taken.event}”."
    return _chosen(weights, why, passages=passages)


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
    return _chosen(weights, _counted(supporting, reading), supporting)


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
    windows = range(len(reading.windows))
    found = _supports(reading.rewritten.counted, reading, vectors, calibrator, windows)
    return [place.window for place in found]


def _counted(supporting: Sequence[int], reading: Reading) -> str:
    return f"{len(supporting)} of {len(reading.windows)} windows show or say “{reading.rewritten.counted}”."


def _chosen(
    weights: Sequence[float], explanation: str, windows: Iterable[int] = (), passages: Iterable[int] = ()
) -> ChosenOption:
    whole = sum(weights)
    scores = tuple(round(weight / whole, 6) for weight in weights)
    best = scores.index(max(scores))
    return ChosenOption(
        choice=option_label(best),
        scores=scores,
        confidence=scores[best],
        explanation=explanation,
        windows=tuple(sorted(windows)),
        passages=tuple(sorted(passages)),
    )


def _supports(
    event: str,
    reading: Reading,
    vectors: SentenceVectors,
    calibrator: ImageScoreCalibrator | None,
    among: Sequence[int],
) -> list[_Support]:
    """Those of the windows `among` where words or frames support an event, in their order."""
    scores = _frame_scores(event, reading, among, calibrator)
    places = []
    for index in among:
        both = _by_text(event, reading, index, vectors), _by_frames(scores.get(index), reading, index)
        found = [support for support in both if support and support.log_odds >= 0]
        if found:
            stronger = max(found, key=lambda support: (support.log_odds, -support.time))
            places.append(replace(stronger, log_odds=sum(support.log_odds for support in found)))
    return places


def _by_text(event: str, reading: Reading, index: int, vectors: SentenceVectors) -> _Support | None:
    texts = [text for text in reading.windows[index].texts if text.kind != "tag"]
    if not texts or not content_words(event):
        return None
    strengths = relevances(event, [text.text for text in texts], vectors, reading.text_vectors)
    at = strengths.index(max(strengths))
    sure = min(max(LEAST_DOUBT, strengths[at]), 1 - LEAST_DOUBT)
    return _Support(TEXT_ODDS_POWER * math.log(sure / (1 - sure)), texts[at].start, index)


def _frame_scores(
    event: str, reading: Reading, among: Sequence[int], calibrator: ImageScoreCalibrator | None
) -> dict[int, NDArray[np.float64]]:
    """Standard scores of the frames of windows, float64 (n,) each, with one spread for all of them."""
    held = {index: rows for index, rows in frames_of(reading).items() if index in among}
    if calibrator is None or not held:
        return {}
    z = calibrator.level_z(calibrator.encode([event]), np.concatenate(list(held.values())))[0].round(6)
    return dict(zip(held, np.split(z, np.cumsum([len(rows) for rows in held.values()])[:-1]), strict=True))


def _by_frames(scores: NDArray[np.float64] | None, reading: Reading, index: int) -> _Support | None:
    """`scores`: float64 (n,), of the frames of the window."""
    if scores is None:
        return None
    window, at = reading.windows[index], int(np.argmax(scores))
    time = float(window.frame_times[at]) if window.frame_times is not None else window.window.start
    return _Support(IMAGE_SLOPE * (float(scores[at]) - IMAGE_MIDDLE), time, index)
