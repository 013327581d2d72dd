"""The visual style of images: live action, 2D, 3D or graphics, by prompts and by simple statistics.

The statistics tell how an image was made: a camera leaves grain, drawn and rendered images have
none; filmed and rendered surfaces shade slowly, drawn ones are of one colour; drawings have outlines,
and graphics dark ones. The prompts ask the image encoder, where it knows such words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from corpora.records import Style

if TYPE_CHECKING:
    from numpy.typing import NDArray

STYLES: tuple[Style, ...] = ("live", "2d", "3d", "graphics")
STATISTICS = ("grain", "texture", "shading", "outlines", "dark outlines", "even")
PROMPTS: dict[Style, tuple[str, ...]] = {
    "live": ("a photo taken with a camera", "a frame of live action footage of real people and things"),
    "2d": ("a frame of a hand drawn 2D cartoon", "a flat 2D animation with outlines"),
    "3d": ("a 3D computer rendering", "a frame of a 3D animated film or video game"),
    "graphics": ("motion graphics with text and icons", "a diagram, chart or slide"),
}
PROMPT_SCALE = 50.0
"""Turns a difference of cosines into one of log-likelihoods; half of what CLIP itself was trained with."""
FLAT_RANGE = 3.0
"""L* units within 5 by 5 pixels: below it a place has no detail."""
WEIGHTS = np.array(
    [
        [0.93, 0.41, 0.16, -2.54, 0.82, -4.98],
        [-0.61, -0.76, -0.44, -3.98, -4.06, 1.04],
        [-0.01, 0.30, 0.65, -5.36, -0.13, 3.63],
        [-0.31, 0.04, -0.37, 11.87, 3.37, 0.31],
    ]
)
"""(style, statistic): logistic regression on videos of the Workbench's development split."""
BIAS = np.array([5.56, -2.24, 1.50, -4.82])


class WordTower(Protocol):
    """What encodes the prompts: the words' half of an image encoder."""

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows (n, dim) float32, one per text."""


class StylePrompts:
    """The prompts in the space of one encoder, encoded at their first use."""

    def __init__(self, tower: WordTower) -> None:
        self._tower = tower
        self._rows: NDArray[np.float64] | None = None

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 (4,): log-likelihood of each of `STYLES`, of the mean of unit rows `vectors` (n, dim)."""
        if self._rows is None:
            rows = [self._tower.encode_text(list(PROMPTS[style])).mean(axis=0) for style in STYLES]
            self._rows = np.stack(rows).astype(np.float64)
        mean = vectors.astype(np.float64).mean(axis=0)
        raw = PROMPT_SCALE * (self._rows @ mean)
        raw -= raw.max()
        return np.asarray(raw - np.log(np.exp(raw).sum()), np.float64)


def image_statistics(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """float32 (6,), in the order of `STATISTICS`, of one image uint8 (h, w, 3) RGB of about 224 pixels.

    grain: log of the mean deviation from the blurred image where there is no detail. texture: log of the
    median local deviation. shading: log of the median change over 8 pixels where there is no detail.
    outlines: share of thin lines darker than both sides among all places with detail. dark outlines: share
    of nearly black ones among these. even: share of places without any change.
    """
    import cv2

    light = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[..., 0].astype(np.float32) * (100 / 255)
    square = np.ones((5, 5), np.uint8)
    span = cv2.dilate(light, square) - cv2.erode(light, square)
    flat = span < FLAT_RANGE
    mean = cv2.blur(light, (5, 5))
    local = np.sqrt(np.maximum(cv2.blur(light * light, (5, 5)) - mean * mean, 0))
    rest = np.abs(light - cv2.GaussianBlur(light, (0, 0), 1.0))
    slow = cv2.GaussianBlur(light, (0, 0), 3.0)
    step = np.abs(slow[:, 8:] - slow[:, :-8])
    calm = flat[:, 8:] & flat[:, :-8] & flat[:, 4:-4]
    thin = cv2.morphologyEx(light, cv2.MORPH_CLOSE, square) - light > 15
    detail = max(1, int((span > 20).sum()))
    return np.array(
        [
            np.log(0.01 + (float(rest[flat].mean()) if flat.any() else 1.0)),
            np.log(0.05 + float(np.median(local))),
            np.log(0.01 + (float(np.median(step[calm])) if calm.any() else 1.0)),
            min(1.0, float(thin.sum()) / detail),
            float((thin & (light < 20)).sum()) / max(1, int(thin.sum())),
            float((span < 1.2).mean()),
        ],
        np.float32,
    )


def style_of(statistics: NDArray[np.floating[Any]], prompts: NDArray[np.float64] | None) -> Style:
    """The likeliest style. `statistics`: the mean of `image_statistics` over a shot's frames, float (6,).

    `prompts`: float64 (4,), as `StylePrompts.scores` returns; None for an encoder that knows no such words.
    """
    raw = WEIGHTS @ np.asarray(statistics, np.float64) + BIAS
    raw -= raw.max()
    scores = raw - np.log(np.exp(raw).sum())
    if prompts is not None:
        scores = scores + prompts
    return STYLES[int(scores.round(6).argmax())]
