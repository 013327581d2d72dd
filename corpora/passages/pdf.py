"""PDF files, read by pdfium: their text, and images of pages that are scanned."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from corpora.errors import DamagedFile, FileProblem, UnsupportedFile
from corpora.formats import DocumentFormat
from corpora.heartbeat import beat
from corpora.passages.document import Document, PageStart, complaint, make_document, stated_title
from corpora.passages.page_layout import RecognizedPage, ScannedPage, TextLine, joined, page_text, page_texts
from corpora.passages.plain_text import join_words
from corpora.records import Problem

MAGIC = b"%PDF-"
MOST_BEFORE = 2**20
"""Bytes in which the header is looked for: mail programs and downloads put lines before it."""
MAX_NAMED = 5
NO_TEXT_LAYER = "a PDF without a text layer"
"""Words of the reason why a PDF is skipped where no OCR was tried."""
WIDEST_GAP = 1.0
"""The widest gap between two letters of one piece of text, in sizes of a letter."""
LONG_SIDE = 2000
"""Pixels of a page's long side: A4 at 170 dpi, on which letters of 7 points are 11 pixels high."""
COVERED = 0.5
"""Least share of a page that its images cover, for it to be a scan."""
MOST_PIXELS = 100_000_000
"""Most pixels of an image of a page, as of A4 at 1,000 dpi. A page with a larger one is not read."""
MOST_OBJECTS = 1000
"""Most images and forms of a page that are looked at; some scanners write a page in strips."""
PASSWORD = 1 << 13
"""The flag of a field whose value is shown as dots."""
MOST_NESTED = 8
"""Depth to which forms within forms are looked at."""


def read(path: str, recognized: Sequence[RecognizedPage] | None = None) -> Iterator[Document | Problem]:
    """One document of the pages with text, which `joined` puts together in order, and one a scanned page.

    `recognized`: what OCR gave of the scanned pages; None without OCR. A `Problem` names pages that
    are broken or unread. Raises `UnsupportedFile` for an encrypted file and for one without text,
    `DamagedFile` for one that cannot be parsed.
    """
    pages, broken = dict[int, str](), list[int]()
    with _opened(path) as pdf:
        title = stated_title(pdf.get_metadata_value("Title"))
        for number in range(1, len(pdf) + 1):
            try:
                pages[number] = _text(pdf[number - 1])
            except _errors():  # the other pages are good
                broken.append(number)
    text, places = join_words(*joined([*pages.values()]))
    starts = [PageStart(place, number) for number, place in zip(pages, places, strict=True)]
    documents = [make_document(title, text, pages=starts) if text else None]
    for number, text in page_texts(recognized or ()):
        documents.append(make_document(title, join_words(text)[0], pages=[PageStart(0, number)]))
    found = [document for document in documents if document is not None]
    unread: dict[str, list[int]] = {"cannot be read": broken} if broken else {}
    for page in recognized or ():
        if page.unread:
            unread.setdefault(f"cannot be read: {page.unread}", []).append(page.number)
    reasons = "; ".join(f"{_named(numbers)} {reason}" for reason, numbers in unread.items())
    if not found:
        raise _no_text(path, len(broken), reasons, recognized)
    yield from found
    if reasons:
        others = len(pages) + len(broken) - sum(map(len, unread.values()))
        yield Problem(path, reasons, f"indexed the other {others} pages")


def _named(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:MAX_NAMED])
    more = f" and {len(numbers) - MAX_NAMED} more" if len(numbers) > MAX_NAMED else ""
    return f"page{'s' * (len(numbers) > 1)} {named}{more}"


def _no_text(
    path: str, broken: int, reasons: str, recognized: Sequence[RecognizedPage] | None
) -> FileProblem:
    if broken and not recognized:
        return DamagedFile(f"{path}: not one page of this PDF can be read")
    if reasons:
        return UnsupportedFile(f"{path}: a scanned PDF: {reasons}; run it through an OCR program first")
    if recognized is None:
        return UnsupportedFile(
            f"{path}: {NO_TEXT_LAYER} (images of pages?); set RAG_OCR__MODE=on to read them, "
            "or run it through an OCR program first"
        )
    said = "OCR found no text on its pages" if recognized else "a PDF with neither text nor scanned pages"
    return UnsupportedFile(f"{path}: {said}")


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A `pypdfium2.PdfDocument`. Raises `UnsupportedFile` for a file that needs a password, `DamagedFile`."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    # pdfium takes no names that are not UTF-8, so the file is opened here.
    with Path(path).open("rb") as file:
        # It looks for the header in the first KiB alone.
        before = max(0, file.read(MOST_BEFORE).find(MAGIC))
        file.seek(before)
        try:
            pdf = PdfDocument(file.read() if before else file)
        except PdfiumError as error:
            if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
                raise UnsupportedFile(
                    f"{path}: a PDF locked by a password; save it without one first"
                ) from error
            raise DamagedFile(f"{path}: not a PDF that can be read: {complaint(error)}") from error
        with pdf:
            pdf.init_forms()
            yield pdf


def _errors() -> tuple[type[Exception], ...]:
    from pypdfium2 import PdfiumError

    return PdfiumError, ValueError


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, y down."""


def _text(page: Any) -> str:
    """Columns of prose one after the other, tables by rows, paragraphs apart; with notes and forms."""
    return page_text([*_pieces(page), *_notes(page, page.formenv)])


def _pieces(page: Any) -> Iterator[TextLine]:
    """The text that a page shows in the order of its file, cut at line ends and wide gaps; points, y down."""
    from pypdfium2 import raw

    held, turns, shown = page.get_textpage(), page.get_rotation() // 90, _shown(page)
    edges = raw.FS_RECTF()
    text, box = "", (0.0, 0.0, 0.0, 0.0)
    for index in range(held.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(held, index))
        if raw.FPDFText_IsHyphen(held, index) == 1:
            letter = "-"
        if raw.FPDFText_IsGenerated(held, index) == 1 or letter.isspace():
            if letter in "\r\n":
                yield from _piece(text, box)
                text = ""
            elif text:
                text += " "
            continue
        raw.FPDFText_GetLooseCharBox(held, index, ctypes.byref(edges))
        own = _turned(edges, turns)
        if not _is_within(own, shown):
            continue
        if text and _is_apart(box, own):
            yield from _piece(text, box)
            text = ""
        box = own if not text else _around(box, own)
        text += letter
    yield from _piece(text, box)


def _notes(page: Any, form: Any) -> Iterator[TextLine]:
    """The notes on a page that are shown and the values of its form, at their places."""
    from pypdfium2 import raw

    edges = raw.FS_RECTF()
    hidden = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            text = ""
            if kind == raw.FPDF_ANNOT_WIDGET and form is not None:
                text = _value(form, annotation)
            elif kind not in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
                text = _string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
            text = "" if raw.FPDFAnnot_GetFlags(annotation) & hidden else " ".join(text.split())
            if text and raw.FPDFAnnot_GetRect(annotation, ctypes.byref(edges)):
                box = _turned(edges, page.get_rotation() // 90)
                if _is_within(box, _shown(page)):
                    yield from _piece(text, box)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _value(form: Any, annotation: Any) -> str:
    """What is written or chosen in a field of a form; a cross where a box is checked."""
    from pypdfium2 import raw

    asked = form, annotation
    kind = raw.FPDFAnnot_GetFormFieldType(*asked)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if raw.FPDFAnnot_IsChecked(*asked) else ""
    if kind == raw.FPDF_FORMFIELD_PUSHBUTTON or raw.FPDFAnnot_GetFormFieldFlags(*asked) & PASSWORD:
        return ""
    options = range(min(MOST_OBJECTS, raw.FPDFAnnot_GetOptionCount(*asked)))
    chosen = [at for at in options if raw.FPDFAnnot_IsOptionSelected(*asked, at)]
    labels = [_string(raw.FPDFAnnot_GetOptionLabel, *asked, at) for at in chosen]
    return ", ".join(labels) or _string(raw.FPDFAnnot_GetFormFieldValue, *asked)


def _string(function: Any, *asked: Any) -> str:
    """A string that a function of pdfium gives; empty without one."""
    from pypdfium2 import raw

    size = function(*asked, None, 0)
    held = ctypes.create_string_buffer(size)
    function(*asked, ctypes.cast(held, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return held.raw.decode("utf-16-le", "replace").rstrip("\0")


def _turned(edges: Any, turns: int) -> Box:
    """A rectangle of a page as the page is shown, after so many turns of 90 degrees."""
    left, bottom, right, top = edges.left, edges.bottom, edges.right, edges.top
    for _ in range(turns):
        left, bottom, right, top = bottom, -right, top, -left
    return left, -top, right, -bottom


def _shown(page: Any) -> Box:
    """The part of a page that viewers show, which its crop box may cut."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    return _turned(raw.FS_RECTF(left, top, right, bottom), page.get_rotation() // 90)


def _is_within(box: Box, outer: Box) -> bool:
    """Whether the middle of a box is in another one."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return outer[0] <= across <= outer[2] and outer[1] <= down <= outer[3]


def _piece(text: str, box: Box) -> Iterator[TextLine]:
    if text := text.strip():
        yield TextLine(*box, text)


def _around(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _is_apart(before: Box, letter: Box) -> bool:
    """Whether a letter begins another piece of text: far behind it, before it, or on another line.

    Letters of text that is turned are below each other, and of one piece.
    """
    size, middle = max(letter[2] - letter[0], letter[3] - letter[1]), (letter[1] + letter[3]) / 2
    beside = letter[0] - before[2]
    other_line = not before[1] <= middle <= before[3] and -beside > 1.5 * size
    return other_line or beside > WIDEST_GAP * size or letter[2] < before[0] - size


def scanned_pages(path: str) -> Iterator[ScannedPage | RecognizedPage]:
    """The pages of a PDF file that are images without text, in order, one in memory at a time.

    A page whose image cannot be decoded is a `RecognizedPage` that says why. Pages that are broken in
    another way are left to `read`. Raises as that does.
    """
    with _opened(path) as pdf:
        for number in range(1, len(pdf) + 1):
            beat()
            try:
                page = pdf[number - 1]
                if not _is_scan(page):
                    continue
            except _errors():
                continue
            unread = _unread(page)
            image = None if unread else _rendered(page)
            if image is not None and image.min() == image.max() and _has_broken_image(page):
                unread = "an image that cannot be decoded"
            if image is None or unread:
                yield RecognizedPage(number, (), unread)
            else:
                yield ScannedPage(number, len(pdf), image)


def _is_scan(page: Any) -> bool:
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    covered = 0.0
    for each in page.get_objects((raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM), max_depth=1):
        own = each.get_bounds()
        wide, high = min(right, own[2]) - max(left, own[0]), min(top, own[3]) - max(bottom, own[1])
        covered += max(0.0, wide) * max(0.0, high)
    if covered < COVERED * (right - left) * (top - bottom):
        return False
    return any(_images(page)) and not any(_pieces(page))


def _images(page: Any) -> Iterator[Any]:
    """The images of a page, those in forms too; a form that draws itself ends with `MOST_OBJECTS`."""
    from pypdfium2 import raw

    found = page.get_objects((raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM), max_depth=MOST_NESTED)
    return (each for each in islice(found, MOST_OBJECTS) if each.type == raw.FPDF_PAGEOBJ_IMAGE)


def _unread(page: Any) -> str:
    """Why an image of a page is not decoded; empty where all may be."""
    for image in _images(page):
        wide, high = image.get_px_size()
        if wide * high > MOST_PIXELS:
            return f"an image of more than {MOST_PIXELS // 10**6} megapixels"
    return ""


def _rendered(page: Any) -> Any:
    """The page on white as it is shown, uint8 (h, w)."""
    scale = LONG_SIDE / max(page.get_size())
    image = page.render(scale=scale, grayscale=True, may_draw_forms=False).to_numpy()
    return image.reshape(image.shape[:2]).copy()


def _has_broken_image(page: Any) -> bool:
    for image in _images(page):
        try:
            image.get_bitmap()
        except _errors():
            return True
    return False


FORMAT = DocumentFormat(read, magic=MAGIC, text_share=0.1, scanned_pages=scanned_pages)
