"""Files made to cost time or memory: what is read of them must stay in proportion to their size."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from corpora.passages import Document, chunk, read_documents
from corpora.records import Problem
from rag.errors import FileProblem

SIZE = 48_000
PAGE_SIZE = 150_000
"""Characters of a generated web page."""
GROWTH = 9.0
"""At most, for four times the text: 4 is in proportion to its size, 16 is its square."""
FLOOR = 0.03
PAGE_FLOOR = 0.3
"""CPU seconds below which a time says nothing of growth."""


def spent(path: Path) -> float:
    gc.disable()  # a collection costs as much as the rest of the tests left behind
    start = time.process_time()
    with contextlib.suppress(FileProblem):
        for found in read_documents(path):
            if isinstance(found, Document):
                chunk(found)
    seconds = time.process_time() - start
    gc.enable()
    return seconds


def growth(path: Path, start: str, unit: str, most: int = SIZE, floor: float = FLOOR) -> float:
    """CPU time for `most` characters of `unit` after `start`, as a multiple of that for a quarter of them."""
    path.write_text("A sentence of plain words. " * 200)
    spent(path)  # imports what the measured ones need
    seconds = []
    for size in (most // 4, most):
        path.write_text(start + unit * (size // len(unit)))
        seconds.append(max(spent(path), floor))
    return seconds[1] / seconds[0]


@pytest.mark.parametrize("unit", ["<a", "<!--", '<a b="', "<![CDATA[", "&", "<span>", "<p><div>", "<p><pre>"])
def test_broken_html_costs_no_square(tmp_path: Path, unit: str) -> None:
    assert growth(tmp_path / "a.html", "", unit, PAGE_SIZE, PAGE_FLOOR) < GROWTH


@pytest.mark.parametrize("unit", ["**x ", "[a](", "`", "[a](\n", "| - "])
def test_broken_markdown_costs_no_square(tmp_path: Path, unit: str) -> None:
    assert growth(tmp_path / "a.md", "# ", unit) < GROWTH


@pytest.mark.parametrize("unit", ["a.", "?! ", '"', "\n \n"])
def test_odd_text_costs_no_square(tmp_path: Path, unit: str) -> None:
    assert growth(tmp_path / "a.txt", "word", unit) < GROWTH


def test_an_unclosed_quote_does_not_swallow_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.passages.row_files.MAX_FIELD", 2**20)
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,good\n2,"never closed\n' + "3,row of words\n" * 75_000)
    *found, problem = read_documents(path)
    assert isinstance(problem, Problem)
    assert problem.reason.startswith("row 2: field larger than field limit")
    assert len(found) > 3_000


def test_a_row_too_long_is_skipped_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora.passages.row_files.MAX_ROW", 3_000_000)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "' + "a" * 4_000_000 + '"}\n{"text": "b"}\n')
    document, problem = read_documents(path)
    assert isinstance(document, Document)
    assert document.text == "b"
    assert isinstance(problem, Problem)
    assert problem.reason.startswith("row 1: longer than")


def test_nested_json_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("[" * 200_000 + '\n{"text": "good"}\n' + '{"text":' * 100_000 + "\n")
    document, problem = read_documents(path)
    assert isinstance(document, Document)
    assert isinstance(problem, Problem)
    assert problem.reason == "row 1: JSON nested too deep; row 3: JSON nested too deep"


def test_a_damaged_row_group_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = {"text": [f"this is row number {i} of the table" for i in range(300)]}
    pyarrow.parquet.write_table(
        pa.table(rows), path, row_group_size=100, compression="snappy", use_dictionary=False
    )
    at = pyarrow.parquet.read_metadata(path).row_group(1).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[at : at + 400] = b"\xff" * 400
    path.write_bytes(data)
    *found, problem = read_documents(path)
    assert len(found) >= 200
    assert isinstance(problem, Problem)
    assert "rows up to 200 cannot be read" in problem.reason


@pytest.mark.parametrize("kind", ["txt", "jsonl"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str) -> None:
    """A text of 16 MB is read by a process that may have 10 MB more than after a short one."""
    line = {"txt": "A line of text.\n", "jsonl": '{"text": "A line of text."}\n'}
    short, path = tmp_path / f"short.{kind}", tmp_path / f"a.{kind}"
    for file, size in ((short, 1_000_000), (path, 16_000_000)):
        file.write_text(line[kind] * (size // len(line[kind])))
    code = (
        "import itertools, resource, sys; from corpora.passages import plain_text, read_documents;"
        "plain_text.PIECE = 2**18;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "count = lambda path: sum(1 for _ in itertools.islice(read_documents(path), 15_000));"
        "count(sys.argv[1]); before = peak();"
        "print(count(sys.argv[2]), peak() - before)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, short, path], capture_output=True, text=True, check=True
    )
    count, kilobytes = map(int, ran.stdout.split())
    assert count > (20 if kind == "txt" else 14_000)
    assert kilobytes < 10_000
