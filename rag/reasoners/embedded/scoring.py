"""What vectors say: sentences by a text encoder, and stored frame vectors by words in the space of images."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from indexers.protocol import Vocabulary
from rag.relevance import IMAGE_MIDDLE, ImageScoreCalibrator, image_relevance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexers.protocol import TextEncoder, TextTower
    from rag.reasoners.roles.material import VideoView
    from rag.reasoners.roles.reading import Reading


class SentenceVectors:
    """Over one text encoder."""

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


EVERYDAY = Vocabulary(
    scenes=(
        *("a street", "a kitchen", "a living room", "an office", "a garden", "a workshop", "a shop"),
        *("a stage", "a stadium", "a forest", "a beach", "a mountain", "a road", "a classroom", "a studio"),
        *("a restaurant", "an airport", "a hospital", "a computer screen", "a slide with text"),
    ),
    actions=(
        *("talking to the camera", "walking", "running", "cooking", "eating", "driving", "dancing"),
        *("playing music", "playing a game", "reading", "writing", "drawing", "building something"),
        *("repairing something", "cleaning", "swimming", "climbing", "shaking hands", "an interview"),
    ),
    objects=(
        *("a man", "a woman", "a child", "a crowd", "a dog", "a cat", "a horse", "a bird", "a car"),
        *("a bicycle", "a train", "an aeroplane", "a boat", "a ball", "a phone", "a computer", "a book"),
        *("a cup", "a bottle", "a knife", "food on a plate", "a tree", "flowers", "a house", "a bridge"),
        *("a guitar", "a map", "a chart", "a clock", "a hat", "a bag", "a chair", "a table", "tools"),
    ),
)
"""What an encoder is asked to name that has no vocabulary of its own."""

SEEN = IMAGE_MIDDLE
"""Standard score from which words count as seen (relevance one half)."""
SCENE_SEEN = 1.0
"""Of scenes, of which some one must be the nearest."""
MAX_OBJECTS = 3
ONE_EVENT = 6
"""Frames up to which a view is taken to show one event."""
PART = 1 / 3
"""Of a view's frames, that a thing or an event must be seen in."""


def frames_of(reading: Reading) -> dict[int, NDArray[np.float32]]:
    """The stored frame vectors, float32 (m, d), of each window that has any, by its index."""
    vectors = ((index, window.frame_vectors) for index, window in enumerate(reading.windows))
    return {index: rows for index, rows in vectors if rows is not None and len(rows)}


@dataclass(frozen=True, slots=True)
class FrameLabels:
    """The nearest wordings of a stretch; empty where nothing stands out."""

    scene: str
    action: str
    objects: tuple[str, ...]

    def text(self) -> str:
        """`fixing objects in a garage: opens up something; a hammer, a book`."""
        parts = "; ".join(part for part in (self.action, ", ".join(self.objects)) if part)
        return ": ".join(part for part in (self.scene, parts) if part)


class ZeroShotScorer:
    """Over one tower; blind (every score None) without one, and for views without frame vectors."""

    def __init__(self, tower: TextTower | None) -> None:
        self.calibrator = ImageScoreCalibrator(tower) if tower is not None else None
        self._vocabulary: Vocabulary = (tower.vocabulary if tower is not None else None) or EVERYDAY

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
        """Of each text to the frame that shows it best, in [0, 1]."""
        scores = self.z(texts, view)
        if scores is None:
            return None
        return [image_relevance(float(row.max())) for row in scores]

    def above_vocabulary(self, texts: Sequence[str], view: VideoView) -> list[str]:
        """Those of the texts that fit some frame better than every wording of the encoder's own does.

        Words that no image can show, such as a spoken number, come near to any image of
        hands at work, but never nearer than what the hands do.
        """
        scores, known = self.z(texts, view), self._vocabulary
        if scores is None:
            return []
        others = self.z([*known.actions, *known.objects], view)
        if others is None:
            return list(texts)
        most = others.max(axis=0)
        return [text for text, row in zip(texts, scores, strict=True) if bool((row >= most).any())]

    def labels(self, view: VideoView) -> FrameLabels | None:
        """What all frames of a view show, taken together."""
        vectors = self.vectors(view)
        return None if vectors is None else self._labels(vectors)

    def labels_each(self, view: VideoView) -> list[FrameLabels] | None:
        """What each frame shows by itself."""
        vectors = self.vectors(view)
        return None if vectors is None else [self._labels(vectors[at : at + 1]) for at in range(len(vectors))]

    def _labels(self, vectors: NDArray[np.float32]) -> FrameLabels:
        known = self._vocabulary
        wordings = [f"A video that shows {scene}." for scene in known.scenes]
        scene = self._ranked(wordings, vectors, 1.0)
        brief = len(vectors) <= ONE_EVENT
        action = self._ranked(known.actions, vectors, 1.0 if brief else PART)
        objects = self._ranked(known.objects, vectors, PART)
        return FrameLabels(
            scene=known.scenes[scene[0][0]] if scene[0][1] >= SCENE_SEEN else "",
            action=known.actions[action[0][0]] if action[0][1] >= SEEN else "",
            objects=tuple(known.objects[at] for at, z in objects[:MAX_OBJECTS] if z >= SEEN),
        )

    def _ranked(
        self, texts: Sequence[str], vectors: NDArray[np.float32], share: float
    ) -> list[tuple[int, float]]:
        """(index, mean standard score over the best `share` of the frames), best first."""
        assert self.calibrator is not None
        z = np.sort(self.calibrator.level_z(self.calibrator.encode(texts), vectors), axis=1)
        strength = np.round(z[:, -max(1, round(z.shape[1] * share)) :].mean(axis=1), 6)
        order = sorted(range(len(texts)), key=lambda at: (-strength[at], at))
        return [(at, float(strength[at])) for at in order]
