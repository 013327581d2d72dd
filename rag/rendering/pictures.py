"""Frames as data URIs, for pages of HTML without other files."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORT_SIDE = 160
QUALITY = 72


def picture_address(image: NDArray[np.uint8], short_side: int = SHORT_SIDE) -> str:
    """A frame, uint8 (h, w, 3) RGB, as the `src` of an `img`: a JPEG whose short side has at most so many
    pixels, never enlarged."""
    from PIL import Image

    drawn = Image.fromarray(image)
    scale = short_side / min(drawn.size)
    if scale < 1:
        size = (max(1, round(drawn.width * scale)), max(1, round(drawn.height * scale)))
        drawn = drawn.resize(size, Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    drawn.save(buffer, "JPEG", quality=QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
