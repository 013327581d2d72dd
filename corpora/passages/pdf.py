"""PDF files, read by pypdf: their text layer, and what OCR gave of scanned pages."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from corpora.errors import DamagedFile, FileProblem, UnsupportedFile
from corpora.passages.document import Document, PageStart, complaint, make_document, stated_title
from corpora.passages.page_layout import joined, laid_out
from corpora.passages.scanned_text import RecognizedPage, page_texts
from corpora.records import Problem

MAX_NAMED = 5
NO_TEXT_LAYER = "a PDF without a text layer"
"""In the reason why a PDF is skipped where no OCR was tried."""


def read(path: str, recognized: Sequence[RecognizedPage] | None = None) -> Iterator[Document | Problem]:
    """One document of the pages with text, in order, as `joined`, and one of each page that was scanned.

    `recognized`: what OCR gave of the scanned pages; None where there was none. A `Problem` names pages that
    are broken or unread. Raises `UnsupportedFile` for an encrypted file and for one without text,
    `DamagedFile` for one that cannot be parsed.
    """
    with quiet():
        reader = open_pdf(path)
        pages, broken = _pages(path, reader)
        title = _title(reader)
    text, places = joined([*pages.values()])
    starts = [PageStart(place, number) for number, place in zip(pages, places, strict=True)]
    documents = [make_document(title, text, pages=starts) if text else None]
    for number, text in page_texts(recognized or ()):
        documents.append(make_document(title, text, pages=[PageStart(0, number)]))
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


def open_pdf(path: str) -> Any:
    """A `pypdf.PdfReader`. Raises `UnsupportedFile` for a file that needs a password, `DamagedFile`."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt("")
    except DependencyError as error:
        raise UnsupportedFile(f"{path}: an encrypted PDF; save it without a password first") from error
    except OSError:
        raise
    except Exception as error:  # broken files make pypdf raise nearly anything
        raise DamagedFile(f"{path}: not a PDF that can be read: {complaint(error)}") from error
    if locked:
        raise UnsupportedFile(f"{path}: a PDF locked by a password; save it without one first")
    return reader


def _pages(path: str, reader: Any) -> tuple[dict[int, str], list[int]]:
    """Texts of the readable pages by number (from 1), and numbers of the broken ones."""
    try:
        count = len(reader.pages)
    except Exception as error:
        raise DamagedFile(f"{path}: a PDF whose list of pages is broken: {complaint(error)}") from error
    pages, broken = dict[int, str](), list[int]()
    for number in range(1, count + 1):
        try:
            pages[number] = _text(reader.pages[number - 1])
        except Exception:
            # Odd fonts and streams make pypdf raise nearly anything; the other pages are good.
            broken.append(number)
    return pages, broken


def _text(page: Any) -> str:
    """As it is laid out, with its tables, where that loses no letter and its lines can be read across."""
    plain = page.extract_text() or ""
    try:
        text = laid_out(page.extract_text(extraction_mode="layout"), plain)
    except Exception:
        # Of fonts that the one way of pypdf cannot measure, and of columns of prose.
        return plain
    return text if _letters(text) == _letters(plain) else plain


def _letters(text: str) -> Counter[str]:
    return Counter(char for char in text if char.isalnum())


def _title(reader: Any) -> str:
    try:
        return stated_title(str((reader.metadata or {}).get("/Title") or ""))
    except Exception:
        return ""


@contextmanager
def quiet() -> Iterator[None]:
    """pypdf warns of each oddity by logging; the one line that matters is ours to say."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
