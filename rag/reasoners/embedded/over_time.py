"""Questions about which of some events comes first or last, and about how often one happens, by stored times.

An event is at each window that supports it, with a chance by the window's odds. A sentence (`text_relevance`)
or a frame (as `image_relevance`) supports it at a relevance of one half or more; tags hold for a whole video
and support no time. How often it happens is the number of windows, where these are all its occurrences found,
or one of the options must be chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.questions import option_label
from rag.reasoners.embedded.rewriting import asks_for_order
from rag.reasoners.embedded.scoring import SentenceVectors, frames_of, relevances
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.reading import Reading
from rag.records import UNSURE
from rag.relevance import IMAGE_MIDDLE, IMAGE_SLOPE, TEXT_ODDS_POWER, ImageScoreCalibrator, logistic
from rag.words import content_words, numbers

ReplyT = TypeVar("ReplyT", ChosenOption, OpenAnswer)
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
OPEN_COUNT = 0.5
"""Confidence of a number that no option gives."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A window in which an event is seen or stated: log odds of words and frames together, at least 0, and
    the time of the stronger of the two, seconds."""

    odds: float
    time: float
    window: int
    video_id: str
    said: bool
    """Whether a text supports it, and not frames alone."""


def answer_over_time(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> ChosenOption | None:
    """Answer a question about order or number; None for others, and where the windows say nothing."""
    question = reading.question
    if (end := asks_for_order(question.text)) is not None:
        found = [_places(option, reading, vectors, calibrator) for option in question.options]
        # Times of two videos have no order.
        videos = dict.fromkeys(window.window.video_id for window in reading.windows)
        by_video = ([[one for one in of if one.video_id == video] for of in found] for video in videos)
        return _by_order(max(by_video, key=_strength, default=[]), end)
    offered = [numbers(option) for option in question.options]
    whole = reading.all_occurrences or reading.must_choose
    if not (reading.rewritten.counted and whole and all(len(given) == 1 for given in offered)):
        return None
    counted = _counted(reading, vectors, calibrator)
    if not counted:
        return None
    nearest = min(range(len(offered)), key=lambda at: (abs(offered[at][0] - len(counted)), at))
    weights = [1.0] * len(offered)
    weights[nearest] += (SURE_OF_ALL if reading.all_occurrences else SURE_COUNT) * len(offered)
    windows = [place.window for place in counted]
    return _doubted(chosen_option(weights, _count_said(counted, reading), windows), counted)


def count_open(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> OpenAnswer | None:
    """The number of occurrences with their times; None where none is counted or no window supports one."""
    counted = _counted(reading, vectors, calibrator) if reading.all_occurrences else []
    if not counted:
        return None
    windows = tuple(place.window for place in counted)
    times = sorted(reading.windows[index].window.start for index in windows)
    reply = OpenAnswer(
        text=f"{len(counted)}: at {', '.join(f'{time:.0f} s' for time in times)}.",
        confidence=OPEN_COUNT,
        explanation=_count_said(counted, reading),
        windows=windows,
    )
    return _doubted(reply, counted)


def _doubted(reply: ReplyT, places: Iterable[_Place]) -> ReplyT:
    """The reply, never sure where frames alone support what it rests on."""
    if any(place.said for place in places):
        return reply
    return reply.model_copy(update={"confidence": min(reply.confidence, UNSURE)})


def _counted(
    reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> list[_Place]:
    """Where the event that is counted is supported."""
    return _places(reading.rewritten.counted, reading, vectors, calibrator)


def _count_said(counted: Sequence[_Place], reading: Reading) -> str:
    return f"{len(counted)} of {len(reading.windows)} windows show or say “{reading.rewritten.counted}”."


def _strength(options: Sequence[Sequence[_Place]]) -> float:
    return sum(logistic(max(place.odds for place in places)) for places in options if places)


def _by_order(options: Sequence[Sequence[_Place]], end: Literal["first", "last"]) -> ChosenOption | None:
    """By the chance of each option's event to come first, or last, of those that have places."""
    if not any(options):
        return None
    sign = 1 if end == "first" else -1
    times = [sign * np.array([place.time for place in places]) for places in options]
    chances = [np.exp(PLACE_POWER * np.array([place.odds for place in places])) for places in options]
    weights = []
    for at, own in enumerate(times):
        alone = np.ones(len(own))
        for other, theirs in enumerate(times):
            if other != at and len(theirs):
                # Half of what is at the same time.
                beyond = (np.sign(theirs[None] - own[:, None]) + 1) / 2
                alone *= beyond @ chances[other] / chances[other].sum()
        weights.append(UNSEEN + (float(alone @ chances[at] / chances[at].sum()) if len(own) else 0.0))
    likeliest = [
        (max(places, key=lambda place: (place.odds, -place.time)), option_label(at))
        for at, places in enumerate(options)
        if places
    ]
    likeliest.sort(key=lambda one: one[0].time)
    order = ", then ".join(f"({label}) at {place.time:.0f} s" for place, label in likeliest)
    windows = {place.window for place, _ in likeliest}
    reply = chosen_option(weights, f"Seen or said: {order}.", windows)
    return _doubted(reply, options[reply.scores.index(max(reply.scores))])


def chosen_option(
    weights: Sequence[float],
    explanation: str,
    windows: Iterable[int] = (),
    passages: Iterable[int] = (),
    sure: float | None = None,
) -> ChosenOption:
    """The option of the greatest weight with its evidence. `sure`: that it is right, in [0, 1]; its share of
    the weights where it is None."""
    scores = [round(weight / sum(weights), 6) for weight in weights]
    best = scores.index(max(scores))
    scores[best] = round(1.0 - sum(scores[:best] + scores[best + 1 :]), 6)
    return ChosenOption(
        choice=option_label(best),
        scores=tuple(scores),
        confidence=scores[best] if sure is None else round(sure, 6),
        explanation=explanation,
        windows=tuple(sorted(windows)),
        passages=tuple(sorted(passages)),
    )


def _places(
    event: str, reading: Reading, vectors: SentenceVectors, calibrator: ImageScoreCalibrator | None
) -> list[_Place]:
    """The windows where words or frames support an event, in their order."""
    held = frames_of(reading)
    shown: dict[int, NDArray[np.float64]] = {}
    if calibrator is not None and held:
        # One spread for all frames.
        z = calibrator.level_z(calibrator.encode([event]), np.concatenate(list(held.values())))[0].round(6)
        ends = np.cumsum([len(rows) for rows in held.values()])[:-1]
        shown = dict(zip(held, np.split(z, ends), strict=True))
    places = []
    for index, window in enumerate(reading.windows):
        found, said = [], False
        texts = [text for text in window.texts if text.kind != "tag"]
        if texts and content_words(event):
            near = relevances(event, [text.text for text in texts], vectors, reading.text_vectors)
            sure = min(max(LEAST_DOUBT, max(near)), 1 - LEAST_DOUBT)
            nearest = texts[near.index(max(near))]
            found.append((TEXT_ODDS_POWER * math.log(sure / (1 - sure)), nearest.start))
            said = found[0][0] >= 0 and nearest.kind != "caption"
        if index in shown:
            at = int(shown[index].argmax())
            seen = window.window.start if window.frame_times is None else float(window.frame_times[at])
            found.append((IMAGE_SLOPE * (float(shown[index][at]) - IMAGE_MIDDLE), seen))
        found = [each for each in found if each[0] >= 0]
        if found:
            time = max(found, key=lambda each: (each[0], -each[1]))[1]
            places.append(_Place(sum(odds for odds, _ in found), time, index, window.window.video_id, said))
    return places
