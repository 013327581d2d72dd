"""Which windows show the scene that a question names: what is said elsewhere says nothing about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.reasoners.embedded.rewriting import parts
from rag.relevance.image_relevance import MIDDLE

if TYPE_CHECKING:
    from rag.reasoners.roles import Reading
    from rag.relevance import ImageScoreCalibrator

SHARE = 0.6
"""Of the best window's standard score that a window must reach to show the same scene."""


def windows_in_scene(reading: Reading, scale: ImageScoreCalibrator | None) -> frozenset[int] | None:
    """Indices of the windows whose frames show the scene of "In a clip that shows SCENE, ...".

    None where it cannot be told: the question names no scene, no frame is known, or no window shows it
    (mean standard score of its frames below 2.5, relevance one half).
    """
    scene = parts(reading.question.text).scene
    if not scene or scale is None:
        return None
    rows = scale.encode([f"A video that shows {scene}."])
    fits = {
        index: round(float(scale.level_z(rows, window.frame_vectors).mean()), 6)
        for index, window in enumerate(reading.windows)
        if window.frame_vectors is not None and len(window.frame_vectors)
    }
    best = max(fits.values(), default=0.0)
    if best < MIDDLE:
        return None
    return frozenset(index for index, fit in fits.items() if fit >= SHARE * best)
