"""Relevance of clips to a question under any image encoder, calibrated on the library itself, without labels.

Cosines of image encoders have no common scale: 0.2 is high for one and low for another. What an unrelated
question reaches is therefore measured: the texts of `BACKGROUND` name things from everywhere, of which one
library shows few, and each is searched as a question is. Their best scores are the null distribution.

    score(q, clip) = max over the clip of the mean over 4 frames of (q - c) . v    c: mean of the background
    z(q, clip)     = (score - location) / spread

`location` is the median of the background's best scores among as many clips as were searched, `spread`
their standard deviation, estimated below the median and at the 84th percentile; a text that the library
does show is above both. The best of many clips is higher than the best of few, so samples of 1, 8, 64, ...
clips are measured, and all. A text counts with the best of its `TOP_K` nearest clips (the default of
`search.top_k`), for one stored scale serves searches of any size. Every factor and offset of the
similarities cancels.

Four frames, not the clip's own vector: that is the mean of 30 seconds, in which a short event has no weight.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from localization.interaction import best_stretch
from rag.relevance import IMAGE_MIDDLE, image_relevance
from rag.settings import TOP_K
from rag.store.records import SCORE_MEASURES, ClipFrames, NullScores, ScoreCalibration

SUBJECTS = (
    "a street market", "a person riding a horse", "a surgeon operating on a patient",
    "a football match in a stadium", "a guitarist on a stage", "a chef cutting vegetables",
    "an aeroplane landing on a runway", "a cat sleeping on a sofa", "a quiz show on television",
    "children playing in a playground", "a volcano erupting at night", "a lecture with slides",
    "a wedding ceremony in a church", "a video game with a spaceship", "a train leaving a station",
    "a dentist treating a tooth", "a bride throwing flowers", "a scuba diver near a coral reef",
    "a cartoon rabbit eating a carrot", "soldiers marching in a parade",
    "a man shaving in front of a mirror", "a tractor on a wheat field", "an advertisement for a perfume",
    "a skier on a snowy slope", "a protest with banners", "a judge in a courtroom",
    "a baby learning to walk", "the surface of the moon", "a bus driving through heavy rain",
    "a woman painting her nails", "a chess board with few pieces left",
    "a politician speaking to journalists", "a bird feeding its young", "a robot in a factory",
    "a ballet performance", "a pizza in an oven", "a map of Europe", "a swimming competition",
    "firefighters putting out a fire", "a couple dancing on a beach", "a spreadsheet on a computer screen",
    "an elephant at a river", "a yoga class", "a city skyline at sunset", "a car crash on a motorway",
    "a pop singer in a music video", "a microscope image of cells", "a dog catching a ball",
    "a puppet show", "a sailing boat in a storm", "a person tying a climbing rope",
    "a supermarket checkout", "a black and white silent movie", "an old castle on a hill",
    "an orchestra with a conductor", "a waterfall in a forest", "a hairdresser at work", "a boxing match",
    "a documentary about bees", "a person unpacking a new phone", "a birthday cake with candles",
    "a bar chart that grows", "a mechanic under a car", "a crowded airport terminal",
)  # fmt: skip
BACKGROUND = tuple(
    subject if number % 2 else f"A video that shows {subject}." for number, subject in enumerate(SUBJECTS)
)
"""In the two forms of a visual query: as a rewritten question, and as words that are searched."""
STEP = 8
"""Between the sizes of samples."""
LARGEST = 16_384
"""Clips of the largest sample; of a larger library these stand for all."""
CLIPS_AT_ONCE = 256
UPPER = 0.84
"""Share below one standard deviation above the median, of a normal distribution."""
NOTHING = 1e-9
"""Spread, as a share of the largest score, below which scores are rounding errors."""

ReadFrames = Callable[[Sequence[str]], Sequence["ClipFrames"]]


def content_digest(ids: Sequence[str]) -> str:
    """Hash over clip ids, in any order; 32 hex digits."""
    return hashlib.blake2b("\n".join(sorted(ids)).encode(), digest_size=16).hexdigest()


def centre_of(texts: NDArray[np.float32]) -> tuple[float, ...]:
    """Mean of the rows of `texts`, float32 (b, d): d numbers, to 9 decimals."""
    return tuple(texts.astype(np.float64).mean(axis=0).round(9).tolist())


def standard_score(null: NullScores, score: float, searched: int) -> float:
    """Standardize a score among `searched` clips: 0 is the median of unrelated texts, or without spread."""
    at, sizes = np.log(max(searched, 1)), np.log(null.sizes)
    spread = float(np.interp(at, sizes, null.spreads))
    return (score - float(np.interp(at, sizes, null.locations))) / spread if spread > 0 else 0.0


class LibraryScores:
    """Relevance of the clips of one library to queries."""

    def __init__(self, calibration: ScoreCalibration, middle: float = IMAGE_MIDDLE) -> None:
        """`middle`: standard score of a relevance of one half."""
        self._calibration = calibration
        self._middle = middle
        self._centre = np.asarray(calibration.centre, np.float64)

    def relevance(
        self, query: NDArray[np.float32], searched: int, frames: NDArray[np.float32] | None
    ) -> float:
        """Compute the relevance, in [0, 1], of one clip among `searched`, by its frames.

        `query`: unit float32 (d,). `frames`: unit rows, float32 (n, d), or None.
        """
        null = self._calibration.image
        if null is None or frames is None or not len(frames):
            return 0.0
        direction = (query.astype(np.float64) - self._centre)[None]
        score = float(best_stretch((direction @ frames.astype(np.float64).T).T)[0])
        return image_relevance(standard_score(null, score, searched), self._middle)


def library_scores(
    calibration: ScoreCalibration | None, middle: float = IMAGE_MIDDLE
) -> LibraryScores | None:
    """Return the stored scale; None before it is measured by this version. `middle`: see `LibraryScores`."""
    if calibration is None or calibration.version != SCORE_MEASURES:
        return None
    return LibraryScores(calibration, middle)


def measure_null_scores(
    texts: NDArray[np.float32],
    clip_ids: Sequence[str],
    clip_vectors: NDArray[np.floating],
    read_frames: ReadFrames,
) -> NullScores | None:
    """What the background reaches among samples of the clips; None without clips.

    `texts`: float32 (b, d), at least two. `clip_vectors`: (n, d), one for each of `clip_ids`; they choose the
    clips that are looked at, as in a search. `read_frames`: frames of clips by id. The same clips give
    the same figures, in any order.
    """
    order = np.array(sorted(range(len(clip_ids)), key=lambda at: _shuffled(clip_ids[at]))[:LARGEST], int)
    if not len(order):
        return None
    ids, rows = [clip_ids[at] for at in order], clip_vectors[order].astype(np.float64)
    unit = texts.astype(np.float64)
    # Less the mean of the others: a text must not be compared with itself.
    directions = (unit - unit.mean(axis=0)) * (len(unit) / (len(unit) - 1))
    similar = unit @ rows.T
    sizes = _sizes(len(order))
    chosen = {size: _candidates(similar, size) for size in sizes}
    looked_at = np.unique(np.concatenate([picks.ravel() for picks in chosen.values()]))
    scores = np.full((len(unit), len(order)), -np.inf)
    for start in range(0, len(looked_at), CLIPS_AT_ONCE):
        places = looked_at[start : start + CLIPS_AT_ONCE]
        for place, clip in zip(places, read_frames([ids[at] for at in places]), strict=True):
            vectors = clip.vectors if len(clip.times) else clip.clip_vector[None]
            scores[:, place] = best_stretch((directions @ vectors.astype(np.float64).T).T)
    best = [np.take_along_axis(scores, chosen[size], axis=1).max(axis=1) for size in sizes]
    return NullScores(
        sizes=(*sizes[:-1], len(clip_ids)),
        locations=tuple(_rounded(float(np.median(reached))) for reached in best),
        spreads=tuple(_rounded(_spread(reached)) for reached in best),
    )


def _sizes(count: int) -> tuple[int, ...]:
    sizes = []
    size = 1
    while size < count:
        sizes.append(size)
        size *= STEP
    return (*sizes, count)


def _candidates(similar: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """(b, k) the clips most similar to each text in its own sample of `size` of the n; `similar`: (b, n)."""
    texts, count = similar.shape
    samples = (np.arange(texts)[:, None] * size + np.arange(size)) % count
    nearest = np.argsort(-np.take_along_axis(similar, samples, axis=1), axis=1, kind="stable")
    return np.take_along_axis(samples, nearest[:, :TOP_K], axis=1)


def _spread(values: NDArray[np.float64]) -> float:
    """Mean of two estimates of the standard deviation: from the values below the median, and from the 84th
    percentile, since the best of many has a longer tail above; 0 where both are rounding errors."""
    middle, upper = np.quantile(values, [0.5, UPPER])
    below = middle - values[values <= middle]
    spread = (float(np.sqrt(np.mean(np.square(below)))) + float(upper - middle)) / 2
    return spread if spread > NOTHING * float(np.abs(values).max()) else 0.0


def _shuffled(clip_id: str) -> bytes:
    """A place in an order that has nothing to do with videos and time."""
    return hashlib.blake2b(clip_id.encode(), digest_size=8).digest()


def _rounded(value: float) -> float:
    """To 9 significant digits: the last bits of a sum are the processor's."""
    return float(f"{value:.9g}")
