"""PDF files with a text layer, read by pypdf."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document, complaint, make_document, stated_title
from corpora.passages.page_layout import joined, laid_out
from corpora.records import Problem

MAX_NAMED = 5


def read(path: str) -> Iterator[Document | Problem]:
    """One document, pages in order, as `joined`; a `Problem` names pages that are broken.

    Raises `UnsupportedFile` for an encrypted file and for one of images alone, `DamagedFile` for
    one that cannot be parsed.
    """
    with _quiet():
        reader = _open(path)
        pages, broken = _pages(path, reader)
        title = _title(reader)
    document = make_document(title, joined(pages)) if any(page.strip() for page in pages) else None
    if document is None:
        if broken:
            raise DamagedFile(f"{path}: not one page of this PDF can be read")
        raise UnsupportedFile(
            f"{path}: a PDF without a text layer (images of pages?); run it through an OCR program first"
        )
    yield document
    if broken:
        named = ", ".join(str(number) for number in broken[:MAX_NAMED])
        more = f" and {len(broken) - MAX_NAMED} more" if len(broken) > MAX_NAMED else ""
        reason = f"page{'s' * (len(broken) > 1)} {named}{more} cannot be read"
        yield Problem(path, reason, f"indexed the other {len(pages)} pages")


def _open(path: str) -> Any:
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


def _pages(path: str, reader: Any) -> tuple[list[str], list[int]]:
    """Texts of the readable pages in order, and numbers (from 1) of the broken ones."""
    try:
        count = len(reader.pages)
    except Exception as error:
        raise DamagedFile(f"{path}: a PDF whose list of pages is broken: {complaint(error)}") from error
    pages, broken = [], []
    for number in range(count):
        try:
            pages.append(_text(reader.pages[number]))
        except Exception:
            # Odd fonts and streams make pypdf raise nearly anything; the other pages are good.
            broken.append(number + 1)
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
def _quiet() -> Iterator[None]:
    """pypdf warns of each oddity by logging; the one line that matters is ours to say."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
