"""`kill -9` while rows are written, and running again, gives the library of an undisturbed run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.corpus import tiny_settings, write_corpus
from tests.fakes.library_dump import dump

KILLS = 3
DONE_IN_PART = 3
# Each run is a fork of a process that has imported what takes seconds, but not lance, whose threads survive
# no fork; it reads arguments, log and settings, a run a line, and prints the run's id and, when it ended, its
# exit status.
SERVER = """
import gc, json, os, sys
import av, cv2, lance_namespace, pandas, pyarrow.dataset, scenedetect, torch
import transformers.models.clip.modeling_clip
import rag._cli.index, rag.indexing.pipeline
from rag._cli.main import run
gc.freeze()
for line in sys.stdin:
    arguments, log, settings = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setsid()
        for number, path in enumerate((os.devnull, os.devnull, log)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.environ.update(settings)
        sys.argv = ["rag", *arguments]
        run()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Run:
    """One `rag index` in a session of its own, until it ends or is killed."""

    def __init__(self, server: subprocess.Popen[str], corpus: Path, library: Path, **settings: str) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        words = ["index", str(corpus), "--library", str(library)]
        server.stdin.write(json.dumps([words, str(library.with_suffix(".log")), settings]) + "\n")
        server.stdin.flush()
        self._replies = server.stdout
        self.pid = int(self._replies.readline())

    def poll(self) -> bool:
        """Whether it has ended."""
        return bool(select.select([self._replies], [], [], 0)[0])

    def wait(self) -> int:
        """Its exit status once it has ended; the signal's number, negative, where it was killed."""
        return int(self._replies.readline())


@contextlib.contextmanager
def open_server(settings: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    # Two threads that sleep while they wait for each other, and do not spin.
    threads = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}
    environment = {**os.environ, **settings, **threads, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until_empty(group: int) -> None:
    """The decoding child has no parent now, and must notice it by itself."""
    deadline = time.monotonic() + 20
    while not group_is_empty(group):
        assert time.monotonic() < deadline, "a child outlived the killed `rag index`"
        time.sleep(0.05)


def commits(library: Path) -> set[Path]:
    """The version files of all tables: each commit adds one."""
    # Folders vanish while the library is maintained: `os.walk` passes them over.
    return {
        Path(folder, name)
        for folder, _, names in os.walk(library)
        for name in names
        if name.endswith(".manifest")
    }


def kill_after(run: Run, library: Path, count: int, delay: float) -> int:
    """Kill a run `delay` seconds after its `count`-th commit; the exit status."""
    before = commits(library)
    while not run.poll() and len(commits(library) - before) < count:
        time.sleep(0.02)
    time.sleep(delay)
    if not run.poll():
        os.kill(run.pid, signal.SIGKILL)
    return run.wait()


@pytest.mark.usefixtures("tiny_text")
def test_killed_between_commits_and_run_again_is_undisturbed(tmp_path: Path) -> None:
    corpus, settings = write_corpus(tmp_path / "corpus"), tiny_settings(tmp_path)
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    with open_server(settings) as server:
        assert Run(server, corpus, undisturbed).wait() == DONE_IN_PART
        expected = list(dump(undisturbed))
        assert any('"table": "vectors_' in line for line in expected)

        moments = random.Random(20)
        kills = 0
        while kills < KILLS:
            run = Run(server, corpus, disturbed, RAG_VIDEO__DECODERS="2")
            code = kill_after(run, disturbed, moments.randint(1, 4), moments.uniform(0, 0.3))
            wait_until_empty(run.pid)
            if code == -signal.SIGKILL:
                kills += 1
                continue
            assert code == DONE_IN_PART, disturbed.with_suffix(".log").read_text()
            assert list(dump(disturbed)) == expected
            shutil.rmtree(disturbed)
        assert Run(server, corpus, disturbed).wait() == DONE_IN_PART
        assert list(dump(disturbed)) == expected
