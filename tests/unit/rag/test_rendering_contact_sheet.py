"""Contact sheets: frames where they belong, files whole or absent, and fonts that have the characters."""

from pathlib import Path

import numpy as np
import pytest

from corpora.records import Evidence, Frames
from rag.rendering.contact_sheet import contact_sheet, sheet_times
from rag.rendering.fonts import drawable, font_for

COLOURS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], np.uint8)


def _frames(count: int, height: int = 90, width: int = 160) -> Frames:
    images = np.zeros((count, height, width, 3), np.uint8)
    images[:] = COLOURS[np.arange(count) % 4, None, None]
    return Frames(np.array(sheet_times(10.0, 15.0, count) if count else []), images)


def test_every_frame_is_on_the_sheet_in_reading_order() -> None:
    pixels = np.asarray(contact_sheet("A talk", "10-15 s", _frames(4)))
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


def test_of_a_recording_without_images_what_was_read_stands_beside_its_source() -> None:
    nothing = Frames(np.empty(0), np.empty((0, 0, 0, 3), np.uint8))
    sheet = np.asarray(contact_sheet("", "", nothing, (Evidence("v", 6, 9, "asr", "words"),)))
    label, words = (
        np.nonzero((sheet == colour).all(axis=2))[1] for colour in ((255, 190, 92), (240, 241, 243))
    )
    assert (sheet.shape[1], label.max() < words.min()) == (1200, True)


CHINESE = "\u5149\u5b66"


@pytest.fixture
def fonts(tmp_path, monkeypatch) -> Path:
    """The only folder with fonts."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "fonts" / "below"
    folder.mkdir(parents=True)
    return folder


def write_font(path: Path, characters: str) -> None:
    """A font with these characters, each as a bar of its own length."""
    font_builder = pytest.importorskip("fontTools.fontBuilder")
    pens = pytest.importorskip("fontTools.pens.ttGlyphPen")

    def bar(length: int) -> object:
        pen = pens.TTGlyphPen(None)
        pen.moveTo((50, 0))
        for point in ((50, 700), (50 + length, 700), (50 + length, 0)):
            pen.lineTo(point)
        pen.closePath()
        return pen.glyph()

    names = [".notdef", *(f"u{ord(char):04X}" for char in characters)]
    builder = font_builder.FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(char): name for char, name in zip(characters, names[1:], strict=True)})
    builder.setupGlyf({name: bar(100 + 150 * place) for place, name in enumerate(names)})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 50)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


def test_an_installed_font_with_the_characters_is_taken(fonts: Path) -> None:
    write_font(fonts / "DejaVuSans.ttf", "ab")
    write_font(fonts / "Aa.ttf", CHINESE[0])
    write_font(fonts / "Zz.otf", CHINESE)
    (fonts / "Broken.ttf").write_bytes(b"no font")
    assert drawable(CHINESE, font_for(CHINESE, 20)) == CHINESE
    assert Path(font_for(CHINESE, 20).path).name == "Zz.otf"
    assert Path(font_for("a", 30, bold=True).path).name == "DejaVuSans.ttf"


def test_characters_that_no_font_has_are_named(fonts: Path) -> None:
    write_font(fonts / "DejaVuSans.ttf", "ab")
    write_font(fonts / "LastResort.otf", CHINESE)
    font = font_for(f"a {CHINESE}", 20)
    assert drawable(f"a {CHINESE} \u0915b {CHINESE}\u3002 b \u263a", font) == (
        "a [no font: CJK, DEVANAGARI] b [no font: symbols]"
    )
    assert drawable("a b\u00a0b\u0301", font) == "a b\u00a0b\u0301"
