"""The curves of relevance, and the calibrated scores of images."""

from __future__ import annotations

import numpy as np

from rag.relevance import ImageScoreCalibrator, answer_confidence, chunk_relevance, text_relevance
from tests.fakes.answer_world import ImageWords


def test_curves_rise_and_stay_in_bounds() -> None:
    steps = np.linspace(-1, 1, 41)
    for curve in (
        [text_relevance(float(c), 0.0) for c in steps],
        [answer_confidence(float(c), 0.0) for c in steps],
        [chunk_relevance(float(c), 0.5, 3) for c in steps],
        [chunk_relevance(0.2, (float(o) + 1) / 2, 3) for o in steps],
    ):
        assert curve == sorted(curve)
        assert curve[0] >= 0.0
        assert curve[-1] <= 1.0
    assert text_relevance(0.2, 0.0) < 0.05
    assert text_relevance(0.65, 0.3) > 0.9
    assert answer_confidence(0.5, 0.5) < 0.5 < text_relevance(0.5, 0.5)


def test_an_image_is_relevant_to_what_it_shows_only() -> None:
    tower = ImageWords()
    scale = ImageScoreCalibrator(tower)
    image = tower.image(["drill"], "seed")
    shown, other = tower.encode_text(["A video that shows a drill.", "A video that shows a kettle."])
    assert scale.relevance(shown, image) > 0.9
    assert scale.relevance(other, image) < 0.3
