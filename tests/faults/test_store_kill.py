"""Read while it is written, killed at any instant and run again, a library is the undisturbed one."""

import contextlib
import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from rag.errors import LibraryBusy
from rag.store.database import Database
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump, maintained
from tests.fakes.stopped_runs import Stop, stop_after
from tests.fakes.store_material import META, TEXT, add_source, add_video, unit, video, video_path

KILLS = 4
WRITERS = 2


def whole_run(folder: Path) -> None:
    """What an indexing run does: videos, passages in parts, a removal, maintenance."""
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for n in range(1, 9):
            add_video(writer, n, clips=3)
            add_source(writer, n, count=6)
            if n % 4 == 0:
                writer.flush()
                writer.maintain()
        writer.begin_passages("source3")
        add_source(writer, 3, count=5)
        writer.remove_paths([video_path(2), "/corpus/texts/1.txt"])
        writer.maintain()


def run_again_and_again(folder: Path, started: Connection) -> None:
    import lancedb  # noqa: F401  # its seconds are no work that a kill could hit

    started.send("at work")
    while True:
        try:
            whole_run(folder)
        except LibraryBusy:
            time.sleep(0.01)


def test_kills_leave_no_trace(tmp_path) -> None:
    whole_run(tmp_path / "undisturbed")
    whole_run(tmp_path / "undisturbed")
    expected = list(dump(tmp_path / "undisturbed"))
    moments = random.Random(5)
    folder = tmp_path / "killed"
    # A fork of a process that has imported what takes seconds, but not lance, whose threads survive no fork.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lance_namespace", "pyarrow.dataset"])
    for _ in range(KILLS):
        children = []
        for _ in range(WRITERS):
            started, sender = context.Pipe(duplex=False)
            children.append(context.Process(target=run_again_and_again, args=(folder, sender)))
            children[-1].start()
            assert started.poll(120)
        while not Layout(folder).exists():
            time.sleep(0.01)
        until = time.monotonic() + moments.uniform(0.1, 1.0)
        while time.monotonic() < until:
            check_what_is_seen(folder)
        for child in children:
            assert child.is_alive(), "the child must be at work when it is killed"
            child.kill()
            child.join()
        check_what_is_seen(folder)
    whole_run(folder)
    assert list(dump(folder)) == expected
    assert maintained(folder)


def check_what_is_seen(folder: Path) -> None:
    """While it is written, and right after a kill: what a reader sees is whole, though it may be little."""
    with Reader.open(folder) as reader:
        if reader.meta is None:
            return
        for found in reader.videos():
            clips = reader.clips(found.video_id)
            assert len(clips) == 3
            assert len(reader.frames([clip.clip_id for clip in clips])) == 3
            assert len(reader.evidence(found.video_id, 0.0, 1e9)) == 3
        assert len(reader.search_passages(unit(1, TEXT.dim), 999)) == reader.stats().passages
        keys = [hit.key for hit in reader.match_passages("lamp", 999)]
        assert len(keys) == len(set(keys)) == reader.stats().passages


def short_run(writer: Writer) -> None:
    writer.set_meta(META)
    add_video(writer, 1)
    add_source(writer, 1)
    writer.flush()
    writer.remove_paths([video(1).path])
    add_video(writer, 2)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> list[str]:
    """The rows of a library after a short run that nothing stops."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with Writer.open(folder) as writer:
        short_run(writer)
        writer.maintain()
    return list(dump(folder))


def test_stopped_after_a_commit_of_a_run(tmp_path, monkeypatch, undisturbed: list[str]) -> None:
    """The same before every fifth commit; before which one first is another thing in each run."""
    commits, stopped = random.randrange(5), True
    while stopped:
        folder = tmp_path / str(commits)
        with monkeypatch.context() as patch:
            stop_after(patch, commits, Database)
            with contextlib.suppress(Stop), Writer.open(folder) as writer:
                short_run(writer)
                stopped = False
        with Writer.open(folder) as again:
            short_run(again)
            again.maintain()
        assert list(dump(folder)) == undisturbed, f"stopped after {commits} commits"
        commits += 5
    assert commits > 20
