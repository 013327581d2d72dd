"""Images into a model's input, as its own image processor would: resize, crop, scale, shift.

Frames come scaled by the decoder, so most need no resizing; then a whole batch
is cut and normalised at once. Where resizing is needed Pillow does it, image
by image, because its antialiased bicubic is what the models were fed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.errors import WeightsInvalid
from indexers.tensors import read_json

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
BICUBIC = 3
LONGEST = 8
"""Times its short side: what an image has beyond this is cut off before it is resized, where the crop leaves
none of it. Of 2 x 4000 pixels no 292 x 584,000 are made."""


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """`shortest` keeps the aspect and scales the short side; `exact` squashes to (height, width)."""

    mean: tuple[float, ...] = CLIP_MEAN
    std: tuple[float, ...] = CLIP_STD
    shortest: int | None = None
    exact: tuple[int, int] | None = None
    crop: tuple[int, int] | None = None
    """(height, width) cut from the middle, padded with black where the image is smaller."""
    round_crop: bool = False
    """Where the middle falls between pixels: torchvision rounds (True), transformers goes down (False)."""
    resample: int = BICUBIC
    """Pillow's number of the filter."""

    @property
    def short_side(self) -> int:
        """Short side of an image, in pixels, below which it is enlarged or padded; 0 where it never is."""
        return max(self.exact) if self.exact is not None else self.shortest or max(self.crop or (0,))

    def facts(self) -> dict[str, Any]:
        """The fields as plain values, for a fingerprint."""
        return asdict(self)

    def __call__(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """uint8 (n, h, w, 3) into float32 (n, 3, height, width)."""
        if self.crop is not None:
            most = LONGEST * min(images.shape[1:3])
            images = _middle(images, (most, most), self.round_crop)
        images = self._resize(images)
        if self.crop is not None:
            images = _crop(images, self.crop, self.round_crop)
        # x / 255, minus mean, by std, in one multiplication and one addition.
        scale = (1 / (255 * np.asarray(self.std))).astype(np.float32)
        shift = (-np.asarray(self.mean) / np.asarray(self.std)).astype(np.float32)
        planes = np.ascontiguousarray(images.transpose(0, 3, 1, 2)).astype(np.float32)
        planes *= scale[:, None, None]
        planes += shift[:, None, None]
        return planes

    def _resize(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        height, width = images.shape[1:3]
        target = self._target(height, width)
        if target == (height, width):
            return images
        from PIL import Image

        size, resample = (target[1], target[0]), Image.Resampling(self.resample)
        resized = np.empty((len(images), *target, 3), np.uint8)
        for place, image in enumerate(images):
            resized[place] = np.asarray(Image.fromarray(image).resize(size, resample=resample))
        return resized

    def _target(self, height: int, width: int) -> tuple[int, int]:
        if self.exact is not None:
            return self.exact
        if self.shortest is None:
            return height, width
        if height <= width:
            return self.shortest, int(self.shortest * width / height)
        return int(self.shortest * height / width), self.shortest


def read_preprocessing(folder: Path) -> Preprocessing:
    """Read `preprocessor_config.json` (or the image part of `processor_config.json`).

    Raises `WeightsInvalid` where there is neither, or a step that is not here.
    """
    config = _written(folder)
    if not config.get("do_rescale", True) or not config.get("do_normalize", True):
        raise WeightsInvalid(f"{folder}: its image processor does not rescale and normalise to floats")
    if abs(config.get("rescale_factor", 1 / 255) - 1 / 255) > 1e-9:
        raise WeightsInvalid(
            f"{folder}: its image processor rescales by {config['rescale_factor']}, not 1/255"
        )
    size = config.get("size") if config.get("do_resize", True) else None
    crop = config.get("crop_size") if config.get("do_center_crop", False) else None
    squash = isinstance(size, Mapping) and "height" in size
    return Preprocessing(
        mean=tuple(config.get("image_mean", CLIP_MEAN)),
        std=tuple(config.get("image_std", CLIP_STD)),
        shortest=None if squash or size is None else _side(size),
        exact=_pair(size) if squash else None,
        crop=None if crop is None else _pair(crop),
        resample=int(config.get("resample", BICUBIC)),
    )


def _written(folder: Path) -> dict[str, Any]:
    path = folder / "preprocessor_config.json"
    if not path.is_file() and (folder / "processor_config.json").is_file():
        config = read_json(folder / "processor_config.json").get("image_processor")
        if isinstance(config, dict):
            return config
    return read_json(path)


def _side(size: Any) -> int:
    # Before transformers 4.22 a plain number was the shortest edge.
    return int(size["shortest_edge"]) if isinstance(size, Mapping) else int(size)


def _pair(size: Any) -> tuple[int, int]:
    return (int(size["height"]), int(size["width"])) if isinstance(size, Mapping) else (int(size), int(size))


def _crop(images: NDArray[np.uint8], crop: tuple[int, int], rounded: bool) -> NDArray[np.uint8]:
    missing = [max(0, side - have) for side, have in zip(crop, images.shape[1:3], strict=True)]
    if any(missing):
        # The larger half goes on top and left, as in transformers' center_crop.
        edges = [((gap + 1) // 2, gap // 2) for gap in missing]
        images = np.pad(images, ((0, 0), *edges, (0, 0)))
    return _middle(images, crop, rounded)


def _middle(images: NDArray[np.uint8], most: tuple[int, int], rounded: bool) -> NDArray[np.uint8]:
    """No more than `most`, (height, width), of the middle."""
    gaps = [max(0, have - side) for side, have in zip(most, images.shape[1:3], strict=True)]
    top, left = (round(gap / 2) if rounded else gap // 2 for gap in gaps)
    return images[:, top : top + most[0], left : left + most[1]]
