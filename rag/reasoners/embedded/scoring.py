"""What vectors say: sentences by a text encoder, and stored frame vectors by words in the space of images."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from corpora.records import SPOKEN, Evidence
from indexers.protocol import TextEncoder, TextTower, Vocabulary
from rag.cues import joined_cues
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.reading import Reading
from rag.relevance import IMAGE_MIDDLE, ImageScoreCalibrator, image_relevance, text_relevance
from rag.words import content_words, lexical_overlap, word_set


class SentenceVectors:
    """Vectors of sentences, by one text encoder."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder

    @property
    def encoder(self) -> str:
        """Name of the encoder."""
        return self._encoder.name

    def of(
        self, texts: Collection[str], stored: Mapping[str, NDArray[np.float32]] = MappingProxyType({})
    ) -> dict[str, NDArray[np.float64]]:
        """Text to its unit vector, float64 (dim,); that of `stored`, float32 (dim,), where it has one."""
        given = {text: stored[text] for text in texts if text in stored}
        wanted = [text for text in dict.fromkeys(texts) if text not in given]
        rows = zip(wanted, self._encoder.encode_text(wanted), strict=True)
        return {text: np.asarray(row, np.float64) for text, row in (*given.items(), *rows)}


EVERYDAY = Path(__file__).with_name("everyday.json")
"""Names of what everyday images show, for an encoder that has no vocabulary of its own."""

MOST_NAMES = 5
PART = 1 / 3
"""Least share of a view's frames that show what is named."""


def frames_of(reading: Reading) -> dict[int, NDArray[np.float32]]:
    """The stored frame vectors, float32 (m, d), of each window that has any, by its index."""
    vectors = ((index, window.frame_vectors) for index, window in enumerate(reading.windows))
    return {index: rows for index, rows in vectors if rows is not None and len(rows)}


class ZeroShotScorer:
    """Scores by one tower. Without one, and for views without frame vectors, each score is None."""

    def __init__(self, tower: TextTower | None) -> None:
        self.calibrator = ImageScoreCalibrator(tower) if tower is not None else None
        self._tower = tower
        named = tower.vocabulary if tower is not None else None
        self._vocabulary: Vocabulary = named or Vocabulary.read(EVERYDAY)

    def vectors(self, view: VideoView) -> NDArray[np.float32] | None:
        """Unit float32 (n, d), one frame of the view a row.

        None where nothing can be compared: no tower, no stored vectors, or those of another dimension.
        """
        vectors = view.frame_vectors
        if self.calibrator is None or vectors is None or not len(vectors):
            return None
        return vectors if vectors.shape[1] == self.calibrator.background.shape[1] else None

    def z(self, texts: Sequence[str], view: VideoView) -> NDArray[np.float64] | None:
        """Standard scores of t texts against n frames, float64 (t, n), to 6 decimals.

        As `ImageScoreCalibrator.level_z`; None without texts, or where `vectors` is None.
        """
        vectors = self.vectors(view)
        if vectors is None or self.calibrator is None or not texts:
            return None
        return np.asarray(
            np.round(self.calibrator.level_z(self.calibrator.encode(texts), vectors), 6), np.float64
        )

    def relevance(self, texts: Sequence[str], view: VideoView) -> list[float] | None:
        """Relevance of each text to the frame that shows it best, in [0, 1]."""
        scores = self.z(texts, view)
        if scores is None:
            return None
        return [image_relevance(float(row.max())) for row in scores]

    def named(self, view: VideoView) -> str:
        """What all frames of a view show together, by the nearest wordings: `cooking, a knife`.

        Empty where nothing stands out.
        """
        return self._wordings(self.vectors(view))

    def named_each(self, view: VideoView) -> list[str]:
        """What each frame shows by itself; no item where nothing can be compared."""
        vectors = self.vectors(view)
        return [] if vectors is None else [self._wordings(row[None]) for row in vectors]

    def _wordings(self, vectors: NDArray[np.float32] | None) -> str:
        """Of frames (n, d): by the tower's own names, or by the mean of the best third of the scores of each
        wording."""
        if vectors is None or self.calibrator is None or self._tower is None:
            return ""
        if self._tower.names_images:
            return ", ".join(self._tower.looks_like(vectors))
        known = self._vocabulary
        names = [*known.scenes, *known.actions, *known.objects]
        z = np.sort(self.calibrator.level_z(self.calibrator.encode(names), vectors), axis=1)
        fits = np.round(z[:, -max(1, round(z.shape[1] * PART)) :].mean(axis=1), 6)
        best = np.argsort(-fits, kind="stable")[:MOST_NAMES]
        return ", ".join(names[at] for at in best if fits[at] >= IMAGE_MIDDLE)


MOST_LINES = 24
"""Lines that are worth a vector for one text; those that share most of its words."""


def lines(view: VideoView) -> list[Evidence]:
    """Spoken cues put together into sentences, all else unchanged; in time order, each once."""
    found = {replace(one, text=" ".join(one.text.split())) for one in view.texts if one.kind not in SPOKEN}
    for kind in SPOKEN:
        spoken = [one for one in view.texts if one.kind == kind]
        found |= {
            replace(spoken[0], start=start, end=end, text=text) for text, start, end in joined_cues(spoken)
        }
    return sorted(found, key=lambda line: (line.start, line.end, line.kind, line.text))


def rank_lines(text: str, view: VideoView, vectors: SentenceVectors) -> list[tuple[float, Evidence]]:
    """Lines with their relevance to `text`, best first; of equal ones the earlier."""
    wanted = content_words(text)
    held = lines(view)
    held.sort(key=lambda line: -lexical_overlap(wanted, word_set(line.text)))
    scores = relevances(text, [line.text for line in held[:MOST_LINES]], vectors)
    return sorted(
        zip(scores, held, strict=False), key=lambda one: (-one[0], one[1].start, one[1].end, one[1].text)
    )


def relevances(
    text: str,
    others: Sequence[str],
    vectors: SentenceVectors,
    stored: Mapping[str, NDArray[np.float32]] = MappingProxyType({}),
) -> list[float]:
    """Relevance of each of the others to `text`, in [0, 1] (`text_relevance`).

    `stored`: vectors float32 (dim,) that need not be encoded, by text.
    """
    rows = vectors.of([text, *others], stored)
    wanted = content_words(text)
    return [
        text_relevance(float(rows[text] @ rows[other]), lexical_overlap(wanted, word_set(other)))
        for other in others
    ]
