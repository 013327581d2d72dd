"""Workers of Ray make the library of a plain run, though one of them is killed at work."""

import contextlib
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from rag.indexing import index
from rag.indexing.report import Progress
from rag.settings import Settings, load_settings
from rag.store.layout import open_layout
from tests.fakes.library_dump import dump
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


def settings_of(library: Path, **given: Any) -> Settings:
    return load_settings(flags={"library": library, "ocr.mode": "off", "encoder.image": "none", **given})


class Counting(Progress):
    def __init__(self) -> None:
        self.total = self.done_seconds = 0.0
        self.files = 0

    def start(self, total_seconds: float, total_files: int) -> None:
        self.total, self.files = total_seconds, total_files

    def advance(self, seconds: float) -> None:
        self.done_seconds += seconds


def children(parent: int, word: bytes) -> list[int]:
    """Processes of a parent that have `word` in their command."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if above == parent and word in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def kill_one_at_work(shards: Path, killed: list[int], ended: threading.Event) -> None:
    """A worker, as soon as one of the shards is begun."""
    while not ended.wait(0.02):
        nodes = children(os.getpid(), b"raylet/raylet")
        busy = [worker for node in nodes for worker in children(node, b"index_shard")]
        if busy and any(shards.glob("*/head.json")):
            os.kill(busy[0], signal.SIGKILL)
            killed.append(busy[0])
            return


def test_a_worker_is_killed_at_work(tmp_path, capfd) -> None:
    corpus, library = tmp_path / "corpus", tmp_path / "library"
    corpus.mkdir()
    for n in range(3):
        write_video(corpus / f"{n}.mp4", 4 + n, fps=1)
    shutil.copy(corpus / "0.mp4", corpus / "copy.mp4")
    (corpus / "bad.mp4").write_bytes(b"no video" * 99)
    (corpus / "notes.md").write_text("# Bolts\n\nA bolt is too tight.\n")
    plain = index([corpus], settings=settings_of(tmp_path / "plain"))
    workers = {"cluster.engine": "ray", "cluster.workers": 2, "cluster.worker_cpus": 1.0}
    watch, killed, ended = Counting(), list[int](), threading.Event()
    killer = threading.Thread(target=kill_one_at_work, args=(library / "shards", killed, ended))
    killer.start()
    try:
        report = index([corpus], settings=settings_of(library, **workers), progress=watch)
    finally:
        ended.set()
        killer.join()
    assert killed
    assert list(dump(library)) == list(dump(tmp_path / "plain"))
    assert (report.indexed, report.copies, report.problems) == (plain.indexed, 1, plain.problems)
    assert watch.done_seconds == pytest.approx(watch.total)
    assert not open_layout(library).shards()
    assert not capfd.readouterr().out, "it is for the command's own results"
