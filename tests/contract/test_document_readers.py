"""Every document reader that is registered, on a small file of its kind."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from corpora.passages.document import document_suffixes
from corpora.testing import DocumentReaderContract

TEXT = b"Chain oil\n\nWipe the chain dry, then oil every link.\n"
ROWS = b'{"_id": "1", "title": "Chain oil", "text": "Oil every link."}\n'
PAGE = b"<html><head><title>Chain oil</title></head><body><p>Oil every link.</p></body></html>"
SAMPLES = {
    **dict.fromkeys([".txt", ".text", ".md", ".markdown"], TEXT),
    **dict.fromkeys([".html", ".htm", ".xhtml"], PAGE),
    **dict.fromkeys([".jsonl", ".ndjson"], ROWS),
    ".json": b"[" + ROWS + b"]",
    ".csv": b"id,title,text\n1,Chain oil,Oil every link.\n",
    ".tsv": b"id\ttitle\ttext\n1\tChain oil\tOil every link.\n",
}


def _parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": ["1"], "text": ["Oil every link."]}), out)
    return out.getvalue()


@pytest.mark.parametrize("suffix", sorted(document_suffixes() - {".pdf"}))
@pytest.mark.parametrize(
    "name",
    [name for name in dir(DocumentReaderContract) if name.startswith("test_") and "suffix" not in name],
)
def test_contract(suffix: str, name: str, tmp_path: Path) -> None:
    """PDF has a test file of its own (`tests/unit/corpora/test_passages_pdf.py`)."""
    suite = DocumentReaderContract()
    suite.suffix, suite.sample = suffix, SAMPLES.get(suffix) or _parquet()
    getattr(suite, name)(tmp_path)


@pytest.mark.parametrize("suffix", sorted(document_suffixes()))
def test_a_scan_takes_the_suffix(suffix: str) -> None:
    suite = DocumentReaderContract()
    suite.suffix = suffix
    suite.test_a_scan_takes_the_suffix_for_documents()
