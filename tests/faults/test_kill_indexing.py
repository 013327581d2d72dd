"""`kill -9` at twenty random moments, and running again, gives the library of an undisturbed run."""

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

KILLS = 20
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


def test_killed_at_random_moments_and_run_again_is_undisturbed(tmp_path: Path) -> None:
    corpus, settings = write_corpus(tmp_path / "corpus"), tiny_settings(tmp_path)
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    begun = time.monotonic()
    assert start(corpus, undisturbed, settings).wait() == DONE_IN_PART
    length = time.monotonic() - begun
    expected = list(dump(undisturbed))
    assert any('"table": "vectors_' in line for line in expected)

    moments = random.Random(20)
    kills = 0
    while kills < KILLS:
        fresh = not disturbed.exists()
        begun = time.monotonic()
        run = start(corpus, disturbed, settings)
        try:
            # The first part of a run is imports; most kills belong where rows are written.
            code: int | None = run.wait(timeout=length * moments.uniform(0.25, 0.95))
        except subprocess.TimeoutExpired:
            code = None
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
        wait_until_empty(run.pid)
        if code is not None:
            assert code == DONE_IN_PART, disturbed.with_suffix(".log").read_text()
            assert list(dump(disturbed)) == expected
            shutil.rmtree(disturbed)
            if fresh:
                # The machine has become faster: with the old length no kill would ever come in time.
                length = time.monotonic() - begun
    assert start(corpus, disturbed, settings).wait() == DONE_IN_PART
    assert list(dump(disturbed)) == expected
