"""The child that reads media: it may hang, crash, be killed or ignored, and nothing else suffers."""

import contextlib
import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from corpora.settings import ReadingSettings
from corpora.video.ipc import MediaProcess
from corpora.video.probe import probe_file
from corpora.video.reader import MediaReader
from rag.errors import DamagedFile, OverLimit, StalledFile, UnsupportedFile
from tests.fakes.synthetic import write_video

LONG = 900
"""Seconds."""


@pytest.fixture(scope="module")
def long_video(tmp_path_factory) -> Path:
    """A quarter of an hour, small."""
    path = tmp_path_factory.mktemp("long") / "long.mp4"
    write_video(path, LONG, fps=2, size=(96, 64), gop=60, bframes=0)
    return path


def count(reader: MediaReader, path: Path) -> int:
    return sum(len(batch.frames.times) for batch in reader.frames(str(path)))


def memory(pid: int, key: str = "VmRSS") -> int:
    """Bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(key)


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_until(what: str, done: object) -> None:
    assert callable(done)
    limit = time.monotonic() + 10
    while not done():
        assert time.monotonic() < limit, what
        time.sleep(0.02)


def test_nothing_starts_before_the_first_file_and_one_child_serves_all(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with MediaReader() as reader:
        assert reader.pids == ()
        reader.probe(str(tmp_path / "a.mp4"))
        first = reader.pids
        count(reader, tmp_path / "a.mp4")
        assert reader.pids == first
        assert len(first) == 1
    assert gone(first[0])


def test_a_hang_is_one_clear_line_and_the_next_file_is_read(tmp_path, long_video: Path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with MediaReader(stall_seconds=2.0) as reader:
        stream = reader.frames(str(long_video), short_side=32)
        next(stream)
        stuck = reader.pids[0]
        os.kill(stuck, signal.SIGSTOP)
        with pytest.raises(StalledFile, match=r"no progress for 2 s") as problem:
            list(stream)
        assert str(problem.value).startswith(str(long_video))
        assert gone(stuck)
        assert count(reader, tmp_path / "a.mp4") == 2


def test_a_call_that_is_busy_without_a_sign_ends(tmp_path, monkeypatch) -> None:
    """After ten stall limits, with work of every moment: any shorter one may be a library at work."""
    (tmp_path / "endless.py").write_text("def spin(path):\n    while True:\n        pass\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    spin = importlib.import_module("endless").spin
    begun = time.monotonic()
    with contextlib.closing(MediaProcess(0.4, ReadingSettings())) as process:
        with pytest.raises(OverLimit, match="no progress"):
            list(process.ask(spin, str(tmp_path)))
        assert time.monotonic() - begun > 4
        assert process.pid is None


def test_a_crash_is_one_clear_line_and_the_next_file_is_read(tmp_path, long_video: Path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with MediaReader() as reader:
        stream = reader.frames(str(long_video))
        next(stream)
        os.kill(reader.pids[0], signal.SIGSEGV)
        with pytest.raises(StalledFile, match="SIGSEGV"):
            list(stream)
        assert count(reader, tmp_path / "a.mp4") == 2


def test_a_child_that_died_between_two_files_is_not_noticed(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with MediaReader() as reader:
        assert count(reader, tmp_path / "a.mp4") == 2
        dead = reader.pids[0]
        os.kill(dead, signal.SIGKILL)
        wait_until("the child is dead", lambda: gone(dead))
        assert count(reader, tmp_path / "a.mp4") == 2


def test_slow_is_not_stalled(long_video: Path) -> None:
    with MediaReader(stall_seconds=2.0) as reader:
        stream = reader.frames(str(long_video))
        child = reader.pids
        batches = [next(stream)]
        # The consumer is slow, and the child waits for it: that is no stall.
        time.sleep(4.0)
        batches += [next(stream) for _ in range(3)]
        assert reader.pids == child
        assert batches[-1].frames.times[-1] > batches[0].frames.times[-1]
        stream.close()


def test_a_reader_that_stops_early_does_not_wait(long_video: Path) -> None:
    with MediaReader() as reader:
        stream = reader.frames(str(long_video))
        next(stream)
        stream.close()
        assert reader.pids == ()
        assert reader.probe(str(long_video)).duration == pytest.approx(LONG, abs=2)


def test_a_failing_reader_is_a_problem_of_its_file_and_the_next_one_is_read(long_video: Path) -> None:
    with contextlib.closing(MediaProcess(60.0, ReadingSettings())) as process:
        with pytest.raises(DamagedFile, match=r"a\.txt: its reader failed: ") as found:
            list(process.ask(len, "a.txt", of="one argument too many"))
        assert "Traceback" in str(found.value.__cause__)
        assert list(process.ask(probe_file, str(long_video)))


def test_a_forgotten_reader_ends_its_child(long_video: Path) -> None:
    reader = MediaReader()
    reader.probe(str(long_video))
    (child,) = reader.pids
    del reader
    gc.collect()
    assert not Path(f"/proc/{child}").exists()


def test_the_next_file_ends_the_one_before_and_says_so(long_video: Path) -> None:
    with MediaReader() as reader:
        stream = reader.frames(str(long_video))
        next(stream)
        reader.probe(str(long_video))
        with pytest.raises(RuntimeError, match="another file"):
            next(stream)
        with pytest.raises(RuntimeError, match="all batches"):
            _ = stream.report


def test_the_child_lives_on_when_the_thread_that_started_it_ends(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1)
    with MediaReader() as reader:
        thread = threading.Thread(target=reader.probe, args=(str(tmp_path / "a.mp4"),))
        thread.start()
        thread.join()
        child = reader.pids
        time.sleep(0.2)
        assert count(reader, tmp_path / "a.mp4") == 2
        assert reader.pids == child


def test_the_child_dies_with_its_parent(long_video: Path) -> None:
    code = (
        "import sys, time\n"
        "from corpora.video.reader import MediaReader\n"
        "reader = MediaReader()\n"
        "stream = reader.frames(sys.argv[1])\n"
        "next(stream)\n"
        "print(reader.pids[0], flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(long_video)], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until("the child is gone", lambda: gone(child))
    assert gone(child)


def test_nothing_is_printed(tmp_path) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"\0\0\0\x20ftypisom" + os.urandom(5000))
    code = (
        "import sys\n"
        "from corpora.video.reader import MediaReader\n"
        "from rag.errors import FileProblem\n"
        "with MediaReader() as reader:\n"
        "    try:\n"
        "        reader.probe(sys.argv[1])\n"
        "    except FileProblem:\n"
        "        pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bad.mp4")], capture_output=True, check=True
    )
    assert done.stdout == done.stderr == b""


def test_memory_is_flat_over_a_long_video(long_video: Path) -> None:
    with MediaReader() as reader:
        levels = [0, 0]
        sizes = []
        for number, batch in enumerate(reader.frames(str(long_video), keyframe_side=64)):
            sizes.append(batch.frames.images.nbytes)
            if number in (10, 50):
                levels[number > 10] = memory(reader.pids[0])
        assert levels[1] - levels[0] < 4 * 2**20
        assert len(sizes) > 50


def test_memory_is_flat_over_many_files(tmp_path) -> None:
    write_video(tmp_path / "a.mp4", 1, audio=True)
    with MediaReader() as reader:
        levels = []
        for number in range(30):
            count(reader, tmp_path / "a.mp4")
            np.concatenate(list(reader.audio(str(tmp_path / "a.mp4"))))
            if number in (10, 29):
                levels.append(memory(reader.pids[0]))
        assert levels[1] - levels[0] < 8 * 2**20


def test_gigantic_images_are_refused(tmp_path) -> None:
    path = tmp_path / "a.gif"
    write_video(path, 1)
    data = bytearray(path.read_bytes())
    with MediaReader() as reader:
        for width, height, error in ((20000, 120, UnsupportedFile), (60000, 40000, DamagedFile)):
            data[6:10] = width.to_bytes(2, "little") + height.to_bytes(2, "little")
            path.write_bytes(data)
            with pytest.raises(error, match=r"20000x120|no size"):
                reader.probe(str(path))
        assert memory(reader.pids[0], "VmHWM") < 2**30
