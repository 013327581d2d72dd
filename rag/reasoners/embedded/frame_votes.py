"""What the frames of the windows say for each option, from their stored vectors.

What each option names ("a towel") is held against every frame, and so is the event
asked for. With z the standard score of words against a frame (`ImageScoreCalibrator.level_z`),
w_c the weight of window c (the chance that its clip is the right one) and e the event, with "something"
for the unknown:

    p(option) = sum over windows c of w_c
                sum over frames f of softmax_f(GATE z(e, f)) softmax_options(SHARP z(option, f))
                + the chance that no clip is the right one / n

normalised over the options, with "none of them" as one more option at z = NONE. So a
frame speaks as much as it shows the event and any of the options, and where they look
alike it says nothing. A vote is log(n p(option)) for n options: 0 where the
images say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.reasoners.embedded.rewriting import thing_of, two_hop
from rag.reasoners.embedded.scoring import frames_of
from rag.reasoners.roles.reading import Reading
from rag.relevance import ImageScoreCalibrator

GATE, SHARP = 1.0, 3.0
"""Set on the Workbench dev split of EgoFact, for frames spread over the clip (109 one-hop questions)."""
NONE = 4.0
"""Standard score of no option at all: a frame that none of them fits says little."""
LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Vote:
    """What the frames say for one option."""

    z: float
    """log(n p) for n options: 0 where the images do not distinguish them."""
    window: int
    """The window that speaks most for it."""
    event: float
    """Standard score of the event that is asked for in the frame of that window that shows it best; 0 where
    the question names none."""


def frame_votes(
    reading: Reading, calibrator: ImageScoreCalibrator | None, weights: NDArray[np.float64]
) -> list[Vote] | None:
    """One vote an option, or None where there is no image encoder or no frame vector. `weights`: float64
    (w,), of `window_weights`."""
    seen = list(frames_of(reading).items())
    if calibrator is None or not seen:
        return None
    # The event that must be seen; none where the question names only what comes before or after it.
    anchor = reading.anchor
    asked = anchor.description if anchor.position == "within" else anchor.target
    event = calibrator.encode([asked] if asked else [])
    called = _option_names(reading)
    # Encoded together: a text by itself takes three times as long.
    ends = np.cumsum([len(names) for names in called])[:-1]
    names = np.split(calibrator.encode([name for names in called for name in names]), ends)
    found = [_window_shares(calibrator, names, event, vectors) for _, vectors in seen]
    by_window = np.stack([shares for shares, _ in found])
    # Where the right clip is not among them, each option is as likely.
    unknown = max(0.0, 1.0 - float(weights.sum())) / len(names)
    shares = (by_window * weights[:, None]).sum(axis=0) + unknown
    values = np.log(np.maximum(shares * len(names), LEAST))
    best = np.argmax(by_window * weights[:, None], axis=0).tolist()
    return [
        Vote(round(float(value), 6), seen[at][0], round(found[at][1], 6))
        for value, at in zip(values, best, strict=True)
    ]


def window_odds(reading: Reading, weights: NDArray[np.float64]) -> dict[int, float]:
    """Return by index the log of each window's weight, less that of the greatest. It is empty where retrieval
    compared the clips (`ReadWindow.match`), because then words, too, have found the windows. `weights`:
    float64 (w,), of `window_weights`."""
    if not len(weights) or any(window.match is not None for window in reading.windows):
        return {}
    odds = np.log(np.maximum(weights, LEAST))
    return dict(zip(frames_of(reading), (odds - odds.max()).tolist(), strict=True))


def window_weights(reading: Reading, calibrator: ImageScoreCalibrator | None) -> NDArray[np.float64]:
    """Return the weights of the windows with frames, float64 (w,): the clips' matches. They sum to 1, or less
    by the chance that the right clip is none of them; there are none without an image encoder.

    Where frames were not compared in retrieval, a window weighs by how well it shows the scene of the
    question. Ranks are too level for this: of five clips one is right, and the others would outvote it.
    """
    seen = list(frames_of(reading).items())
    if calibrator is None or not seen:
        return np.empty(0, np.float64)
    matches = [reading.windows[index].match for index, _ in seen]
    if None not in matches:
        return np.array(matches, np.float64)
    scene = calibrator.encode([reading.rewritten.visual_query])
    fits = np.array([calibrator.level_z(scene, vectors).mean() for _, vectors in seen])
    score = np.array([reading.windows[index].retrieval_score for index, _ in seen])
    powers = np.exp(fits - fits.max()) * np.maximum(score, 1e-3)
    return np.asarray(powers / powers.sum(), np.float64)


def _window_shares(
    calibrator: ImageScoreCalibrator,
    names: Sequence[NDArray[np.float32]],
    event: NDArray[np.float32],
    vectors: NDArray[np.float32],
) -> tuple[NDArray[np.float64], float]:
    """float64 (options,) shares summing to 1 of one window's frames, float32 (m, d); and `Vote.event`."""
    # Together: the background of the frames, which all of them are held against, is compared once.
    ends = np.cumsum([len(event), *map(len, names)])[:-1]
    z, *each = np.split(calibrator.level_z(np.concatenate([event, *names]), vectors), ends)
    asked = z[0] if len(event) else np.zeros(len(vectors))
    gate = softmax(GATE * asked)
    # Of several names for one thing the one that fits best.
    fits = np.stack([found.max(axis=0) if len(found) else np.zeros(len(vectors)) for found in each])
    unlike = np.full((1, fits.shape[1]), NONE)
    shares = softmax(SHARP * np.concatenate([fits, unlike]), axis=0)[:-1]
    gated = (shares * gate).sum(axis=1)
    return np.asarray(gated / gated.sum(), np.float64), float(asked.max())


def softmax(values: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Shares of values along an axis, float64 of the same shape; they sum to 1."""
    powers = np.exp(values - values.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True), np.float64)


def _option_names(reading: Reading) -> list[list[str]]:
    """What each option may be called: itself, or the titles of its passages and the things that they name.
    Empty where there are none."""
    titles: dict[int | None, list[str]] = {}
    for read in reading.passages:
        titles.setdefault(read.option, []).extend((read.passage.title, thing_of(read.passage.title)))
    return [
        titles.get(at, []) if two_hop(option) else [option.rstrip(". ")]
        for at, option in enumerate(reading.question.options)
    ]
