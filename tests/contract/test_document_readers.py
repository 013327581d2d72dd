"""Every document reader that is registered, on a small file of its kind."""

import io
from collections.abc import Mapping

import pytest

from corpora.entry_points import all_entry_points
from corpora.errors import DamagedFile
from corpora.formats import READERS
from corpora.testing import DocumentReaderContract
from tests.fakes.documents import (
    epub_parts,
    ods_parts,
    odt_parts,
    pptx_parts,
    word_parts,
    write_pdf,
    write_zip,
    xlsx_parts,
    xlsx_rows,
)

TEXT = b"Chain oil\n\nWipe the chain dry, then oil every link.\n"
ROWS = b'{"_id": "1", "title": "Chain oil", "text": "Oil every link."}\n'
PAGE = b"<html><head><title>Chain oil</title></head><body><p>Oil every link.</p></body></html>"


def _parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": ["1"], "text": ["Oil every link."]}), out)
    return out.getvalue()


def _pdf() -> bytes:
    out = io.BytesIO()
    write_pdf(out, ["Oil every link."])
    return out.getvalue()


def _zip(parts: Mapping[str, str]) -> bytes:
    return write_zip(io.BytesIO(), parts).getvalue()


SAMPLES = {
    ".docx": _zip(word_parts("<w:p><w:r><w:t>Oil every link.</w:t></w:r></w:p>")),
    ".eml": b"From: Ann <ann@example.org>\r\nSubject: Chain oil\r\n\r\nOil every link.\r\n",
    ".ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["# Chain oil\\n", "Oil every link."]}]}',
    **dict.fromkeys([".srt", ".vtt"], b"WEBVTT\n\n00:01.000 --> 00:03.000\nOil every link.\n"),
    **dict.fromkeys(
        [".ass", ".ssa"], b"[Events]\nDialogue: 0,0:00:01.00,0:00:03.00,,,0,0,0,,Oil every link.\n"
    ),
    **dict.fromkeys([".ttml", ".dfxp"], b"<tt><body><p begin='1s' end='3s'>Oil every link.</p></body></tt>"),
    ".epub": _zip(epub_parts("Chains", "<p>Oil every link.</p>")),
    ".pptx": _zip(pptx_parts("<a:p><a:t>Oil every link.</a:t></a:p>")),
    **dict.fromkeys([".odt", ".odp"], _zip(odt_parts("<text:p>Oil every link.</text:p>"))),
    **dict.fromkeys([".txt", ".text", ".md", ".markdown"], TEXT),
    **dict.fromkeys([".html", ".htm", ".xhtml"], PAGE),
    **dict.fromkeys([".jsonl", ".ndjson"], ROWS),
    ".ods": _zip(
        ods_parts(
            '<table:table-row><table:table-cell office:value-type="string"><text:p>Oil every link.</text:p>'
            "</table:table-cell></table:table-row>"
        )
    ),
    **dict.fromkeys([".xlsx", ".xlsm"], _zip(xlsx_parts(A=xlsx_rows(("Oil every link.",))))),
    ".csv": b"id,title,text\n1,Chain oil,Oil every link.\n",
    ".tsv": b"id\ttitle\ttext\n1\tChain oil\tOil every link.\n",
    ".parquet": _parquet(),
    ".pdf": _pdf(),
}


class TestRegisteredReaders(DocumentReaderContract):
    @pytest.fixture(autouse=True, params=[f".{name}" for name in all_entry_points(READERS)])
    def _reader(self, request) -> None:
        self.suffix = request.param
        self.sample = SAMPLES[self.suffix]


def test_the_contract_refuses_a_reader_without_text(tmp_path) -> None:
    broken = DocumentReaderContract()
    broken.suffix, broken.sample = ".txt", b" "
    with pytest.raises(DamagedFile):
        broken.test_the_sample_is_documents(tmp_path)
    broken.suffix = ".exe"
    with pytest.raises(AssertionError):
        broken.test_a_scan_takes_the_suffix_for_documents()
