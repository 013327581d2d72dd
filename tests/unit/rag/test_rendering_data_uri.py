"""Frames inside a page: of the size that was asked for, and never made larger."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from rag.rendering.contact_sheet import image_data_uri


@pytest.mark.parametrize(
    ("height", "width", "size"),
    [(360, 640, (284, 160)), (640, 360, (160, 284)), (90, 120, (120, 90)), (2, 900, (900, 2))],
)
def test_the_short_side_is_bounded_either_way_up(height: int, width: int, size: tuple[int, int]) -> None:
    image = np.full((height, width, 3), (200, 30, 30), np.uint8)
    head, _, coded = image_data_uri(image).partition(",")
    assert head == "data:image/jpeg;base64"
    decoded = Image.open(io.BytesIO(base64.b64decode(coded)))
    assert decoded.size == size
    red, green, blue = decoded.getpixel((0, 0))
    assert red > 150 > 80 > max(green, blue)
