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

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.claims import two_hop
from rag.reasoners.embedded.scoring import frames_of
from rag.reasoners.roles.reading import Reading
from rag.relevance import ImageScoreCalibrator
from rag.words import content_words, stem, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

GATE, SHARP = 1.0, 3.0
"""Set on the Workbench dev split of EgoFact, for frames spread over the clip (109 one-hop questions)."""
NONE = 4.0
"""Standard score of no option at all: a frame that none of them fits says little."""
SCENE, DONE = 1.0, 1.0
"""Weight of a window: how well it shows the scene, and the event, in standard scores."""
MOST_NAMES, LONGEST_NAME = 3, 3
LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Vote:
    """What the frames say for one option."""

    z: float
    """log(n p) for n options: 0 where the images do not distinguish them."""
    windows: tuple[int, ...]
    """The window that speaks most for it."""


def frame_votes(reading: Reading, calibrator: ImageScoreCalibrator | None) -> list[Vote] | None:
    """One vote an option, or None where there is no image encoder or no frame vector."""
    seen = list(frames_of(reading).items())
    if calibrator is None or not seen:
        return None
    event_text = _asked_event(reading)
    event = calibrator.encode([event_text] if event_text else [])
    weights = _weights(reading, calibrator, seen, event)
    found = _option_names(reading)
    # Encoded together: a text by itself takes three times as long.
    ends = np.cumsum([len(names) for names in found])[:-1]
    names = np.split(calibrator.encode([name for names in found for name in names]), ends)
    by_window = np.stack([_window_shares(calibrator, names, event, vectors) for _, vectors in seen])
    # Where the right clip is not among them, each option is as likely.
    unknown = max(0.0, 1.0 - float(weights.sum())) / len(names)
    shares = (by_window * weights[:, None]).sum(axis=0) + unknown
    values = np.log(np.maximum(shares * len(names), LEAST))
    best = np.argmax(by_window * weights[:, None], axis=0)
    return [Vote(round(float(value), 6), (seen[int(at)][0],)) for value, at in zip(values, best, strict=True)]


def _asked_event(reading: Reading) -> str:
    """The event that must be seen; empty where the question names only what comes before or after it."""
    anchor = reading.anchor
    return anchor.description if anchor.position == "within" else anchor.target


def _weights(
    reading: Reading,
    calibrator: ImageScoreCalibrator,
    seen: Sequence[tuple[int, NDArray[np.float32]]],
    event: NDArray[np.float32],
) -> NDArray[np.float64]:
    """(w,) summing to 1, or less by the chance that the right clip is none of them: the clips' matches.

    Where frames were not compared in retrieval, by how well the window shows the scene and the event of the
    question.
    Ranks are too level for this: of five clips one is right, and the others would outvote it.
    """
    matches = [reading.windows[index].match for index, _ in seen]
    if None not in matches:
        return np.array(matches, np.float64)
    scene = calibrator.encode([reading.rewritten.visual_query])
    anchored = reading.anchor.position != "within"
    anchor = calibrator.encode([reading.anchor.description] if anchored else [])
    fits = np.array(
        [
            SCENE * calibrator.level_z(scene, vectors).mean()
            + DONE
            * (_soft_top(calibrator.level_z(event, vectors)) + _soft_top(calibrator.level_z(anchor, vectors)))
            for _, vectors in seen
        ]
    )
    score = np.array([reading.windows[index].retrieval_score for index, _ in seen])
    powers = np.exp(fits - fits.max()) * np.maximum(score, 1e-3)
    return np.asarray(powers / powers.sum(), np.float64)


def _soft_top(z: NDArray[np.float64]) -> float:
    """Mean of the best third of (1, m): an event fills a part of what is read. 0 where none is asked for."""
    if not len(z):
        return 0.0
    count = max(1, z.shape[1] // 3)
    return float(np.sort(z[0])[-count:].mean())


def _window_shares(
    calibrator: ImageScoreCalibrator,
    names: Sequence[NDArray[np.float32]],
    event: NDArray[np.float32],
    vectors: NDArray[np.float32],
) -> NDArray[np.float64]:
    """(options,) shares summing to 1 of one window's frames (m, d)."""
    # Together: the background of the frames, which all of them are held against, is compared once.
    ends = np.cumsum([len(event), *map(len, names)])[:-1]
    z, *each = np.split(calibrator.level_z(np.concatenate([event, *names]), vectors), ends)
    gate = _softmax(GATE * (z if len(event) else np.zeros((1, len(vectors)))), axis=1)[0]
    # Of several names for one thing the one that fits best.
    fits = np.stack([found.max(axis=0) if len(found) else np.zeros(len(vectors)) for found in each])
    unlike = np.full((1, fits.shape[1]), NONE)
    shares = _softmax(SHARP * np.concatenate([fits, unlike]), axis=0)[:-1]
    gated = (shares * gate).sum(axis=1)
    return np.asarray(gated / gated.sum(), np.float64)


def _softmax(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    powers = np.exp(values - values.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True), np.float64)


def _option_names(reading: Reading) -> list[list[str]]:
    """What each option may be called: itself, or what its passages are about. Empty where they do not say."""
    return [
        _names(reading, index) if two_hop(option) else [option.rstrip(". ")]
        for index, option in enumerate(reading.question.options)
    ]


def _names(reading: Reading, option: int) -> list[str]:
    """What the passages found for an option are about: runs of words of a title that the text repeats.

    The more often repeated come first, of equally often repeated ones the longer: "pruning shears"
    before "shears". What titles of other options' passages say too comes last: of two passages that differ
    in their object, the object is what is to be seen.
    """
    count: Counter[tuple[str, ...]] = Counter()
    found_for = {read.passage.passage_id: read for read in reading.passages if read.option == option}
    for read in found_for.values():
        stems_of_text = [stem(word) for word in tokens(read.passage.text)]
        for run in _runs(tokens(read.passage.title)):
            stems = [stem(word) for word in run]
            times = sum(stems_of_text[at : at + len(stems)] == stems for at in range(len(stems_of_text)))
            if times:
                count[run] += times
    others = {
        run
        for read in reading.passages
        if read.passage.passage_id not in found_for
        for run in _runs(tokens(read.passage.title))
    }
    own = {run: times for run, times in count.items() if run not in others} or count
    ranked = sorted(own, key=lambda run: (-own[run] * len(run), -len(run), run))
    return [" ".join(run) for run in ranked if own[run] * 2 > own[ranked[0]]][:MOST_NAMES]


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Neighbouring words of a title, up to three, without function words; each once."""
    runs = [
        tuple(words[at : at + size])
        for size in range(LONGEST_NAME, 0, -1)
        for at in range(len(words) - size + 1)
        if all(content_words(word) and not word.isdigit() for word in words[at : at + size])
    ]
    return list(dict.fromkeys(runs))
