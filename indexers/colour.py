"""Colour and light of images in CIELAB: tone, saturation, brightness, contrast, sharpness.

The tone is that of the light, not of the things in it: a green garden under white light is neutral.
The light is estimated twice and the two estimates are averaged, since each errs elsewhere: by shades
of gray (the Minkowski norm p = 6 of a channel; Finlayson and Trezzi, CIC 2004) and by the white patch
(here the 99th percentile of a channel; Land and McCann 1971). `warmth` is b* of that light, brought to
L* = 76: above 0 towards yellow, below 0 towards blue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Tone

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT_SIDE = 56
"""Colours are measured on images this small: noise and block edges average out."""
MINKOWSKI = 6
WHITE_PERCENTILE = 99.0
LIGHT_LUMINANCE = 0.5
"""The luminance Y that every estimated light is brought to, L* = 76."""
WARM_ABOVE = 14.0
COLD_BELOW = -5.5
"""b* of the light: tuned on Workbench videos of the development split (docs/design/measurements.md)."""


@dataclass(frozen=True, slots=True)
class ColourFigures:
    """Of one image, in CIELAB units."""

    warmth: float
    saturation: float
    """Mean chroma, the distance from gray."""
    brightness: float
    """Mean L* in [0, 100]."""
    contrast: float
    """Standard deviation of L*."""
    sharpness: float
    """Mean absolute Laplacian of L*, on the image as it was sampled."""


def colour_figures(image: NDArray[np.uint8]) -> ColourFigures:
    """Measure one image, uint8 (h, w, 3) RGB."""
    import cv2

    height, width = image.shape[:2]
    shrink = SHORT_SIDE / max(1, min(height, width))
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if shrink < 1 else image
    lab = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    lightness = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[..., 0].astype(np.float32) * (100 / 255)
    edges = cv2.Laplacian(lightness, cv2.CV_32F)
    return ColourFigures(
        warmth=_warmth(small),
        saturation=float(np.hypot(lab[..., 1], lab[..., 2]).mean()),
        brightness=float(lab[..., 0].mean()),
        contrast=float(lab[..., 0].std()),
        sharpness=float(np.abs(edges).mean()),
    )


def tone_of(warmth: float) -> Tone:
    """The class of a `warmth`."""
    if warmth > WARM_ABOVE:
        return "warm"
    return "cold" if warmth < COLD_BELOW else "neutral"


def _warmth(image: NDArray[np.uint8]) -> float:
    import cv2

    pixels = image.reshape(-1, 3).astype(np.float64) + 1
    gray = (pixels**MINKOWSKI).mean(axis=0) ** (1 / MINKOWSKI)
    white = np.percentile(pixels, WHITE_PERCENTILE, axis=0)
    light = np.sqrt(gray * white) / 256
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
    levelled = (linear * (LIGHT_LUMINANCE / max(luminance, 1e-6))).astype(np.float32)
    lab = cv2.cvtColor(levelled.reshape(1, 1, 3), cv2.COLOR_LRGB2LAB)
    return float(lab[0, 0, 2])
