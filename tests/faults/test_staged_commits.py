"""Staged contents reach the library once and whole, whatever is killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from corpora.records import Problem
from corpora.scan import FoundFile, Scan
from rag.errors import ChangedFile, UnreadableFile, WorkerLost
from rag.indexing.committing import Committer
from rag.indexing.outcomes import Done, FileOutcomes, IndexingStats
from rag.indexing.planning import Group, make_plan, row_of
from rag.indexing.report import Silent
from rag.indexing.staging import Stager
from rag.settings import Settings
from rag.store.bundles import Bundle, BundleHead, BundleInvalid, BundleWriter, read_bundle
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import DEVICES, Meta
from rag.store.staging import FolderObjects, Staging
from rag.store.tables import VideoWriter
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.stopped_runs import COMMITS, Stop, stop_after
from tests.fakes.store_material import META as MADE_WITH
from tests.fakes.store_material import TEXT, add_source, clip_frames, passages, spans, unit, video

META = replace(MADE_WITH, settings={**MADE_WITH.settings, DEVICES: ["cpu"]})
GROUP = 3
KILLS = 3
BAD = Problem("/corpus/bad.mp4", "not a video")
DAMAGED = Problem("/corpus/part1/video5.mp4", "lost 3 s of it", "indexed 57 s of it")


def found(path: str, kind: str = "video", changed: int = 3) -> FoundFile:
    return FoundFile(path, "passages" if kind == "passages" else "video", 1, 2, changed, (), f"stamp {path}")


def write_video(writer: VideoWriter, n: int, sidecars: str = "") -> None:
    made = video(n)
    writer.begin_video(made)
    writer.add_clips([clip_frames(n, 0), clip_frames(n, 1)])
    texts = spans(n, 2 if sidecars else 3)
    writer.put_evidence(made.video_id, texts, unit(n, len(texts), TEXT.dim))
    writer.finish_video(made, {"frames": "1", "sidecars": sidecars})


def of_video(n: int, sidecars: str = "", **head: object) -> Bundle:
    writer = BundleWriter(META)
    write_video(writer, n, sidecars)
    made = BundleHead(video(n).video_id, (found(video(n).path),), "cpu")
    return writer.bundle(replace(made, **head))  # type: ignore[arg-type]  # any field


def of_document(n: int) -> Bundle:
    writer = BundleWriter(META)
    writer.add_passages(f"source{n}", passages(n), unit(5000 + n, 4, TEXT.dim))
    return writer.bundle(BundleHead(f"source{n}", (found(f"/corpus/texts/{n}.txt", "passages"),), "cpu"))


def stage_all(folder: Path, meta: Meta = META) -> Staging:
    """Five videos, one under two paths and one damaged, two documents and a file that is no video."""
    staging = open_staging(folder, meta)
    for n in range(1, 5):
        staging.put(of_video(n))
    staging.put(of_video(5, reason=DAMAGED.reason, action=DAMAGED.action))
    for n in (1, 2):
        staging.put(of_document(n))
    second = Group(video(1).video_id, (found("/corpus/again.mp4"),), (), ())
    assert staging.missing([second, Group("new", (), (), ())]) == [Group("new", (), (), ())]
    sink = Stager(staging, meta, "cpu", {})
    sink.skip_file(Group("0bad", (found(BAD.path),), (), ()), UnreadableFile(BAD.reason))
    return staging


def open_staging(folder: Path, meta: Meta = META) -> Staging:
    return Staging(FolderObjects(Layout(folder).staging), meta, {"ocr": "on"})


def make_library(folder: Path) -> None:
    with Writer.open(folder) as writer:
        writer.set_meta(META)


def commit(folder: Path) -> IndexingStats:
    with Writer.open(folder) as writer:
        outcomes = FileOutcomes(writer, Silent())
        Committer(writer, open_staging(folder), outcomes, group=GROUP).close()
        writer.drop_unfinished()
        writer.maintain()
    return outcomes.stats


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The same rows, written without bundles."""
    folder = tmp_path_factory.mktemp("expected")
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for n in range(1, 6):
            write_video(writer, n)
            writer.put_file(row_of(found(video(n).path), video(n).video_id))
        writer.put_file(row_of(found("/corpus/again.mp4"), video(1).video_id))
        for n in (1, 2):
            add_source(writer, n)
        for problem in (BAD, DAMAGED):
            writer.put_problem(problem, f"stamp {problem.path}")
        writer.maintain()
    return list(dump(folder))


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged")
    make_library(folder)
    stage_all(folder)
    return folder


def staged_files(folder: Path) -> list[Path]:
    return [path for path in Layout(folder).staging.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_stopped_after_each_commit_of_a_group(
    tmp_path: Path, staged: Path, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = 0
    while True:
        folder = tmp_path / str(stops)
        shutil.copytree(staged, folder)
        stopped = False
        writer = Writer.open(folder)
        stop_after(monkeypatch, stops, writer._db, COMMITS, FolderObjects)
        try:
            outcomes = FileOutcomes(writer, Silent())
            Committer(writer, open_staging(folder), outcomes, group=GROUP).close()
        except Stop:
            stopped = True
        monkeypatch.undo()
        writer._lock.release() if stopped else writer.close()
        commit(folder)
        assert list(dump(folder)) == expected, stops
        assert staged_files(folder) == []
        if not stopped:
            break
        shutil.rmtree(folder)
        stops += 1
    assert stops >= 3 * 8


def commit_after_import(folder: Path, started: Connection) -> None:
    import lancedb  # noqa: F401  # its seconds are no work that a kill could hit

    started.send("at work")
    commit(folder)


@pytest.mark.slow
def test_kills_lose_nothing(tmp_path: Path, staged: Path, expected: list[str]) -> None:
    folder = tmp_path / "library"
    shutil.copytree(staged, folder)
    moments = random.Random(7)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lance_namespace", "pandas", "pyarrow.dataset"])
    killed = 0
    for _ in range(KILLS):
        started, sender = context.Pipe(duplex=False)
        child = context.Process(target=commit_after_import, args=(folder, sender))
        child.start()
        assert started.poll(120)
        time.sleep(moments.uniform(0.0, 0.25))
        killed += child.is_alive()
        child.kill()
        child.join()
    assert killed
    commit(folder)
    assert list(dump(folder)) == expected
    assert staged_files(folder) == []


def test_of_two_that_stage_a_content_one_is_the_first(tmp_path: Path) -> None:
    make_library(tmp_path)
    staging = open_staging(tmp_path)
    assert staging.put(of_video(1))
    assert not staging.put(of_video(1))
    other = of_video(1, files=(found("/other/shard.mp4"),))
    assert staging.put(other)
    stats = commit(tmp_path)
    assert (stats.indexed, stats.moved) == (1, 1)
    with Reader.open(tmp_path) as reader:
        assert reader.paths(video(1).video_id) == ("/corpus/part1/video1.mp4", "/other/shard.mp4")
        assert reader.stats().clips == 2


def test_bundles_that_cannot_be_committed(tmp_path: Path) -> None:
    """One that is cut is removed and named; one for other encoders stays and is counted."""
    make_library(tmp_path)
    staging = open_staging(tmp_path)
    staging.put(of_video(1))
    staging.put(of_video(2))
    cut = next(path for path in staged_files(tmp_path) if video(2).video_id in path.name)
    cut.write_bytes(cut.read_bytes()[:-100])
    open_staging(tmp_path, replace(META, settings={"video.rate": 1.0})).put(of_video(3))
    stats = commit(tmp_path)
    assert stats.indexed == 1
    (problem,) = stats.problems
    assert cut.name in problem.path
    assert "removed" in problem.action
    (line,) = stats.stages
    assert "1 staged contents were made with other encoders" in line
    (left,) = staged_files(tmp_path)
    assert video(3).video_id in left.name


def test_no_bit_of_a_bundle_may_differ() -> None:
    whole = of_video(1).to_bytes()
    assert read_bundle(whole).head == of_video(1).head
    for at in range(0, len(whole), 31):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        with pytest.raises(BundleInvalid):
            read_bundle(bytes(damaged))


def test_what_the_library_learnt_meanwhile_is_kept(tmp_path: Path) -> None:
    """A path with a newer file, and a content that was indexed again with other subtitles."""
    make_library(tmp_path)
    with Writer.open(tmp_path) as writer:
        for n, sidecars in ((1, ""), (2, "first"), (3, "second")):
            write_video(writer, n, sidecars)
            writer.put_file(row_of(found(video(n).path, changed=9), video(n).video_id))
    staging = open_staging(tmp_path)
    staging.put(of_video(4, files=(found(video(1).path, changed=8),)))
    staging.put(of_video(2, "new", replaces="first"))
    staging.put(of_video(3, "new", replaces="first"))
    stats = commit(tmp_path)
    assert stats.indexed == 1
    with Writer.open(tmp_path) as writer:
        held = {key: stages["sidecars"] for key, stages in writer.stage_fingerprints().items()}
        assert held == {video(1).video_id: "", video(2).video_id: "new", video(3).video_id: "second"}
        assert {row.content_id for row in writer.files().values()} == held.keys()


def test_an_object_that_was_not_fetched_leaves_what_the_library_has(tmp_path: Path) -> None:
    path = "s3://bucket/video.mp4"
    with Writer.open(tmp_path) as writer:
        writer.set_meta(META)
        write_video(writer, 1)
        writer.put_file(row_of(found(path), video(1).video_id))
    sink = Stager(open_staging(tmp_path), META, "cpu", {})
    sink.skip_file(Group("", (found(path, changed=9),), (), ()), ChangedFile(path))
    commit(tmp_path)
    with Writer.open(tmp_path) as writer:
        assert {row.path: row.content_id for row in writer.files().values()} == {path: video(1).video_id}
        assert "it changed while it was read" in writer.problems()[path][0].reason


def test_a_file_whose_workers_died_leaves_what_the_library_has(tmp_path: Path) -> None:
    path = "/corpus/video.mp4"
    with Writer.open(tmp_path) as writer:
        writer.set_meta(META)
        write_video(writer, 1)
        writer.put_file(row_of(found(path), video(1).video_id))
        outcomes = FileOutcomes(writer, Silent())
        outcomes.skip_file(Group("", (found(path, changed=9),), (), ()), WorkerLost(f"{path}: they died"))
        assert {row.path: row.content_id for row in writer.files().values()} == {path: video(1).video_id}
        assert writer.problems()[path][0].reason == "they died"
        assert outcomes.stats.deferred == {path}


def test_what_a_damaged_file_lost_is_known_as_long_as_it_has_that_content(tmp_path: Path) -> None:
    """Also when the file is only touched; not when it holds something else."""
    path = DAMAGED.path
    with Writer.open(tmp_path) as writer:
        writer.set_meta(META)
        write_video(writer, 5)
        write_video(writer, 1)
        outcomes = FileOutcomes(writer, Silent())
        held = Group(video(5).video_id, (found(path),), (found(path),), ())
        outcomes.finish(held, Done(2, 0, 57.0, DAMAGED.reason, DAMAGED.action))
        touched = replace(found(path, changed=9), stamp="later")
        plan = make_plan(Scan((touched,), (), 0), [], writer, Settings(), lambda _: held.content_id)
        assert (plan.problems, [group.fresh for group in plan.known]) == ([DAMAGED], [(touched,)])
        outcomes.publish(*plan.known)
        assert writer.problem(path) == (DAMAGED, "later")
        outcomes.finish(replace(held, fresh=(touched,)), Done(2, 0, 60.0))
        assert writer.problem(path) is None


def test_rows_of_a_bundle_are_written_once() -> None:
    writer = BundleWriter(META)
    writer.begin_video(video(1))
    writer.add_clips([clip_frames(1, 0)])
    with pytest.raises(ValueError, match="rows of a bundle are written once: clips"):
        writer.add_clips([clip_frames(1, 0)])


@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 1)])
def test_of_a_file_that_was_staged_before_and_after_a_change_the_later_counts(
    tmp_path: Path, old: int, new: int
) -> None:
    make_library(tmp_path)
    staging = open_staging(tmp_path)
    for n, changed in ((old, 3), (new, 9)):
        staging.put(of_video(n, files=(found("/corpus/a.mp4", changed=changed),)))
    assert commit(tmp_path).indexed == 1
    with Writer.open(tmp_path) as writer:
        assert writer.files()["/corpus/a.mp4"].content_id == video(new).video_id
        assert set(writer.stage_fingerprints()) == {video(new).video_id}


def test_a_second_attempt_that_could_read_an_object_counts(tmp_path: Path) -> None:
    path = "s3://bucket/video.mp4"
    make_library(tmp_path)
    staging = open_staging(tmp_path)
    Stager(staging, META, "cpu", {}).skip_file(Group("", (found(path),), (), ()), ChangedFile(path))
    staging.put(of_video(1, files=(found(path),)))
    stats = commit(tmp_path)
    assert (stats.indexed, stats.problems) == (1, [])


def test_a_bad_file_that_was_staged_with_two_settings_is_reported_once(tmp_path: Path) -> None:
    make_library(tmp_path)
    objects = FolderObjects(Layout(tmp_path).staging)
    for ocr in ("on", "off"):
        sink = Stager(Staging(objects, META, {"ocr": ocr}), META, "cpu", {})
        sink.skip_file(Group("0bad", (found(BAD.path),), (), ()), UnreadableFile(BAD.reason))
    assert len(staged_files(tmp_path)) == 2
    assert commit(tmp_path).problems == [BAD]


def test_a_library_names_the_processors_of_all_its_runs(tmp_path: Path) -> None:
    make_library(tmp_path)
    for n, device in ((1, "cpu"), (2, "cuda B")):
        open_staging(tmp_path).put(of_video(n, device=device))
        commit(tmp_path)
    with Writer.open(tmp_path) as writer:
        assert writer.meta is not None
        assert writer.meta.settings[DEVICES] == ["cpu", "cuda B"]
    assert open_staging(tmp_path, writer.meta).waiting() == []


@pytest.mark.parametrize("order", [("on", "off"), ("off", "on")])
def test_of_a_content_staged_with_two_settings_the_last_is_committed(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    make_library(tmp_path)
    objects = FolderObjects(Layout(tmp_path).staging)
    for age, ocr in enumerate(order):
        Staging(objects, META, {"ocr": ocr}).put(of_video(1, "" if ocr == "on" else "fewer"))
        for path in staged_files(tmp_path):
            earlier = path.stat().st_mtime - 100 * (age == 0)
            os.utime(path, (earlier, earlier))
    stray = Layout(tmp_path).staging / "notes.txt"
    for path in (stray, staged_files(tmp_path)[0].parent / "notes.txt", stray.with_name(".notes")):
        path.write_text("a user's own")
        os.utime(path, (1, 1))
    stats = commit(tmp_path)
    assert (stats.indexed, stats.problems, stats.stages) == (1, [], [])
    with Reader.open(tmp_path) as reader:
        assert len(reader.evidence(video(1).video_id, 0.0, 99.0)) == (3 if order[1] == "on" else 2)
    assert len(staged_files(tmp_path)) == 3
