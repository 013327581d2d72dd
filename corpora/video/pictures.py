"""From a decoded frame to a small upright RGB image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def scaled_size(width: int, height: int, short_side: int) -> tuple[int, int]:
    """(width, height) with the short side at `short_side`: even, at least 2, never larger than the source."""
    scale = min(1.0, short_side / min(width, height))

    def side(pixels: int) -> int:
        even = round(pixels * scale / 2) * 2 if scale < 1 else pixels // 2 * 2
        return max(2, min(even, pixels // 2 * 2))

    return side(width), side(height)


class FrameRenderer:
    """Scales and turns frames; keeps libswscale's tables from frame to frame.

    Scaling is bilinear, whose support libswscale widens when it shrinks, so that it does not alias.
    """

    def __init__(self) -> None:
        from av.video.reformatter import VideoReformatter

        self._scalers: dict[int, Any] = {}
        self._new_scaler = VideoReformatter

    def paint(self, frame: Any, short_side: int, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """uint8 (height, width, 3) RGB, upright, of `scaled_size`, or of the upright `size` where given."""
        turns = round(frame.rotation / 90) % 4
        if size is None:
            width, height = scaled_size(frame.width, frame.height, short_side)
        else:
            width, height = size if turns % 2 == 0 else size[::-1]
        scaler = self._scalers.setdefault(short_side, None) or self._new_scaler()
        self._scalers[short_side] = scaler
        # One thread: the image is small, and threads cost more than they give.
        small = scaler.reformat(
            frame, width=width, height=height, format="rgb24", interpolation="BILINEAR", threads=1
        )
        image = np.asarray(small.to_ndarray(), np.uint8)
        # Turning the small image costs a thousandth of turning the large one.
        return np.ascontiguousarray(np.rot90(image, turns)) if turns else image
