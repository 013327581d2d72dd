"""Trees full of traps and files made to cost time or memory: each is one line, and the rest is read."""

import contextlib
import gc
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from corpora.passages import Document, chunk, read_documents
from corpora.scan import scan
from rag.errors import FileProblem


def reasons(root: Path) -> dict[str, str]:
    found = scan(root)
    assert len({problem.path for problem in found.problems}) == len(found.problems)
    return {os.path.relpath(p.path, root): f"{p.reason} ({p.action})" for p in found.problems}


@pytest.fixture
def good(tmp_path) -> Path:
    (tmp_path / "good.mp4").write_bytes(b"x")
    return tmp_path


def found_names(root: Path) -> list[str]:
    return [os.path.relpath(file.path, root) for file in scan(root).files]


def test_pipes_and_sockets_are_reported_and_never_opened(good: Path, monkeypatch) -> None:
    os.mkfifo(good / "pipe.mp4")
    os.mkfifo(good / "unknown")
    monkeypatch.chdir(good)  # a socket's path may be no longer than 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock.mkv")
        assert reasons(good) == {
            "pipe.mp4": "a named pipe, not a file; it was not opened (skipped)",
            "sock.mkv": "a socket, not a file; it was not opened (skipped)",
        }
    assert found_names(good) == ["good.mp4"]


def test_folder_links_are_not_followed(good: Path, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "far.mp4").write_bytes(b"x")
    (good / "sub").mkdir()
    (good / "sub" / "up").symlink_to("..")
    (good / "sub" / "self").symlink_to(".")
    (good / "alias").symlink_to("sub")
    (good / "away").symlink_to(outside)
    assert reasons(good) == {
        "away": f"a link to the folder {outside} (not followed; name that folder to index it)",
        "sub/self": "a link to a folder that contains it (not followed)",
        "sub/up": "a link to a folder that contains it (not followed)",
    }
    assert found_names(good) == ["good.mp4"]


def test_file_links_are_found_under_their_own_path(good: Path) -> None:
    (good / "link.mp4").symlink_to("good.mp4")
    (good / "broken.mp4").symlink_to("nowhere.mp4")
    (good / "lost").symlink_to("unmounted")
    (good / "a.mp4").symlink_to("b.mp4")
    (good / "b.mp4").symlink_to("a.mp4")
    assert found_names(good) == ["good.mp4", "link.mp4"]
    assert reasons(good) == {
        "broken.mp4": "a broken link to nowhere.mp4 (skipped)",
        "lost": "a broken link to unmounted (skipped)",
        "a.mp4": "a link that leads in a circle (skipped)",
        "b.mp4": "a link that leads in a circle (skipped)",
    }


@pytest.mark.parametrize("held", [4096, 0])
def test_empty_and_incomplete_files_are_reported(good: Path, held: int) -> None:
    (good / "empty.mp4").touch()
    with (good / "incomplete.mp4").open("wb") as file:
        file.write(b"x" * held)
        file.truncate(10 * 2**30)
    reported = reasons(good)
    assert reported["empty.mp4"] == "empty, 0 bytes (skipped)"
    assert " of its 10,737,418,240 bytes are on the disk" in reported["incomplete.mp4"]
    assert found_names(good) == ["good.mp4"]


def test_a_sparse_file_that_holds_enough_is_no_giant(good: Path) -> None:
    with (good / "sparse.mp4").open("wb") as file:
        file.write(b"x" * 4 * 2**20)
        file.truncate(300 * 2**20)
    assert found_names(good) == ["good.mp4", "sparse.mp4"]


def test_unreadable_files_and_folders_are_reported(good: Path, monkeypatch) -> None:
    """Root may read anything, so the refusal is played here."""
    (good / "secret.mp4").write_bytes(b"x")
    (good / "locked").mkdir()
    (good / "locked" / "in.mp4").write_bytes(b"x")
    really_may, really_list = os.access, os.scandir

    def access(path: str, mode: int) -> bool:
        return not str(path).endswith("secret.mp4") and really_may(path, mode)

    def listing(path: str) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return really_list(path)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "scandir", listing)
    assert reasons(good) == {
        "locked": "folder: permission denied (skipped with all it holds)",
        "secret.mp4": "permission denied (skipped)",
    }
    assert found_names(good) == ["good.mp4"]


def test_what_vanishes_during_the_walk_is_passed_over(good: Path, monkeypatch) -> None:
    (good / "sub").mkdir()
    (good / "sub" / "late.mp4").write_bytes(b"x")
    (good / "going.mp4").write_bytes(b"x")
    really_list = os.scandir

    def listing(path: str) -> Iterator[os.DirEntry[str]]:
        entries = really_list(path)
        if str(path) == str(good):
            (good / "going.mp4").unlink(missing_ok=True)
            (good / "sub" / "late.mp4").unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(os, "scandir", listing)
    found = scan(good)
    assert [Path(file.path).name for file in found.files] == ["good.mp4"]
    assert found.problems == ()


def test_a_tree_deeper_than_the_stack_is_walked(tmp_path) -> None:
    before, depth = os.getcwd(), 1500
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("deep.mp4").write_bytes(b"x")
        found = scan(tmp_path)
        # pytest's own clearing away of old folders would not get down there.
        os.unlink("deep.mp4")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(before)
    assert [Path(file.path).name for file in found.files] == ["deep.mp4"]


SIZE = 48_000
PAGE_SIZE = 100_000
"""Characters of a generated web page."""
GROWTH = 9.0
"""At most, for four times the text: 4 is in proportion to its size, 16 is its square."""
FLOOR = 0.03
PAGE_FLOOR = 0.13
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
def test_broken_html_costs_no_square(tmp_path, unit: str) -> None:
    assert growth(tmp_path / "a.html", "", unit, PAGE_SIZE, PAGE_FLOOR) < GROWTH


MARKS = [("md", unit) for unit in ("**x ", "[a](", "`", "[a](\n", "| - ")]


@pytest.mark.parametrize(("kind", "unit"), [*MARKS, *(("txt", unit) for unit in ("a.", "?! ", '"', "\n \n"))])
def test_broken_markdown_and_odd_text_cost_no_square(tmp_path, kind: str, unit: str) -> None:
    assert growth(tmp_path / f"a.{kind}", "# word", unit) < GROWTH


def test_an_unclosed_quote_does_not_swallow_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("corpora.passages.row_files.MAX_FIELD", 2**20)
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,good\n2,"never closed\n' + "3,row of words\n" * 75_000)
    *found, problem = read_documents(path)
    assert problem.reason.startswith("row 2: field larger than field limit")
    assert len(found) > 3_000


def test_a_row_too_long_is_skipped_and_reported(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("corpora.passages.row_files.MAX_ROW", 3_000_000)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "' + "a" * 4_000_000 + '"}\n{"text": "b"}\n')
    document, problem = read_documents(path)
    assert document.text == "b"
    assert problem.reason.startswith("row 1: longer than")


def test_nested_json_is_reported(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("[" * 200_000 + '\n{"text": "good"}\n' + '{"text":' * 100_000 + "\n")
    document, problem = read_documents(path)
    assert isinstance(document, Document)
    assert problem.reason == "row 1: JSON nested too deep; row 3: JSON nested too deep"


def test_a_damaged_row_group_costs_no_other(tmp_path) -> None:
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
    assert "rows up to 200 cannot be read" in problem.reason


@pytest.mark.parametrize("kind", ["txt", "jsonl"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind: str) -> None:
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
