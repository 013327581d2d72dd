"""`kill -9` while rows are written, and running again, gives the library of an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.fakes.corpus import tiny_settings, write_corpus
from tests.fakes.library_dump import dump

KILLS = 8
DONE_IN_PART = 3


def start(corpus: Path, library: Path, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rag._cli.main", "index", str(corpus), "--library", str(library)]
    environment = {**os.environ, **settings, "OMP_NUM_THREADS": "2"}
    with library.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )


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


def kill_after(run: subprocess.Popen[bytes], library: Path, count: int, delay: float) -> int | None:
    """Kill a run `delay` seconds after its `count`-th commit; its exit status where it ends before."""
    before = commits(library)
    while run.poll() is None and len(commits(library) - before) < count:
        time.sleep(0.005)
    time.sleep(delay)
    code = run.poll()
    if code is None:
        run.send_signal(signal.SIGKILL)
        run.wait()
    return code


def test_killed_between_commits_and_run_again_is_undisturbed(tmp_path: Path) -> None:
    corpus, settings = write_corpus(tmp_path / "corpus"), tiny_settings(tmp_path)
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    assert start(corpus, undisturbed, settings).wait() == DONE_IN_PART
    expected = list(dump(undisturbed))
    assert any('"table": "vectors_' in line for line in expected)

    moments = random.Random(20)
    kills = 0
    while kills < KILLS:
        run = start(corpus, disturbed, settings)
        code = kill_after(run, disturbed, moments.randint(1, 4), moments.uniform(0, 0.3))
        wait_until_empty(run.pid)
        if code is None:
            kills += 1
            continue
        assert code == DONE_IN_PART, disturbed.with_suffix(".log").read_text()
        assert list(dump(disturbed)) == expected
        shutil.rmtree(disturbed)
    assert start(corpus, disturbed, settings).wait() == DONE_IN_PART
    assert list(dump(disturbed)) == expected
