"""Files made to hold their reader up, to fill its memory, or to make it open others."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from corpora.entry_points import find_entry_point
from corpora.records import Passage
from corpora.sandbox import protections
from corpora.settings import ReadingSettings
from corpora.video.reader import MediaReader
from rag.errors import OverLimit
from rag.indexing.run import index
from rag.library import Library
from rag.settings import Settings

SLOW = "![](" * 7_000
"""Seconds of CPU, for the rules of sentences look at each mark with all that follows."""
HOLDS = {each.name: each.holds for each in protections(2**30)}


def texts(reader: MediaReader, path: Path) -> list[str]:
    return [found.text for found in reader.passages(str(path)) if isinstance(found, Passage)]


def test_a_slow_document_is_given_up_by_its_processor_time(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text(SLOW)
    (tmp_path / "good.md").write_text("Oil the chain.")
    with MediaReader(limits=ReadingSettings(document_seconds=1)) as reader:
        with pytest.raises(OverLimit, match=r"slow\.md: reading it takes more processor time"):
            texts(reader, tmp_path / "slow.md")
        assert texts(reader, tmp_path / "good.md") == ["Oil the chain."]


@pytest.mark.skipif(not HOLDS["memory"], reason="no limit of memory here")
def test_a_document_that_fills_the_memory_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "wide.jsonl").write_text(json.dumps({"text": "a"}) + "\n[" + "{}," * 9_000_000 + "{}]\n")
    (tmp_path / "good.md").write_text("Oil the chain.")
    with MediaReader(limits=ReadingSettings(memory_gib=0.5)) as reader:
        with pytest.raises(OverLimit, match=r"wide\.jsonl: reading it takes more memory"):
            texts(reader, tmp_path / "wide.jsonl")
        assert texts(reader, tmp_path / "good.md") == ["Oil the chain."]


@pytest.mark.usefixtures("tiny_text")
def test_one_document_stops_neither_this_run_nor_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "good.md").write_text("Oil the chain.")
    (corpus / "slow.md").write_text(SLOW)
    read: list[str] = []
    passages = MediaReader.passages
    monkeypatch.setattr(MediaReader, "passages", lambda self, path: read.append(path) or passages(self, path))

    def run(seconds: int) -> list[str]:
        settings = Settings.model_validate(
            {
                "library": tmp_path / "library",
                "encoder": {"image": "none"},
                "reading": {"document_seconds": seconds},
            }
        )
        read.clear()
        report = index([corpus], settings=settings)
        assert all("more processor time" in problem.reason for problem in report.problems)
        return [Path(problem.path).name for problem in report.problems]

    assert run(1) == ["slow.md"]
    assert run(1) == ["slow.md"]
    assert read == []
    shutil.copy(corpus / "slow.md", corpus / "again.md")  # by content, not by name
    (corpus / "new.md").write_text("Wipe it dry.")
    os.utime(corpus / "slow.md", (1, 1))
    assert run(1) == ["again.md", "slow.md"]
    assert [Path(path).name for path in read] == ["new.md"]
    assert run(60) == []
    with Library.open(tmp_path / "library") as library:
        assert len(library.indexed_paths()) == 4


SPY = """
import os, socket, threading
from pathlib import Path
from corpora.passages.document import make_document


def read(path):
    other, port = Path(path).read_text().split()
    done = []

    def attempt(name, action):
        try:
            action()
        except OSError:
            return
        done.append(name)

    attempt("read", lambda: Path(other).read_bytes())
    attempt("list", lambda: os.listdir(Path(other).parent))
    attempt("write", lambda: Path(other + ".new").write_text("x"))
    attempt("connect", lambda: socket.create_connection(("127.0.0.1", int(port)), 2).close())
    attempt("run", lambda: os.posix_spawn("/bin/true", ["true"], {}))
    thread = threading.Thread(target=lambda: attempt("read in a thread", Path(other).read_bytes))
    thread.start()
    thread.join()
    yield make_document("", f"did {' '.join(done)}")
"""


@pytest.mark.skipif(not (HOLDS["network"] and HOLDS["files"]), reason="not offered by this kernel")
def test_a_reader_opens_its_input_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of another package, in place of one that a file has taken over."""
    package = tmp_path / "package"
    (package / "spying-1.dist-info").mkdir(parents=True)
    (package / "spying-1.dist-info" / "METADATA").write_text("Name: spying\nVersion: 1\n")
    (package / "spying-1.dist-info" / "entry_points.txt").write_text(
        "[rag.document_readers]\nspy = spying:read\n"
    )
    (package / "spying.py").write_text(SPY)
    monkeypatch.setenv("PYTHONPATH", str(package))
    secret = tmp_path / "secret" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server, MediaReader() as reader:
        (tmp_path / "a.spy").write_text(f"{secret} {server.getsockname()[1]}")
        assert find_entry_point("rag.document_readers", "spy") is None  # of the subprocess alone
        assert texts(reader, tmp_path / "a.spy") == ["did"]


def test_modules_of_the_working_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("Oil the chain.")
    (tmp_path / "html.py").write_text("import os; os.abort()")
    (tmp_path / "numpy.py").write_text("import os; os.abort()")
    monkeypatch.chdir(tmp_path)
    with MediaReader() as reader:
        assert texts(reader, tmp_path / "a.md") == ["Oil the chain."]
