"""Contact sheets: frames where they belong, true times, files whole or absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from corpora.records import Evidence, Frames
from rag.rendering.contact_sheet import Sheet, contact_sheet, save_png, sheet_times

COLOURS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], np.uint8)


def _frames(count: int, height: int = 90, width: int = 160) -> Frames:
    images = np.zeros((count, height, width, 3), np.uint8)
    images[:] = COLOURS[np.arange(count) % 4, None, None]
    return Frames(np.array(sheet_times(10.0, 15.0, count) if count else []), images)


def test_sheet_times_are_the_middles() -> None:
    assert sheet_times(10.0, 15.0, 5) == [10.5, 11.5, 12.5, 13.5, 14.5]
    for start, end, count in ((5.0, 5.0, 3), (0.0, 1.0, 0)):
        with pytest.raises(ValueError, match=r"no \d times"):
            sheet_times(start, end, count)


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


def test_tall_frames_stand_side_by_side() -> None:
    flat = contact_sheet(Sheet("t", "s", _frames(4, 90, 160)))
    tall = contact_sheet(Sheet("t", "s", _frames(4, 160, 90)))
    assert tall.height < 2 * flat.height
    red = (np.asarray(tall) == COLOURS[0]).all(axis=2)
    assert red.any(axis=1).sum() <= 420


def test_words_make_the_sheet_higher_but_not_endless() -> None:
    bare = contact_sheet(Sheet("t", "s", _frames(3)))
    one = contact_sheet(Sheet("t", "s", _frames(3), (Evidence("v", 11, 12, "ocr", "a word"),)))
    endless = Evidence("v", 11, 12, "asr", "x" * 100_000)
    long = contact_sheet(Sheet("t" * 5000, "s" * 5000, _frames(3), (endless,)))
    assert bare.height < one.height < long.height < bare.height + 400


def test_a_recording_without_images_still_has_a_sheet() -> None:
    nothing = Frames(np.empty(0), np.empty((0, 0, 0, 3), np.uint8))
    sheet = contact_sheet(Sheet("t", "s", nothing, (Evidence("v", 1, 2, "asr", "words"),)))
    assert sheet.size[0] == 1200
    assert len(sheet.getcolors(100_000) or []) > 2


def test_pixels_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="uint8"):
        contact_sheet(Sheet("t", "s", Frames(np.zeros(1), np.zeros((1, 4, 4, 3), np.float32))))  # type: ignore[arg-type]  # on purpose


def test_save_is_whole_or_absent(tmp_path: Path) -> None:
    target = tmp_path / "sheet.png"
    image = contact_sheet(Sheet("t", "s", _frames(2)))
    save_png(image, target)
    with Image.open(target) as back:
        assert back.size == image.size
    assert target.stat().st_mode & 0o444 == 0o444
    assert [entry.name for entry in tmp_path.iterdir()] == ["sheet.png"]
    with pytest.raises(OSError, match="No such file"):
        save_png(image, tmp_path / "missing" / "sheet.png")

    class Broken:
        def save(self, *_: object, **__: object) -> None:
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        save_png(Broken(), target)  # type: ignore[arg-type]  # an image that fails while it is written
    assert [entry.name for entry in tmp_path.iterdir()] == ["sheet.png"]
    with Image.open(target) as back:
        assert back.size == image.size
