"""OCR of pages that are one gray level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpora.passages.page_layout import TextLine
from indexers.ocr import Ocr


class LevelOcr(Ocr):
    """Reads the gray level of a page into `seen`, and is interrupted at that of `stop_at`."""

    def __init__(self, seen: list[int], stop_at: int | None = None) -> None:
        super().__init__(None, "levels", 0.5, "on")
        self.seen = seen
        self.stop_at = stop_at

    def read_page(self, image: NDArray[np.uint8]) -> list[TextLine]:
        level = int(image[0, 0])
        if level == self.stop_at:
            raise KeyboardInterrupt
        self.seen.append(level)
        return [] if level == 255 else [TextLine(10, 10, 200, 26, f"This page has level {level}.")]
