"""Which pages of a PDF are scans, and how they look."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
)

from corpora.passages.page_layout import RecognizedPage, ScannedPage
from corpora.passages.pdf import LONG_SIDE, scanned_pages
from tests.fakes.documents import add_rendered_page, image_object, self_drawing_pdf, write_pdf, write_scans

SIZE = (300, 400)


def marked() -> Image.Image:
    """Black in the upper left quarter, gray in the upper right one."""
    image = Image.new("L", SIZE, 255)
    image.paste(0, (0, 0, 150, 200))
    image.paste(128, (150, 0, 300, 200))
    return image


def pages_of(path: Path) -> list[ScannedPage | RecognizedPage]:
    return list(scanned_pages(str(path)))


def image_of(path: Path) -> NDArray[np.uint8]:
    (page,) = pages_of(path)
    assert isinstance(page, ScannedPage)
    return page.image


def quarters(image: NDArray[np.uint8]) -> list[int]:
    """Levels in the middle of the quarters, by rows."""
    high, wide = image.shape
    return [int(image[high * row // 4, wide * column // 4]) for row in (1, 3) for column in (1, 3)]


def is_near(found: list[int], wanted: list[int]) -> bool:
    return all(abs(one - other) <= 3 for one, other in zip(found, wanted, strict=True))


def write_rendered(path: Path, image: DecodedStreamObject, content: str = "300 0 0 400 0 0 cm /I Do") -> Path:
    writer = PdfWriter()
    add_rendered_page(writer, {"/I": image}, content, SIZE)
    writer.write(path)
    return path


@pytest.mark.parametrize("mode", ["L", "RGB", "1"])
def test_a_scan_as_pillow_writes_it(tmp_path: Path, mode: str) -> None:
    image = marked() if mode != "1" else marked().point(lambda level: 255 * (level > 0))
    found = image_of(write_scans(tmp_path / "a.pdf", [image.convert(mode)]))
    assert found.dtype == np.uint8
    assert found.shape == (LONG_SIDE, LONG_SIDE * 3 // 4)
    assert is_near(quarters(found), [0, 128 if mode != "1" else 255, 255, 255])


def test_strips_make_one_image(tmp_path: Path) -> None:
    whole = marked()
    strips = {f"/S{at}": image_object(whole.crop((0, 100 * at, 300, 100 * at + 100))) for at in range(4)}
    content = " ".join(f"q 300 0 0 100 0 {300 - 100 * at} cm /S{at} Do Q" for at in range(4))
    writer = PdfWriter()
    add_rendered_page(writer, strips, content, SIZE)
    writer.write(tmp_path / "a.pdf")
    assert is_near(quarters(image_of(tmp_path / "a.pdf")), [0, 128, 255, 255])


def test_an_image_in_a_form_and_the_part_that_is_shown(tmp_path: Path) -> None:
    writer = PdfWriter()
    form = DecodedStreamObject()
    form.set_data(b"300 0 0 400 0 0 cm /I Do")
    held = DictionaryObject({NameObject("/I"): writer._add_object(image_object(marked()))})
    form[NameObject("/Subtype")] = NameObject("/Form")
    form[NameObject("/Matrix")] = ArrayObject([FloatObject(number) for number in (1, 0, 0, 1, 50, 0)])
    form[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): held})
    page = add_rendered_page(writer, {"/F": form}, "1 0 0 1 50 100 cm /F Do", (500, 600))
    page.cropbox.lower_left, page.cropbox.upper_right = (100, 100), (400, 500)
    writer.write(tmp_path / "a.pdf")
    assert is_near(quarters(image_of(tmp_path / "a.pdf")), [0, 128, 255, 255])


def test_pages_with_text_and_pages_with_a_small_image_are_no_scans(tmp_path: Path) -> None:
    path = write_scans(tmp_path / "a.pdf", ["Text.", marked(), ""])
    assert [page.number for page in pages_of(path)] == [2]
    assert [page.pages for page in pages_of(path) if isinstance(page, ScannedPage)] == [3]
    small = write_rendered(tmp_path / "b.pdf", image_object(marked()), "100 0 0 100 0 0 cm /I Do")
    assert pages_of(small) == []


def test_a_scan_with_a_text_layer_is_none(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=write_scans(tmp_path / "a.pdf", [marked()]))
    writer.pages[0].merge_page(PdfReader(write_pdf(tmp_path / "b.pdf", ["Text."])).pages[0])
    writer.write(tmp_path / "c.pdf")
    assert pages_of(tmp_path / "c.pdf") == []


def test_what_cannot_be_decoded_says_why(tmp_path: Path) -> None:
    large = image_object(marked())
    large[NameObject("/Width")] = large[NameObject("/Height")] = NumberObject(60_000)
    path = write_rendered(tmp_path / "a.pdf", large)
    assert pages_of(path) == [RecognizedPage(1, (), "an image of more than 100 megapixels")]
    broken = image_object(marked(), "/DCTDecode")
    broken.set_data(b"no JPEG")
    path = write_rendered(tmp_path / "b.pdf", broken)
    assert pages_of(path) == [RecognizedPage(1, (), "an image that cannot be decoded")]
    blank = image_object(Image.new("L", SIZE, 255))
    (page,) = pages_of(write_rendered(tmp_path / "c.pdf", blank))
    assert isinstance(page, ScannedPage)


def test_a_form_that_draws_itself_ends(tmp_path: Path) -> None:
    self_drawing_pdf(tmp_path / "a.pdf", 1)
    assert pages_of(tmp_path / "a.pdf") == []
