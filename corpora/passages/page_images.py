"""Scanned pages of PDF files as gray images: pages without text that images cover."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.formats import DocumentFormat
from corpora.passages.pdf import open_pdf, quiet, read
from corpora.passages.scanned_text import RecognizedPage, ScannedPage

LONG_SIDE = 2000
"""Pixels of a page's long side: A4 at 170 dpi, on which letters of 7 points are 11 pixels high."""
COVERED = 0.5
"""Least share of a page that its images cover, for it to be a scan."""
MOST_PIXELS = 100_000_000
"""Of an image of a page: A4 at 1,000 dpi. What has more is not decoded."""
MOST_RENDERED = 300_000_000
"""Pixels of all images of a page, decoded and rendered: three layers of A4 at 1,000 dpi."""
FORMATS = {"/DCTDecode": "JPEG", "/JPXDecode": "JPEG2000"}
"""Of Pillow, by the filter of a PDF."""
MOST_IMAGES = 1000
"""Of a page, with forms; scanners write some in strips."""
MOST_NESTED = 8
"""Forms within forms."""

_UNIT_SQUARE = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
"""Its corners."""


class _UnreadImage(Exception):
    """Why an image of a page cannot be decoded."""


@dataclass(frozen=True, slots=True)
class _Placed:
    image: Any
    matrix: NDArray[np.float64]
    """(3, 3), from the unit square of the image, y up, to the page."""


@dataclass(frozen=True, slots=True)
class _Box:
    """What is shown of a page, in its points, y up."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom


def scanned_pages(path: str, beat: Callable[[], None]) -> Iterator[ScannedPage | RecognizedPage]:
    """The scanned pages of a PDF file in order, one in memory at a time.

    A page whose image cannot be decoded is a `RecognizedPage` that says why. Pages that are broken in
    another way are left to `corpora.passages.pdf.read`. Raises as that does.
    """
    with quiet():
        reader = open_pdf(path)
        pages = 0
        with suppress(Exception):  # a broken list of pages, which is reported when texts are read
            pages = len(reader.pages)
        for number in range(1, pages + 1):
            beat()
            placed: list[_Placed] = []
            try:
                page = reader.pages[number - 1]
                placed = _scan(page)
                if not placed:
                    continue
                yield ScannedPage(number, pages, _rendered(page, placed, beat))
            except _UnreadImage as reason:
                yield RecognizedPage(number, (), str(reason))
            except MemoryError:
                raise
            except Exception:  # broken files make pypdf raise nearly anything
                if placed:
                    yield RecognizedPage(number, (), "an image that cannot be decoded")


def _scan(page: Any) -> list[_Placed]:
    """The images that cover a page without text; none of another page."""
    if "/XObject" not in _entry(page, "/Resources"):
        return []
    found = list(_images(page, page.get_contents(), np.eye(3), 0, count()))
    box = _box(page)
    covered = sum(_covered(each.matrix, box) for each in found)
    if covered < COVERED * box.width * box.height or (page.extract_text() or "").strip():
        return []
    return found


def _entry(holder: Any, name: str) -> Any:
    """A dictionary within another one; an empty one where there is none."""
    found = holder.get(name)
    found = found.get_object() if found is not None else None
    return found if isinstance(found, dict) else {}


def _box(page: Any) -> _Box:
    box = page.cropbox
    left, right = sorted((float(box.left), float(box.right)))
    bottom, top = sorted((float(box.bottom), float(box.top)))
    return _Box(left, bottom, max(right, left + 1), max(top, bottom + 1))


def _images(
    holder: Any, content: Any, matrix: NDArray[np.float64], depth: int, placings: Iterator[int]
) -> Iterator[_Placed]:
    """The images that a page or form shows, in the order of drawing; `placings` counts them and forms."""
    from pypdf.generic import ContentStream

    objects = _entry(_entry(holder, "/Resources"), "/XObject")
    saved: list[NDArray[np.float64]] = []
    for operands, operator in content.operations if content is not None else ():
        if operator == b"q":
            saved.append(matrix)
        elif operator == b"Q" and saved:
            matrix = saved.pop()
        elif operator == b"cm":
            matrix = matrix @ _matrix(operands)
        elif operator == b"Do" and operands and operands[0] in objects:
            if next(placings) >= MOST_IMAGES:
                return
            found = objects[operands[0]].get_object()
            if found.get("/Subtype") == "/Image":
                yield _Placed(found, matrix)
            elif found.get("/Subtype") == "/Form" and depth < MOST_NESTED:
                own = matrix @ _matrix(found["/Matrix"]) if "/Matrix" in found else matrix
                yield from _images(found, ContentStream(found, None), own, depth + 1, placings)


def _matrix(numbers: Any) -> NDArray[np.float64]:
    a, b, c, d, e, f = (float(number) for number in numbers)
    return np.array([[a, c, e], [b, d, f], [0, 0, 1]])


def _covered(matrix: NDArray[np.float64], box: _Box) -> float:
    """The area of the page that the upright box around an image covers."""
    corners = matrix @ _UNIT_SQUARE
    (left, right), (bottom, top) = ((own.min(), own.max()) for own in corners[:2])
    wide = min(right, box.right) - max(left, box.left)
    high = min(top, box.top) - max(bottom, box.bottom)
    return float(max(0.0, wide) * max(0.0, high))


def _rendered(page: Any, placed: list[_Placed], beat: Callable[[], None]) -> NDArray[np.uint8]:
    """The images of a page on white, uint8 (h, w), upright.

    Where they overlap the darker one is seen: strokes over a background.
    """
    from PIL import Image, ImageChops

    box = _box(page)
    scale = LONG_SIDE / max(box.width, box.height)
    size = max(1, round(box.width * scale)), max(1, round(box.height * scale))
    canvas, budget = Image.new("L", size, 255), MOST_RENDERED
    to_canvas = np.array([[scale, 0, -box.left * scale], [0, -scale, box.top * scale], [0, 0, 1]])
    for each in placed:
        beat()
        place = to_canvas @ each.matrix
        touched = _pixels_under(place, size)
        if touched is None:
            continue
        left, top, right, bottom = touched
        budget -= (right - left) * (bottom - top)
        if budget < 0:
            raise _UnreadImage(f"images of more than {MOST_RENDERED // 10**6} megapixels together")
        wide, high = (max(1, math.ceil(math.hypot(*place[:2, at]))) for at in (0, 1))
        image = _shown(each.image, (wide, high))
        budget -= image.width * image.height
        # First to the size that it has on the page, then to its place.
        image = image.resize((min(image.width, wide), min(image.height, high)), Image.Resampling.BOX)
        from_pixels = place @ np.array([[1 / image.width, 0, 0], [0, -1 / image.height, 1], [0, 0, 1]])
        try:
            inverse = np.linalg.inv(from_pixels) @ np.array([[1, 0, left], [0, 1, top], [0, 0, 1]])
        except np.linalg.LinAlgError:
            continue
        data = tuple(float(number) for number in inverse[:2].ravel())
        own_size, how = (right - left, bottom - top), Image.Resampling.BICUBIC
        own = image.transform(own_size, Image.Transform.AFFINE, data, resample=how, fillcolor=255)
        canvas.paste(ImageChops.darker(canvas.crop(touched), own), touched)
    turned = round(float(page.rotation or 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(np.asarray(canvas, np.uint8), -turned))


def _pixels_under(place: NDArray[np.float64], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of the pixels of a canvas that an image touches; None without any."""
    corners = (place @ _UNIT_SQUARE)[:2]
    edges = np.clip([*(corners.min(axis=1) - 1), *(corners.max(axis=1) + 2)], 0, [*size, *size])
    left, top, right, bottom = (int(edge) for edge in edges)
    return (left, top, right, bottom) if left < right and top < bottom else None


def _shown(found: Any, size: tuple[int, int]) -> Any:
    """The image in levels of gray, white where its stencil, which pypdf does not apply, leaves it out.

    `size`: as of `_decoded`, which see for what is raised.
    """
    from PIL import Image, ImageChops

    image, stencil = _gray(_decoded(found, size)), _entry(found, "/Mask")
    if not stencil:
        return image
    mask = _gray(_decoded(stencil, size))
    larger = max(image.size, mask.size, key=math.prod)
    return ImageChops.lighter(*(layer.resize(larger, Image.Resampling.NEAREST) for layer in (image, mask)))


def _decoded(found: Any, size: tuple[int, int]) -> Any:
    """The image as Pillow has it, a JPEG no larger than is needed for `size`. Raises `_UnreadImage`."""
    from PIL import Image

    filters = found.get("/Filter", ())
    last = filters[-1] if isinstance(filters, list | tuple) and filters else filters
    if last == "/JBIG2Decode":
        raise _UnreadImage("an image in JBIG2, which is not read")
    _check_size(int(found["/Width"]), int(found["/Height"]))
    try:
        if last in FORMATS and not found.keys() & {"/Decode", "/SMask"}:
            # pypdf would encode it again, and takes no more than 75 MB.
            image = Image.open(BytesIO(found.get_data()), formats=(FORMATS[last],))
            _check_size(*image.size)
            if image.mode in ("L", "RGB"):
                image.draft("L", size)
                return image
        return found.decode_as_image()
    finally:
        # A page at a time: pypdf keeps what it decoded.
        found.decoded_self = None


def _check_size(wide: int, high: int) -> None:
    if wide * high > MOST_PIXELS:
        raise _UnreadImage(f"an image of more than {MOST_PIXELS // 10**6} megapixels")


def _gray(image: Any) -> Any:
    """In levels of gray, what is transparent on white."""
    from PIL import Image

    _check_size(*image.size)
    if "A" in image.getbands():
        whole = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", whole.size, "white"), whole)
    return image.convert("L")


FORMAT = DocumentFormat(read, magic=b"%PDF-", text_share=0.1, scanned_pages=scanned_pages)
