"""A damaged table, a full disk, a folder that cannot be written: one clear line, and nothing lost."""

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.records import SoundTrack
from rag.errors import LibraryCorrupt, LibraryError, LibraryFull, LibraryReadOnly, LibraryTooNew, StoreError
from rag.store.checking import check_files_of, repair
from rag.store.database import Database
from rag.store.error_mapping import read_errors
from rag.store.head import read_head
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import SCHEMA
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.stopped_runs import COMMITS, Stop, stop_after
from tests.fakes.store_material import META, TEXT, add_video, fill, unit, video, write

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


def use_evidence(reader: Reader) -> None:
    reader.evidence(video(1).video_id, 0.0, 1.0)
    reader.search_evidence(unit(1, TEXT.dim), 9)
    reader.match_evidence("number", 9)


TABLES = ("videos", "files", "evidence", "passages", f"vectors_{'f' * 24}")


@pytest.mark.parametrize(
    ("part", "damage"), [("data", "garbage"), ("data", "missing"), ("_versions", "zeroed")]
)
@pytest.mark.parametrize("table", TABLES)
def test_what_is_damaged_names_its_table_and_the_remedy(tmp_path, table: str, part: str, damage: str) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    for path in (Layout(tmp_path / "lib").table(table) / part).iterdir():
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes(os.urandom(path.stat().st_size) if damage == "garbage" else b"\0" * 100)
    advice = f"rag doctor --repair --library {tmp_path}/lib$"
    with pytest.raises(LibraryCorrupt, match=f"table {table} cannot be read .*{advice}") as caught:
        use_all(tmp_path / "lib")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("column", "damage"), [("words", "zeroed"), ("video_id", "missing"), ("vector", "missing")]
)
def test_a_damaged_index_is_named_and_made_again(tmp_path, column: str, damage: str) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=())
    with Writer.open(layout.folder) as writer:
        writer.maintain(exact_rows=1)
    expected = list(dump(layout.folder))
    (index,) = (
        each for each in at_head(layout, "evidence").describe_indices() if each.field_names == [column]
    )
    for path in (layout.table("evidence") / "_indices" / index.segments[0].uuid).iterdir():
        path.unlink() if damage == "missing" else path.write_bytes(bytes(path.stat().st_size))
    check = {"words": "full text of evidence", "vector": "vectors of evidence"}.get(
        column, "keys of evidence"
    )
    with Reader.open(layout.folder, exact_rows=1) as reader, pytest.raises(LibraryCorrupt) as caught:
        use_evidence(reader)
    assert check_files_of(layout) == {check: str(caught.value)}
    assert re.search(r"\(a file.* is (gone|damaged)\); .*--repair --library \S+$", str(caught.value))
    with Writer.open(layout.folder) as writer:
        assert f"index of {column} in table evidence" in writer.check_files(exact_rows=1)[0]
    assert check_files_of(layout) == {}
    assert list(dump(layout.folder)) == expected


def at_head(layout: Layout, table: str) -> Any:
    return layout.dataset(table, read_head(layout)[0].tables[table])


def first_rows(layout: Layout, table: str) -> Path:
    """The file of the rows that were written first."""
    fragment = at_head(layout, table).get_fragments()[0]
    return layout.table(table) / "data" / str(fragment.metadata.files[0].path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def refuse(lines: Sequence[str]) -> bool:
    raise AssertionError(lines)


def altered(head: Path, **changes: object) -> bytes:
    return json.dumps({**json.loads(head.read_text()), **changes}).encode()


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b'{"schema": 1e999}',
        None,
        {"tables": {"files": "x"}},
        {"tables": "a version that is not there"},
        {"earlier": [{"until": "x", "tables": {}}]},
    ],
)
def test_a_torn_head_is_put_back_from_its_copy(tmp_path, damage: bytes | dict[str, object] | None) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1,))
    expected, head = list(dump(layout.folder)), layout.folder / "head.json"
    if damage == {"tables": "a version that is not there"}:
        tables = json.loads(head.read_bytes())["tables"]
        damage = {"tables": {**tables, "passages": tables["passages"] + 7}}
    if damage is None:
        head.unlink()
    else:
        head.write_bytes(altered(head, **damage) if isinstance(damage, dict) else damage)
    for use in (Reader.open, Writer.open):
        with pytest.raises(LibraryCorrupt, match=r"(head\.json|table passages) .*rag doctor --repair"):
            use(layout.folder)
    done = repair(layout.folder, confirm=refuse)
    assert (done.made_again, done.incomplete) == (["put head.json back from its copy"], False)
    assert list(dump(layout.folder)) == expected
    assert repair(layout.folder, confirm=refuse).made_again == []


def test_a_library_without_any_head_loses_no_row(tmp_path) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=())
    for path in layout.folder.glob("head*.json"):
        path.unlink()
    before = sorted(layout.tables.rglob("*"))
    for opened in (Writer.open, Reader.open, partial(repair, confirm=refuse)):
        with pytest.raises(LibraryCorrupt, match=r"is lost.* index again with: rag index"):
            opened(layout.folder)
    assert sorted(layout.tables.rglob("*")) == before


@pytest.mark.parametrize("part", ["data", "_versions"])
def test_a_repair_goes_back_to_the_last_commit_that_reads_whole(tmp_path, monkeypatch, part: str) -> None:
    """As after a power failure, which cut what was written last."""
    monkeypatch.setattr("rag.store.head.APART_SECONDS", 0.0)
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1,), sources=(1,))
    known = set(layout.tables.rglob("*"))
    with Writer.open(layout.folder) as writer:
        add_video(writer, 2)
    for path in set(layout.table("evidence").joinpath(part).iterdir()) - known:
        cut(path)
    with pytest.raises(LibraryCorrupt, match="rag doctor --repair"):
        use_all(layout.folder)
    done = repair(layout.folder, confirm=refuse)
    assert "went back to the state of" in done.made_again[0]
    assert done.again == done.lost == []
    assert check_files_of(layout) == {}
    with Reader.open(layout.folder) as reader:
        assert [found.video_id for found in reader.videos()] == [video(1).video_id]
    write(layout.folder, videos=(1, 2), sources=(1,))
    write(tmp_path / "undisturbed", videos=(1, 2), sources=(1,))
    assert list(dump(layout.folder)) == list(dump(tmp_path / "undisturbed"))


@pytest.mark.parametrize(("table", "lost"), [*((table, "rows") for table in TABLES), ("evidence", "table")])
def test_contents_that_cannot_be_read_are_given_up_and_indexed_again(
    tmp_path, monkeypatch, table: str, lost: str
) -> None:
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=(1, 2))
    expected = list(dump(layout.folder))
    shutil.rmtree(layout.table(table)) if lost == "table" else cut(first_rows(layout, table))
    assert f"table {table}" in check_files_of(layout)
    monkeypatch.setattr("rag.store.checking.os.path.exists", lambda _: True)
    done = repair(layout.folder, confirm=refuse)
    assert f"table {table}: took out what could not be read" in done.made_again
    with Reader.open(layout.folder) as reader:
        assert sorted(reader.paths(content)[0] for content in reader.taken_out()) == done.again
    assert done.incomplete
    assert check_files_of(layout) == {}
    use_all_that_is_left(layout.folder)
    write(layout.folder, videos=(1, 2), sources=(1, 2))
    assert list(dump(layout.folder)) == expected


def use_all_that_is_left(folder: Path) -> None:
    """Each video that is there is whole."""
    with Reader.open(folder) as reader:
        for found in reader.videos():
            clips = [clip.clip_id for clip in reader.clips(found.video_id)]
            assert len(clips) == len(reader.frames(clips)) == 2
            assert len(reader.evidence(found.video_id, 0.0, 1e9)) == 3
        hits = reader.search_passages(unit(1, TEXT.dim), 99)
        assert len(reader.passage_paths([hit.key for hit in hits])) == len(hits)


@pytest.mark.parametrize("table", ["evidence", "shots"])
def test_a_repair_that_was_stopped_goes_on(tmp_path, monkeypatch, table: str) -> None:
    """At every fifth write, the first of which is another in each run: in the end the library is that of a
    repair that was not stopped."""
    monkeypatch.setattr("rag.store.checking.os.path.exists", lambda _: True)
    layout = Layout(tmp_path / "lib")
    fill(layout.folder, videos=(1, 2), sources=(1,))
    shutil.rmtree(layout.table(table))
    shutil.copytree(layout.folder, tmp_path / "kept")

    def repaired() -> list[str]:
        repair(layout.folder, confirm=refuse)
        assert check_files_of(layout) == {}
        return list(dump(layout.folder))

    expected, stopped, count = repaired(), True, random.randrange(5) - 5
    while stopped:
        count += 5
        shutil.rmtree(layout.folder)
        shutil.copytree(tmp_path / "kept", layout.folder)
        with monkeypatch.context() as patch:
            stop_after(patch, count, Database, (*COMMITS, "remove_fragments"))
            try:
                repair(layout.folder, confirm=refuse)
                stopped = False
            except Stop:
                pass
        assert repaired() == expected, f"stopped after {count} writes"
    assert count > 5


def test_measurements_that_cannot_be_read_are_lost_alone(tmp_path) -> None:
    layout, one = Layout(tmp_path / "lib"), video(1)
    with Writer.open(layout.folder) as writer:
        writer.set_meta(META)
        track = SoundTrack(one.video_id, ("speech", None), np.array([-20.0, np.nan], np.float32))
        writer.put_video(one, {"frames": "1", "shots": "1", "sound": "1"}, sound=track)
        writer.maintain()
    cut(first_rows(layout, "sound_tracks"))
    done = repair(layout.folder, confirm=refuse)
    assert done.again == done.lost == []
    with Reader.open(layout.folder) as reader:
        assert [held.video_id for held in reader.videos()] == [one.video_id]
        assert reader.sound_track(one.video_id) is None


def test_what_is_gone_is_asked_for_before_it_is_erased(tmp_path, bucket: FakeStore, monkeypatch) -> None:
    layout, addresses = Layout(tmp_path / "lib"), [f"{bucket.url}/{n}.mp4" for n in (1, 2)]
    monkeypatch.setattr("tests.fakes.store_material.video_path", lambda n: addresses[n - 1])
    write(layout.folder, videos=(1, 2), sources=())
    bucket.open().put("1.mp4", b"video")
    cut(first_rows(layout, f"vectors_{'f' * 24}"))
    before = dump_of(layout, "evidence")
    bucket.intercept = lambda _: 503
    down = bucket.storage.model_copy(update={"retries": 0})
    with pytest.raises(StoreError):
        repair(layout.folder, confirm=refuse, storage=down)
    bucket.intercept = lambda _: None
    done = repair(layout.folder, confirm=lambda _: False, storage=bucket.storage)
    assert (done.refused, done.lost) == (True, addresses[1:])
    assert dump_of(layout, "evidence") == before
    done = repair(layout.folder, confirm=lambda _: True, storage=bucket.storage)
    assert (done.again, done.lost) == (addresses[:1], addresses[1:])
    with Reader.open(layout.folder) as reader:
        assert reader.videos() == []


def dump_of(layout: Layout, table: str) -> list[str]:
    return [str(row) for row in at_head(layout, table).to_table().to_pylist()]


def test_a_library_of_another_schema_is_refused(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    head = tmp_path / "lib" / "head.json"
    for schema, kind in ((SCHEMA + 1, LibraryTooNew), (SCHEMA - 1, LibraryError)):
        head.write_text(json.dumps({**json.loads(head.read_text()), "schema": schema}))
        before = head.read_bytes()
        for use in (Reader.open, Writer.open):
            with pytest.raises(kind, match="version of this program"):
                use(tmp_path / "lib")
        assert head.read_bytes() == before


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


def test_a_full_disk_is_said_and_the_next_run_goes_on(tmp_path) -> None:
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


UNPRIVILEGED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from rag.store.writing import Writer
from rag.store.reading import Reader
from rag.store.records import SCHEMA
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


@pytest.mark.parametrize("part", ["evidence.lance/data/", "head.json"])
def test_a_file_without_permission_is_no_damage(tmp_path, monkeypatch, part: str) -> None:
    """A repair would delete its rows. Root may read every file, so the refusal is played."""
    fill(tmp_path / "lib", videos=(1,), sources=())
    expected = list(dump(tmp_path / "lib"))

    def refusing(allowed: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(path: Path, *how: Any, **named: Any) -> Any:
            if part in str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return allowed(path, *how, **named)

        return refuse

    uses: list[Callable[[Path], object]] = [
        lambda folder: check_files_of(Layout(folder)),
        lambda folder: repair(folder, confirm=refuse),
    ]
    with monkeypatch.context() as patch:
        for call in ("stat", "read_bytes"):
            patch.setattr(Path, call, refusing(getattr(Path, call)))
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
        (RuntimeError("Failed to create temp dir: No such file or directory (os error 2)"), LibraryError),
    ],
)
def test_errors_are_mapped_at_one_boundary(tmp_path, error: Exception, kind: type[LibraryError]) -> None:
    with pytest.raises(kind) as caught, read_errors(tmp_path, "files"):
        raise error
    assert type(caught.value) is kind


def test_a_bug_stays_a_bug(tmp_path) -> None:
    with pytest.raises(ValueError, match="sql filter"), read_errors(tmp_path, "files"):
        raise ValueError("Invalid user input: Error optimizing sql filter: no such column")
    with pytest.raises(ZeroDivisionError), read_errors(tmp_path, "files"):
        raise ZeroDivisionError


def test_a_failure_while_closing_does_not_hide_the_first(tmp_path, monkeypatch) -> None:
    def full(_: Writer) -> None:
        raise LibraryFull("again")

    monkeypatch.setattr(Writer, "flush", full)
    with pytest.raises(ZeroDivisionError), Writer.open(tmp_path / "lib"):
        raise ZeroDivisionError
    with pytest.raises(LibraryFull, match="again"), Writer.open(tmp_path / "lib") as writer:
        assert writer.meta is None
