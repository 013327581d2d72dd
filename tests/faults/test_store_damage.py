"""A damaged table, a full disk, a folder that cannot be written: one clear line, and nothing lost."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag.errors import LibraryCorrupt, LibraryError, LibraryFull, LibraryReadOnly, StoreError
from rag.store.checking import check_files_of
from rag.store.damage import damaged_file
from rag.store.database import Database
from rag.store.error_mapping import read_errors, write_errors
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.repair import repair
from rag.store.sums import index_folders, manifest_name, row_files
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.stopped_runs import COMMITS, Stop, stop_after
from tests.fakes.store_material import (
    META,
    TEXT,
    add_video,
    clip_frames,
    fill,
    unit,
    video,
    video_path,
    write,
)

ROOT = Path(__file__).parents[2]


def use_all(folder: Path) -> None:
    with Reader.open(folder) as reader:
        found = reader.search_clips(unit(1, 16), 99)
        reader.frames([hit.key for hit in found])
        reader.clips(video(1).video_id)
        reader.search_passages(unit(1, TEXT.dim), 9)
        reader.spans([hit.key for hit in reader.search_evidence(unit(1, TEXT.dim), 9)])
        reader.match_evidence("number", 9)
        reader.problems()


TABLES = ("meta", "videos", "files", "clips", "evidence", "passages", f"vectors_{'f' * 24}")


@pytest.mark.parametrize("damage", ["garbage", "empty", "missing"])
@pytest.mark.parametrize("table", TABLES)
def test_damaged_data_names_its_table_and_the_remedy(tmp_path: Path, table: str, damage: str) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    for path in (Layout(tmp_path / "lib").table(table) / "data").iterdir():
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes(os.urandom(path.stat().st_size) if damage == "garbage" else b"")
    advice = f"rag doctor --repair --library {tmp_path}/lib$"
    with pytest.raises(LibraryCorrupt, match=f"table {table} cannot be read .*{advice}") as caught:
        use_all(tmp_path / "lib")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_manifest_names_its_table(tmp_path: Path, table: str) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    for path in (Layout(tmp_path / "lib").table(table) / "_versions").glob("*.manifest"):
        path.write_bytes(b"\0" * 100)
    with pytest.raises(LibraryCorrupt, match=f"table {table} cannot be read"):
        use_all(tmp_path / "lib")
    if table in {"meta", "videos", "files", "passages"}:
        with pytest.raises(LibraryCorrupt, match=f"table {table} cannot be read"):
            Writer.open(tmp_path / "lib")


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_gone_is_missed(tmp_path: Path, table: str) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    shutil.rmtree(Layout(tmp_path / "lib").table(table))
    with pytest.raises(LibraryCorrupt, match=f"table {table} cannot be read"):
        Writer.open(tmp_path / "lib")
    with pytest.raises(LibraryCorrupt):
        Reader.open(tmp_path / "lib")


@pytest.mark.parametrize("damage", ["zeroed", "missing", "a byte"])
@pytest.mark.parametrize("column", ["words", "video_id"])
def test_a_damaged_index_is_named_and_made_again(tmp_path: Path, column: str, damage: str) -> None:
    """Each file of it. Keys are looked up without their index; words are not searched."""
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=())
    with Writer.open(layout.folder) as writer:
        writer.maintain(exact_rows=1)
    expected = list(dump(layout.folder))
    kept = tmp_path / "kept"
    shutil.copytree(layout.folder, kept)
    (folder,) = index_folders(layout.dataset("evidence"))[column]
    for name in [path.name for path in (layout.table("evidence") / folder).iterdir()]:
        path = layout.table("evidence") / folder / name
        content = path.read_bytes()
        if damage == "missing":
            path.unlink()
        else:
            middle = b"\0" * 50 if damage == "zeroed" else bytes([content[len(content) // 2] ^ 1])
            at = (len(content) - len(middle)) // 2 if damage == "zeroed" else len(content) // 2
            path.write_bytes(content[:at] + middle + content[at + len(middle) :])
        health = check_files_of(layout)
        check = f"{'full text' if column == 'words' else 'keys'} of evidence"
        assert list(health.faults) == [check]
        assert name in health.faults[check]
        with Reader.open(layout.folder) as reader:
            if column == "words":
                with pytest.raises(
                    LibraryCorrupt, match=r"an index of table evidence .* made again by the next"
                ):
                    reader.match_evidence("number", 3)
            else:
                assert len(reader.evidence(video(1).video_id, 0, 99)) == 3
        assert damaged_file(layout.folder)
        with Writer.open(layout.folder) as writer:
            assert f"index of {column} in table evidence" in writer.check_files(exact_rows=1)[0]
        assert check_files_of(layout).faults == {}
        assert damaged_file(layout.folder) == ""
        assert list(dump(layout.folder)) == expected
        shutil.rmtree(layout.folder)
        shutil.copytree(kept, layout.folder)


def test_a_flipped_byte_of_rows_is_not_copied_by_compaction(tmp_path: Path) -> None:
    """Lance reads it without an error. The writer that is at work when it happens does not hide it."""
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=())
    with Writer.open(layout.folder) as writer:
        add_video(writer, 2)
        path = layout.table("evidence") / row_files(layout.dataset("evidence").get_fragments()[0])[0]
        content = path.read_bytes()
        path.write_bytes(content.replace(b"number 1", b"number 7", 1))
        with pytest.raises(LibraryCorrupt, match=f"{path.name}: is not as it was written"):
            writer.maintain()
    with pytest.raises(LibraryCorrupt, match="rag doctor --repair"):
        Reader.open(layout.folder)


@pytest.mark.parametrize("damage", ["a byte", "missing"])
@pytest.mark.parametrize("table", ["meta", "videos", "evidence"])
def test_a_lost_manifest_is_restored_from_its_copy(tmp_path: Path, table: str, damage: str) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1,))
    expected = list(dump(layout.folder))
    (path,) = (layout.table(table) / "_versions").glob("*.manifest")
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-40] + b"\1" + path.read_bytes()[-39:])
    assert f"table {table}" in check_files_of(layout).faults
    with pytest.raises(LibraryCorrupt, match="rag doctor --repair"):
        Reader.open(layout.folder)
    done = repair(layout.folder, confirm=refuse)
    assert done.restored == [f"{table}.lance/_versions/{path.name}"]
    assert done.again == done.lost == done.damaged == []
    assert list(dump(layout.folder)) == expected
    assert check_files_of(layout).faults == {}


@pytest.mark.parametrize("table", ["meta", "clips"])
def test_an_old_version_that_cannot_be_read_is_removed(tmp_path: Path, table: str) -> None:
    """Beside it Lance cleans nothing away, and each run that writes would fail at its end."""
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1,))
    expected = list(dump(layout.folder))
    layout.table(table).joinpath(manifest_name(1)).write_bytes(b"no manifest at all")
    with pytest.raises(LibraryCorrupt, match="rag doctor --repair"), Writer.open(layout.folder) as writer:
        writer.maintain()
    done = repair(layout.folder, confirm=refuse)
    assert done.made_again == [f"removed an old version of table {table} that could not be read"]
    with Writer.open(layout.folder) as writer:
        writer.maintain()
    assert list(dump(layout.folder)) == expected


def refuse(lines: Sequence[str]) -> bool:
    raise AssertionError(lines)


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("table", ["clips", "evidence", "passages", f"vectors_{'f' * 24}"])
def test_rows_whose_files_are_there_are_marked_and_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, readable: bool
) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=(1, 2))
    path = layout.table(table) / row_files(layout.dataset(table).get_fragments()[0])[0]
    content = bytearray(path.read_bytes())
    at = 8 if readable else len(content) - 30
    content[at : at + 30] = bytes([content[at] ^ 1, *content[at + 1 : at + 30]]) if readable else bytes(30)
    path.write_bytes(content)
    there = {video_path(1), "/corpus/texts/1.txt"}
    monkeypatch.setattr("rag.store.repair.os.path.exists", there.__contains__)
    done = repair(layout.folder, confirm=refuse)
    kind = "/corpus/texts/{}.txt" if table == "passages" else "/corpus/part{}/video{}.mp4"
    assert done.again == [kind.format(1, 1)]
    assert done.damaged == [kind.format(*((2,) if table == "passages" else (0, 2)))]
    assert check_files_of(layout).faults == {}
    with Reader.open(layout.folder) as reader:
        assert [problem.path for problem in reader.problems()] == done.damaged
        if table == "passages":
            assert reader.passage_files() == ["/corpus/texts/2.txt"]
            assert len(reader.match_passages("lamp", 99)) == (4 if readable else 0)
        else:
            assert [each.video_id for each in reader.videos()] == [video(2).video_id]
            assert len(reader.clips(video(2).video_id)) == (0 if table == "clips" and not readable else 2)


def test_passages_whose_owner_is_damaged_are_indexed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1, 2))
    dataset = layout.dataset("passages")
    owner = dataset.to_table(["source_id"])["source_id"][0].as_py()
    path = layout.table("passages") / row_files(dataset.get_fragments()[0])[0]
    content = path.read_bytes()
    assert owner.encode() in content
    path.write_bytes(content.replace(owner.encode(), owner.swapcase().encode()))
    monkeypatch.setattr("rag.store.repair.os.path.exists", lambda _: True)
    done = repair(layout.folder, confirm=refuse)
    assert done.again == ["/corpus/texts/1.txt", "/corpus/texts/2.txt"]
    with Reader.open(layout.folder) as reader:
        assert reader.passage_files() == []


@pytest.mark.parametrize("table", ["videos", "clips", "passages"])
def test_a_stopped_repair_of_a_lost_table_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """At whichever commit: in the end the library is that of a repair that was not stopped."""
    there = {video_path(1), "/corpus/texts/1.txt"}
    monkeypatch.setattr("rag.store.repair.os.path.exists", there.__contains__)
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=(1, 2))
    shutil.rmtree(layout.table(table))
    layout.sums.joinpath(f"{table}.json").unlink()
    shutil.copytree(layout.folder, tmp_path / "kept")

    def repaired() -> list[str]:
        repair(layout.folder, confirm=lambda _: True)
        with Writer.open(layout.folder):
            assert check_files_of(layout).faults == {}
        return list(dump(layout.folder))

    expected, stopped, count = repaired(), True, -1
    while stopped:
        count += 1
        shutil.rmtree(layout.folder)
        shutil.copytree(tmp_path / "kept", layout.folder)
        with monkeypatch.context() as patch:
            stop_after(patch, count, Database, (*COMMITS, "drop"))
            try:
                repair(layout.folder, confirm=lambda _: True)
                stopped = False
            except Stop:
                pass
        assert repaired() == expected, f"stopped after {count} commits"
    assert count > 1


def test_a_row_of_a_video_that_is_not_named_as_it_was_does_not_stay(tmp_path: Path) -> None:
    layout, known = Layout(tmp_path / "lib"), {video(1).video_id}
    fill(layout.folder, videos=(1,), sources=())
    (fragment,) = layout.dataset("evidence").get_fragments()
    path = layout.table("evidence") / row_files(fragment)[0]
    content = path.read_bytes()

    def named() -> set[str]:
        return set(layout.dataset("evidence").to_table(["video_id"])["video_id"].to_pylist())

    for found in re.finditer(video(1).video_id.encode(), content):  # in one column or another
        path.write_bytes(content[: found.start()] + b"\x17" + content[found.start() + 1 :])
        if named() != known:
            break
    assert named() != known
    repair(layout.folder, confirm=refuse)
    assert named() <= known


def test_a_path_that_may_be_damaged_is_said_where_no_file_is_there(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1,))
    for fragment in layout.dataset("files").get_fragments():
        path = layout.table("files") / row_files(fragment)[0]
        path.write_bytes(path.read_bytes().replace(b"/texts/1", b"/texts/7"))
    done = repair(layout.folder, confirm=refuse)
    assert "/corpus/texts/7.txt" in done.damaged
    with Reader.open(layout.folder) as reader:
        assert [problem.path for problem in reader.problems()] == done.damaged


def test_objects_that_are_gone_keep_what_can_be_read(
    tmp_path: Path, bucket: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, addresses = Layout(tmp_path / "lib"), [f"{bucket.url}/{n}.mp4" for n in (1, 2)]
    monkeypatch.setattr("tests.fakes.store_material.video_path", lambda n: addresses[n - 1])
    write(layout.folder, videos=(1, 2), sources=())
    bucket.open().put("1.mp4", b"video")
    path = layout.table("clips") / row_files(layout.dataset("clips").get_fragments()[0])[0]
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    bucket.intercept = lambda _: 503
    down = bucket.storage.model_copy(update={"retries": 0})
    with pytest.raises(StoreError):
        repair(layout.folder, confirm=refuse, storage=down)
    bucket.intercept = lambda _: None
    done = repair(layout.folder, confirm=refuse, storage=bucket.storage)
    assert (done.again, done.damaged) == (addresses[:1], addresses[1:])
    with Reader.open(layout.folder) as reader:
        assert [each.path for each in reader.videos()] == addresses[1:]


def test_a_writer_that_failed_to_open_leaves_the_library_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    manifests = list((Layout(tmp_path / "lib").table("videos") / "_versions").iterdir())
    held = [path.read_bytes() for path in manifests]
    for path in manifests:
        path.write_bytes(b"")
    with pytest.raises(LibraryCorrupt):
        Writer.open(tmp_path / "lib")
    for path, data in zip(manifests, held, strict=True):
        path.write_bytes(data)
    with Writer.open(tmp_path / "lib") as writer:
        assert list(writer.stage_fingerprints()) == [video(1).video_id]


FILL_UP = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from rag.store.writing import Writer
from rag.errors import LibraryFull
from tests.fakes.store_material import add_video
import lance, lancedb
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for folder in sys.argv[2:]:
    try:
        with Writer.open(Path(folder)) as writer:
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(Path(folder).name), resource.RLIM_INFINITY))
            add_video(writer, 2, clips=3)
            writer.flush()
            writer.maintain()
        print("it has room")
    except LibraryFull as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def test_a_full_disk_is_said_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """No file may grow past the bytes that name a library: a full disk, without filling one."""
    libraries = [tmp_path / room for room in ("1500", "2400", "3000")]
    for library in libraries:
        fill(library, videos=(1,), sources=())
    command = [sys.executable, "-c", FILL_UP, str(ROOT), *map(str, libraries)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(libraries)
    assert all("full" in line for line in lines), lines
    for library in libraries:
        with Reader.open(library) as reader:
            assert reader.video(video(1).video_id) == video(1)
    for folder in (tmp_path / "undisturbed", *libraries):
        with Writer.open(folder) as writer:
            writer.set_meta(META)
            add_video(writer, 1)
            add_video(writer, 2, clips=3)
            writer.maintain()
    expected = list(dump(tmp_path / "undisturbed"))
    for library in libraries:
        assert list(dump(library)) == expected
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_small_disk_that_fills_up(tmp_path: Path) -> None:
    """A real full disk where this machine lets one be mounted; the errors alone where it does not."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount") or "mount"
    done = subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True)
    if done.returncode != 0:
        with pytest.raises(LibraryFull), write_errors(tmp_path, "clips"):
            raise OSError(28, "No space left on device")
        return
    try:
        with pytest.raises(LibraryFull, match="the disk is full"):
            write(disk / "lib", videos=range(1, 60), sources=())
        with Reader.open(disk / "lib") as reader:
            for found in reader.videos():
                assert len(reader.frames([c.clip_id for c in reader.clips(found.video_id)])) == 2
    finally:
        subprocess.run([shutil.which("umount") or "umount", str(disk)], check=True)


UNPRIVILEGED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from rag.store.writing import Writer
from rag.store.reading import Reader
from rag.errors import LibraryReadOnly
from tests.fakes.store_material import unit
import lancedb
def look():
    with Reader.open(Path(sys.argv[1])) as reader:
        hits = reader.search_clips(unit(1, 16), 9)
        return len(hits), len(reader.frames([h.key for h in hits])), len(reader.match_evidence("number", 9))
look()  # whatever is imported late is imported now: the other user may not see our packages
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
print(look())
try:
    Writer.open(Path(sys.argv[1]))
except LibraryReadOnly as error:
    print(error)
"""


def test_a_library_that_cannot_be_written_can_be_read() -> None:
    """In a folder of its own: the subprocess may run as another user, who cannot read pytest's."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        folder = Path(above) / "lib"
        fill(folder, videos=(1,), sources=())
        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        command = [sys.executable, "-c", UNPRIVILEGED, str(folder), str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True)
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "(2, 2, 3)"
    assert "the library cannot be written" in second


def test_a_library_that_cannot_be_looked_into_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root looks into every folder, so the refusal is played."""
    fill(tmp_path / "lib", videos=(1,), sources=())
    look = os.listdir

    def refuse(path: str | os.PathLike[str]) -> list[str]:
        if "clips.lance" in os.fspath(path):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return look(path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(
        LibraryReadOnly, match=r"clips\.lance: the library cannot be read \(permission denied"
    ):
        Reader.open(tmp_path / "lib")
    with (
        pytest.raises(LibraryReadOnly, match="cannot be read; check the folder's permissions"),
        read_errors(tmp_path, "clips"),
    ):
        raise RuntimeError("Permission denied (os error 13)")


@pytest.mark.parametrize("call", ["stat", "open"])
@pytest.mark.parametrize("part", ["_versions", "data"])
def test_a_file_without_permission_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, call: str
) -> None:
    """A repair would delete its rows."""
    fill(tmp_path / "lib", videos=(1,), sources=())
    expected = list(dump(tmp_path / "lib"))
    allowed = getattr(Path, call)

    def refuse(path: Path, *how: Any, **named: Any) -> Any:
        if f"clips.lance/{part}/" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return allowed(path, *how, **named)

    uses: list[Callable[[Path], object]] = [Reader.open, Writer.open]
    uses += [lambda folder: check_files_of(Layout(folder)), lambda folder: repair(folder, confirm=refuse)]
    with monkeypatch.context() as patch:
        patch.setattr(Path, call, refuse)
        for use in uses:
            with pytest.raises(LibraryReadOnly, match=r"check (its|the folder's) permissions"):
                use(tmp_path / "lib")
    assert list(dump(tmp_path / "lib")) == expected


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(28, "No space left on device"), LibraryFull),
        (RuntimeError("lance error: LanceError(IO): No space left on device (os error 28)"), LibraryFull),
        (OSError(13, "Permission denied"), LibraryReadOnly),
        (RuntimeError("Read-only file system (os error 30)"), LibraryReadOnly),
        (ValueError("Encountered corrupt file"), LibraryCorrupt),
        (type("RustPanic", (Exception,), {})("rust future panicked"), LibraryCorrupt),
        (LibraryFull("as it is"), LibraryFull),
    ],
)
def test_errors_are_mapped_at_one_boundary(
    tmp_path: Path, error: Exception, kind: type[LibraryError]
) -> None:
    with pytest.raises(kind), read_errors(tmp_path, "clips"):
        raise error


def test_a_missing_temporary_folder_is_no_damage(tmp_path: Path) -> None:
    words = 'Failed to create temp dir: LanceError(IO): No such file or directory (os error 2) at path "/x"'
    with pytest.raises(LibraryError, match="set TMPDIR") as caught, read_errors(tmp_path, "videos"):
        raise RuntimeError(words)
    assert not isinstance(caught.value, LibraryCorrupt)


def test_a_bug_stays_a_bug(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sql filter"), read_errors(tmp_path, "clips"):
        raise ValueError("Invalid user input: Error optimizing sql filter: no such column")
    with pytest.raises(ZeroDivisionError), read_errors(tmp_path, "clips"):
        raise ZeroDivisionError


def test_a_failure_while_closing_does_not_hide_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Writer) -> None:
        raise LibraryFull("again")

    monkeypatch.setattr(Writer, "flush", full)
    with pytest.raises(ZeroDivisionError), Writer.open(tmp_path / "lib"):
        raise ZeroDivisionError
    with pytest.raises(LibraryFull, match="again"), Writer.open(tmp_path / "lib") as writer:
        assert writer.meta is None
    assert clip_frames(1, 0).pixels == "pixels-1-0"
