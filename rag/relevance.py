"""Relevance of a text or an image to a question, in [0, 1], comparable between questions.

Texts: cosine of sentence vectors and shared stems, as one number. The curves were set on questions about
small corpora of subtitles and passages with all-MiniLM-L6-v2. With multilingual-e5-small 97 to 100 % of the
questions of a set (XQuAD in six languages, TweetQA) have a passage or a sentence of at least 0.3, 84 to 97 %
where they are in another language than their text, and 7 to 93 % of foreign ones: which of these is answered
is decided by the reasoner's confidence. Another text encoder has another spread.

Images: cosines of image encoders have no common scale (0.2 is high for one, low for another), so each is
standardized over a fixed background of everyday sentences against the same image:

    z = (q . v - mean_b(b . v)) / max(std_b(b . v), FLOOR)

which needs no other weights, no training and no other video.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexers.protocol import TextTower

MIDDLE = 0.47
SENTENCE_MIDDLE = 0.38
"""The middle of the curve for a sentence that may answer. With it 56 % of questions in another language than
the text are answered right, with 0.47 50 %. No more foreign questions are answered, for the reasoner gives
them too low a confidence (n=300 and 120, eight sets of XQuAD, docs/design/reading.md)."""
SLOPE = 16.0
OVERLAP_WEIGHT = 0.12
"""What a full overlap of stems adds to the cosine."""
CHUNK_MIDDLE = 0.50
CHUNK_SLOPE = 12.0
CHUNK_OVERLAP_WEIGHT = 0.6
RRF_K = 60
"""Constant of reciprocal rank fusion (Cormack et al., 2009: 60)."""
TEXT_ODDS_POWER = 0.5
"""Power of the odds of relevance of a text, beside images: a relevant text is on the subject, and need not
be what is looked for. Of 0.3, 0.5, 0.7 and 1 that under which most clips are among the best five, on 170
questions about two sets of long videos that no report is about (docs/design/video_detective.md)."""


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), in (0, 1); `value` is clipped to [-60, 60]."""
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))


def text_relevance(cosine: float, overlap: float, middle: float = MIDDLE) -> float:
    """Relevance in [0, 1] of a sentence or a subtitle to a question.

    `cosine` of their sentence vectors, `overlap` of their stems in [0, 1]:
    logistic(16 (cosine + 0.12 overlap - middle)), rounded to 6 decimals.
    """
    return round(logistic(SLOPE * (cosine + OVERLAP_WEIGHT * overlap - middle)), 6)


def chunk_relevance(cosine: float, overlap: float, words: int) -> float:
    """Relevance in [0, 1] of a passage of many sentences to a question of `words` stems.

    One answering sentence hardly changes the vector of a whole passage, but unrelated passages rarely
    contain the question's words, so these weigh more, and more so the more of them there are:
    logistic(12 (cosine + 0.6 overlap words / (words + 1) - 0.5)), rounded to 6 decimals.
    """
    shared = CHUNK_OVERLAP_WEIGHT * overlap * words / (words + 1)
    return round(logistic(CHUNK_SLOPE * (cosine + shared - CHUNK_MIDDLE)), 6)


BACKGROUND = (
    "A video that shows a person walking on a street.",
    "A video that shows a dog in a garden.",
    "A video that shows hands preparing food.",
    "A video that shows a computer screen with text.",
    "A video that shows a car on a road.",
    "A video that shows mountains and a lake.",
    "A video that shows a man talking to the camera.",
    "A video that shows a woman reading in a room.",
    "A video that shows a crowd at a concert.",
    "A video that shows tools on a workbench.",
    "A video that shows children playing football.",
    "A video that shows an aeroplane in the sky.",
    "A video that shows a cartoon animal.",
    "A video that shows a doctor with a patient.",
    "A video that shows a map or a diagram.",
    "A video that shows a boat on the sea.",
)
FLOOR = 0.01
IMAGE_MIDDLE = TextTower.half_relevant
IMAGE_SLOPE = 2.0


def image_relevance(z: float, middle: float = IMAGE_MIDDLE) -> float:
    """Relevance in [0, 1] of a standard score of an image: logistic(2 (z - middle)), to 6 decimals."""
    return round(logistic(IMAGE_SLOPE * (z - middle)), 6)


class ImageScoreCalibrator:
    """Calibrated scores of one tower; the background is encoded once, on first use."""

    def __init__(self, tower: TextTower) -> None:
        self._tower = tower

    @cached_property
    def background(self) -> NDArray[np.float32]:
        """Unit rows, float32 (16, dim)."""
        return self._tower.encode_text(BACKGROUND)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, float32 (n, dim)."""
        return self._tower.encode_text(texts) if texts else np.empty((0, self._tower.dim), np.float32)

    def z(self, queries: NDArray[np.float32], images: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 (q, p) standard scores of unit rows `queries` (q, dim) and `images` (p, dim)."""
        raised, spreads = self._above_background(queries, images)
        return np.asarray(raised / np.maximum(spreads, FLOOR), np.float64)

    def level_z(self, queries: NDArray[np.float32], images: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 (q, p) as `z`, with one spread for all images, so that frames of a clip compare.

        Where the background scores of one frame hardly differ, its own spread would amplify noise.
        """
        raised, spreads = self._above_background(queries, images)
        return np.asarray(raised / max(float(spreads.mean()), FLOOR), np.float64)

    def relevance(self, query: NDArray[np.float32], image: NDArray[np.float32]) -> float:
        """Relevance in [0, 1] of one image vector, float32 (dim,): `image_relevance` of its score."""
        z = float(self.z(query.reshape(1, -1), image.reshape(1, -1))[0, 0])
        return image_relevance(z)

    def _above_background(
        self, queries: NDArray[np.float32], images: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Cosines (q, p) less the background's mean, and the background's spread (p,), for each image."""
        columns = images.astype(np.float64).T
        background = self.background.astype(np.float64) @ columns
        return queries.astype(np.float64) @ columns - background.mean(axis=0), background.std(axis=0)
