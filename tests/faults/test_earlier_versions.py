"""A table whose newest manifest cannot be read goes back: its rows stay, and none is trusted in silence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag.errors import LibraryCorrupt
from rag.store.checking import check_files_of
from rag.store.damage import damaged_file
from rag.store.earlier import go_back
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.repair import repair
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.stopped_runs import Stop
from tests.fakes.store_material import add_source, add_video, fill, video, video_path, without_pages

VECTORS = f"vectors_{'f' * 24}"
THERE = {video_path(1), "/corpus/texts/1.txt"}


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Two videos and two documents; then a run that is killed, of which nothing is noted: each of the first
    goes, and others come. Of one the file is there."""
    monkeypatch.setattr("rag.store.repair.os.path.exists", THERE.__contains__)
    layout = Layout(tmp_path / "library")
    fill(layout.folder, videos=(1, 2), sources=(1, 2))
    writer = Writer.open(layout.folder)
    writer.remove_paths([video_path(2), "/corpus/texts/2.txt"])
    add_video(writer, 3)
    add_source(writer, 3)
    writer.flush()
    writer._lock.release()
    return layout


def spoil(layout: Layout, table: str, count: int = 1) -> None:
    for path in sorted((layout.table(table) / "_versions").glob("*.manifest"))[:count]:
        path.write_bytes(b"no manifest at all")


@pytest.mark.parametrize(("table", "count"), [("clips", 1), ("clips", 2), ("passages", 1), (VECTORS, 2)])
def test_rows_of_an_earlier_version_stay(layout: Layout, table: str, count: int) -> None:
    spoil(layout, table, count)
    assert f"table {table}" in check_files_of(layout).faults
    with pytest.raises(LibraryCorrupt):
        Reader.open(layout.folder)
    done = repair(layout.folder, confirm=lambda _: False)
    assert not done.refused
    assert [line for line in done.made_again if f"of table {table}: no newer one can be read" in line]
    first = "/corpus/texts/1.txt" if table == "passages" else video(1).path
    third = "/corpus/texts/3.txt" if table == "passages" else video(3).path
    assert done.again == [first]
    assert third in done.damaged
    assert check_files_of(layout).faults == {}
    with Reader.open(layout.folder) as reader:
        assert {problem.path for problem in reader.problems()} == {*done.damaged}
        seen = {each.video_id for each in reader.videos()}
        assert seen == {video(n).video_id for n in ((1, 3) if table == "passages" else (3,))}
        assert "/corpus/texts/2.txt" not in reader.passage_files()


@pytest.mark.parametrize("table", ["videos", "files"])
def test_what_has_lost_its_row_is_asked_for(layout: Layout, table: str) -> None:
    """And what was removed since does not come back."""
    spoil(layout, table, count=2)
    asked: list[str] = []
    done = repair(layout.folder, confirm=lambda lines: asked.extend(lines) or True)
    assert bool(asked) == bool(done.lost)
    assert done.made_again
    assert check_files_of(layout).faults == {}
    with Writer.open(layout.folder):
        pass
    with Reader.open(layout.folder) as reader:
        assert video(2).video_id not in {each.video_id for each in reader.videos()}
        for each in reader.videos():
            assert len(reader.clips(each.video_id)) == 2


def test_a_table_that_goes_back_behind_a_migration_is_migrated_again(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "library")
    fill(layout.folder, videos=(1,), sources=(1, 2))
    without_pages(layout.folder)
    Writer.open(layout.folder)._lock.release()  # killed before anything was noted
    spoil(layout, "passages")
    repair(layout.folder, confirm=lambda _: True)
    with Writer.open(layout.folder) as writer:
        add_source(writer, 3)
    with Reader.open(layout.folder) as reader:
        assert len(reader.passages(reader.passage_ids("source3"))) == len(reader.passage_ids("source3")) > 0


def test_meta_goes_back(layout: Layout) -> None:
    writer = Writer.open(layout.folder)
    number = writer._db.rows("meta", ["value"], "key = 'schema'")["value"][0].as_py()
    writer._db.update("meta", "key = 'schema'", {"value": number})
    writer._lock.release()
    expected = list(dump(layout.folder))
    shutil.rmtree(layout.sums)
    assert len(list((layout.table("meta") / "_versions").glob("*.manifest"))) > 1
    spoil(layout, "meta")
    done = repair(layout.folder, confirm=lambda _: False)
    assert "table meta: no newer one can be read" in done.made_again[0]
    assert list(dump(layout.folder)) == expected


@pytest.mark.parametrize("table", ["videos", "clips"])
@pytest.mark.parametrize("moment", ["go_back", "finish"])
def test_a_repair_that_was_ended_goes_on(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, table: str, moment: str
) -> None:
    spoil(layout, table)
    shutil.copytree(layout.folder, layout.folder.with_name("kept"))

    def repaired() -> list[str]:
        repair(layout.folder, confirm=lambda _: True)
        with Writer.open(layout.folder):
            assert check_files_of(layout).faults == {}
        return list(dump(layout.folder))

    def ended(*given: object) -> None:
        if moment == "go_back":
            go_back(*given)
        raise Stop

    expected = repaired()
    shutil.rmtree(layout.folder)
    shutil.copytree(layout.folder.with_name("kept"), layout.folder)
    with monkeypatch.context() as patch:
        patch.setattr(f"rag.store.repair.{moment}", ended)
        with pytest.raises(Stop):
            repair(layout.folder, confirm=lambda _: True)
    assert f"table {table}" in check_files_of(layout).faults
    assert damaged_file(layout.folder)
    for opened in (Reader.open, Writer.open):
        with pytest.raises(LibraryCorrupt, match="its repair was not finished"):
            opened(layout.folder)
    assert repaired() == expected
