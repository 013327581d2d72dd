"""Contact sheets: frames where they belong, files whole or absent."""

from __future__ import annotations

import numpy as np

from corpora.records import Evidence, Frames
from rag.rendering.contact_sheet import Sheet, contact_sheet, sheet_times

COLOURS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], np.uint8)


def _frames(count: int, height: int = 90, width: int = 160) -> Frames:
    images = np.zeros((count, height, width, 3), np.uint8)
    images[:] = COLOURS[np.arange(count) % 4, None, None]
    return Frames(np.array(sheet_times(10.0, 15.0, count) if count else []), images)


def test_every_frame_is_on_the_sheet_in_reading_order() -> None:
    pixels = np.asarray(contact_sheet(Sheet("A talk", "10-15 s", _frames(4))))
    assert pixels.shape[1:] == (1200, 3)
    centres = []
    for colour in COLOURS:
        rows, columns = np.nonzero((pixels == colour).all(axis=2))
        assert len(rows) > 10_000
        centres.append((float(np.median(rows)), float(np.median(columns))))
    first_row = [centres[0], centres[1], centres[2]]
    assert len({row for row, _ in first_row}) == 1
    assert sorted(column for _, column in first_row) == [column for _, column in first_row]
    assert centres[3][0] > centres[0][0]
    assert centres[3][1] == centres[0][1]


def test_a_recording_without_images_still_has_a_sheet() -> None:
    nothing = Frames(np.empty(0), np.empty((0, 0, 0, 3), np.uint8))
    sheet = contact_sheet(Sheet("t", "s", nothing, (Evidence("v", 1, 2, "asr", "words"),)))
    assert sheet.size[0] == 1200
    assert len(sheet.getcolors(100_000) or []) > 2
