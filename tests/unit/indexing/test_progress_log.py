"""Progress on stderr: a bar for a person, lines for a log, stalls said, nothing left behind."""

import io
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from rag._cli import progress
from rag._cli.output import echo_stderr
from rag._cli.progress import CountProgress, ProgressDisplay, open_progress


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The time that the display sees, in its first item."""
    seen = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: seen[0]))
    return seen


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_lines_with_share_time_left_and_file(capsys, monkeypatch) -> None:
    said = threading.Event()

    def echoed(line: str) -> None:
        echo_stderr(line)
        said.set()

    monkeypatch.setattr(progress, "echo_stderr", echoed)
    with ProgressDisplay(interval=0.5) as watch:
        watch.start(100.0, 4)
        watch.file("talks/a\nb.mp4")
        watch.advance(25.0)
        assert said.wait(60)
        watch.note("bad.mp4: not a video; skipped")
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "bad.mp4: not a video; skipped"
    assert lines[0].startswith("[ 25%] file 1 of 4")
    assert lines[0].endswith(": talks/a\\nb.mp4")
    assert watch.printed == ["bad.mp4: not a video; skipped"]
    assert not any(thread.name == "rag-progress" for thread in threading.enumerate())


def test_a_stall_is_said_until_something_moves(now: list[float]) -> None:
    watch = ProgressDisplay()
    watch.start(100.0, 1)
    watch.done()
    watch.file("a.mp4")
    now[0] += progress.QUIET_SECONDS - 1
    assert "no progress" not in watch.line()
    now[0] += 2
    assert f"no progress for {progress.QUIET_SECONDS + 1:.0f} s" in watch.line()
    watch.advance(0.0)
    assert "no progress" in watch.line()
    watch.advance(1.0)
    assert "no progress" not in watch.line()


def test_a_person_gets_a_bar_with_notes_above_it(monkeypatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with open_progress() as watch:
        watch.start(60.0, 2)
        watch.file("[red]a\x1b.mp4")
        watch.advance(30.0)
        while "file 1 of 2" not in screen.getvalue():
            time.sleep(0.01)
        watch.note("bad\x1b[2J.mp4: not a video; skipped")
    shown = screen.getvalue()
    assert "bad\\x1b[2J.mp4: not a video; skipped" in shown
    assert "[ 50%] file 1 of 2: [red]a\\x1b.mp4" in shown
    assert "\x1b.mp4" not in shown
    assert watch.printed == ["bad\x1b[2J.mp4: not a video; skipped"]


def test_each_part_of_a_run_counts_its_own_work_and_files() -> None:
    """As `rag index --reembed`: all videos of the library first, then what is new in the folder."""
    with ProgressDisplay() as watch:
        watch.start(310.0, 1)
        watch.file("old.mp4")
        watch.advance(310.0)
        watch.start(102.0, 2)
        watch.file("new.mp4")
        watch.advance(51.0)
        watch.start(0.0, 0)
        assert watch.line().startswith("[ 50%] file 1 of 2: new.mp4")
        watch.status("shards in work: 2, done: 0 of 8")
        assert watch.line().endswith("file 1 of 2: shards in work: 2, done: 0 of 8")


def test_the_time_left_is_by_the_speed_after_the_models_are_loaded(now: list[float]) -> None:
    """Loading models takes 30 s, and a second of media a tenth of one."""
    display = ProgressDisplay()
    display.start(200.0, 12)
    display.done()  # no lines are printed
    for took in (31.0, 1.0, 1.0):
        now[0] += took
        display.advance(10.0)
    assert display.seconds_left() == pytest.approx((70 + 100) * 0.1)
    assert ", about 17 s left" in display.line()


def test_what_rounding_leaves_of_a_file_is_no_speed(now: list[float]) -> None:
    display = ProgressDisplay()
    display.start(800.0, 12)
    display.done()
    display.advance(9.0)
    now[0] += 8.0
    display.advance(1.0)
    assert display.seconds_left() is None


def test_queries_are_counted_with_the_time_left(now: list[float]) -> None:
    """The first answer opens what the others find open."""
    watch = CountProgress("toy: preparing its data")
    assert watch.line() == "toy: preparing its data"
    watch.update(0, 10, "localized, seed 0")
    shown = []
    for done, seconds in enumerate((30.0, 4.0, 4.0), 1):
        now[0] += seconds
        watch.update(done, 10, "localized, seed 0")
        shown.append(watch.line())
    watch.stop()
    assert shown[0] == "localized, seed 0: 1 of 10"
    assert shown[2] == "localized, seed 0: 3 of 10, about 28 s left"
