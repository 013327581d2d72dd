"""What happens to a library over its life: migrations, another encoder, maintenance."""

from __future__ import annotations

import dataclasses
import json
import shutil
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from rag.errors import LibraryError, LibraryTooNew
from rag.store import maintenance, migrations
from rag.store.database import Database
from rag.store.finding import find_library
from rag.store.layout import Layout
from rag.store.migrations import MIGRATIONS, MetaRows, migrate
from rag.store.reading import Reader
from rag.store.records import SCHEMA, EncoderRef
from rag.store.schema import vectors_table
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.store_material import IMAGE, META, add_video, clip_frames, fill, unit, video

OTHER = EncoderRef("other", "9" * 32, 24)
VECTORS = vectors_table(IMAGE)


def add_colour(db: Database) -> None:
    if "colour" not in db.table("videos").schema.names:
        db.table("videos").add_columns({"colour": "'unknown'"})


def test_an_older_library_is_brought_up_to_date_once(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    db = Database(Layout(tmp_path / "lib"))
    ran: list[int] = []

    def step(db: Database) -> None:
        ran.append(1)
        add_colour(db)

    rows = migrate(db, (*MIGRATIONS, step))
    assert rows.schema == SCHEMA + 1
    assert rows.meta is not None
    assert rows.meta.schema == SCHEMA + 1
    assert migrate(Database(Layout(tmp_path / "lib")), (*MIGRATIONS, step)).schema == SCHEMA + 1
    assert ran == [1]
    videos = [json.loads(line) for line in dump(tmp_path / "lib") if '"table": "videos"' in line]
    assert [row["colour"] for row in videos] == ["unknown"]


def test_a_step_that_was_cut_short_runs_again(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    db = Database(Layout(tmp_path / "lib"))

    def cut(db: Database) -> None:
        add_colour(db)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(db, (*MIGRATIONS, cut))
    assert migrate(db, (*MIGRATIONS, add_colour)).schema == SCHEMA + 1


def test_a_newer_library_is_refused_untouched(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    migrate(Database(Layout(tmp_path / "lib")), (*MIGRATIONS, add_colour))
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "lib" / "tables").rglob("*")}
    with pytest.raises(LibraryTooNew, match=f"schema {SCHEMA + 1}, this one knows {SCHEMA}"):
        Writer.open(tmp_path / "lib")
    with pytest.raises(LibraryTooNew, match="upgrade it"):
        Reader.open(tmp_path / "lib")
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "lib" / "tables").rglob("*")} == before


def test_a_reader_of_an_older_library_names_the_command_that_migrates_it() -> None:
    with pytest.raises(LibraryError, match="rag index"):
        migrations.refuse_older(Path("lib"), 1, 2)
    migrations.refuse_older(Path("lib"), 2, 2)
    migrations.refuse_older(Path("lib"), 1)


def test_meta_rows_read_what_they_wrote() -> None:
    rows = MetaRows(SCHEMA, META, "vectors_old")
    assert MetaRows.read(rows.table().to_pylist()) == rows
    bare = MetaRows(0, dataclasses.replace(META, image_encoder=None, schema=0))
    assert MetaRows.read(bare.table().to_pylist()) == bare


def test_a_new_encoder_is_filled_beside_and_then_flipped(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=(1,))
    words = [line for line in dump(tmp_path / "lib") if '"table": "evidence"' in line]
    with Writer.open(tmp_path / "lib") as writer:
        switch = writer.switch_encoder(OTHER)
        assert switch.clips(video(1).video_id) == [clip_frames(1, i).clip.clip_id for i in (0, 1)]
        switch.add([clip_frames(1, i, OTHER.dim) for i in (0, 1)])
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.meta is not None
        assert reader.meta.image_encoder == IMAGE
        assert len(reader.search_clips(unit(0, IMAGE.dim), 9)) == 4
    with Writer.open(tmp_path / "lib") as writer, Reader.open(tmp_path / "lib") as beside:
        switch = writer.switch_encoder(OTHER)
        assert switch.done() == {clip_frames(1, i).clip.clip_id for i in (0, 1)}
        switch.add([clip_frames(n, i, OTHER.dim) for n, i in ((1, 1), (2, 0), (2, 1))])
        switch.commit()
        assert writer.meta is not None
        assert writer.meta.image_encoder == OTHER
        writer.maintain()
        beside.refresh()
        assert len(beside.search_clips(unit(0, OTHER.dim), 9)) == 4
    with Writer.open(tmp_path / "new") as writer:
        writer.set_meta(dataclasses.replace(META, image_encoder=OTHER))
    assert Layout(tmp_path / "lib").table_names().count(f"vectors_{'9' * 24}") == 1
    assert f"vectors_{'f' * 24}" not in Layout(tmp_path / "lib").table_names()
    assert [line for line in dump(tmp_path / "lib") if '"table": "evidence"' in line] == words


def test_a_flip_that_was_cut_short_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())

    def cut(_: str) -> None:
        raise KeyboardInterrupt

    with Writer.open(tmp_path / "lib") as writer:
        switch = writer.switch_encoder(OTHER)
        switch.add([clip_frames(1, i, OTHER.dim) for i in (0, 1)])
        with monkeypatch.context() as patch:
            patch.setattr(writer._db, "drop", cut)
            with pytest.raises(KeyboardInterrupt):
                switch.commit()
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.search_clips(unit(0, OTHER.dim), 9)) == 2
    with Writer.open(tmp_path / "lib"):
        assert f"vectors_{'f' * 24}" not in Layout(tmp_path / "lib").table_names()


def test_a_switch_given_up_for_another_leaves_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    third = EncoderRef("third", "3" * 32, 4)
    with Writer.open(tmp_path / "lib") as writer:
        writer.switch_encoder(OTHER).add([clip_frames(1, 0, OTHER.dim)])
        switch = writer.switch_encoder(third)
        switch.add([clip_frames(1, i, third.dim) for i in (0, 1)])
        switch.commit()
    vectors = [name for name in Layout(tmp_path / "lib").table_names() if name.startswith("vectors_")]
    assert vectors == [f"vectors_{'3' * 24}"]


@pytest.mark.slow
def test_maintenance_merges_fragments_and_row_ids_live_on(tmp_path: Path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 13):
            add_video(writer, n)
        reader = Reader.open(tmp_path / "lib")
        stats = reader.stats()
        assert stats.tables["clips"].fragments == 24
        assert stats.compactable_fragments > 24
        wanted = [clip_frames(n, 1).clip.clip_id for n in (7, 3, 12)]
        before = reader.frames(wanted)
        writer.remove_paths([video(5).path])
        writer.maintain()
        assert [c.clip for c in reader.frames(wanted)] == [c.clip for c in before]
        reader.close()
        writer.maintain()
    with Reader.open(tmp_path / "lib") as reader:
        stats = reader.stats()
        assert (stats.compactable_fragments, stats.removable_versions) == (0, 0)
        assert [c.vectors.tolist() for c in reader.frames(wanted)] == [c.vectors.tolist() for c in before]


def test_full_fragments_of_vectors_are_left_alone() -> None:
    vectors = f"vectors_{'f' * 24}"
    sizes = [12_000, 307_200, 307_201, 1_300_000, 12_000_000]
    assert [maintenance.fragment_rows(vectors, size) for size in sizes] == [1200, 1200, 4800, 19_200, 19_200]


def test_fragments_of_vectors_grow_with_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MATRIX_FRAGMENT_ROWS", (1, 16))
    monkeypatch.setattr(maintenance, "MATRIX_FRAGMENTS", 2)
    counts = []
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 6):
            add_video(writer, n)
            writer.maintain()
            with Reader.open(tmp_path / "lib") as reader:
                table = reader.stats().tables[VECTORS]
                counts.append(table.fragments)
                assert len(reader.frames([clip_frames(v, 1).clip.clip_id for v in range(1, n + 1)])) == n
                assert table.small_fragments == 0
    assert max(counts) <= 3


@pytest.mark.slow
def test_tables_are_compacted_while_indexing_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "DUE_FRAGMENTS", 12)
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 12):
            add_video(writer, n)
        with Reader.open(tmp_path / "lib") as reader:
            assert reader.stats().tables["clips"].fragments < 6
            assert len(reader.videos()) == 11


def test_a_disk_without_room_is_not_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "lib", videos=(), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        for n in (1, 2):
            add_video(writer, n)
        usage = shutil.disk_usage(tmp_path)._replace(free=10)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        writer.maintain()
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.stats().tables["clips"].fragments == 4


def test_compaction_needs_room_for_what_it_copies_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MATRIX_FRAGMENT_ROWS", (12, 12))
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 7):
            add_video(writer, n)
        writer.maintain()
        data = tmp_path / "lib" / "tables" / f"{VECTORS}.lance" / "data"
        full = set(data.iterdir())
        for n in (9, 10):
            add_video(writer, n)
        small = sum(path.stat().st_size for path in set(data.iterdir()) - full)
        usage = shutil.disk_usage(tmp_path)._replace(free=2 * small)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        writer.maintain()
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.stats().tables[VECTORS].fragments == 2


def test_versions_in_use_stay_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=())
    ages: list[timedelta] = []
    with Writer.open(tmp_path / "lib") as writer:
        lance_of = writer._db.lance

        class Watched:
            def __init__(self, name: str) -> None:
                self._dataset = lance_of(name)

            def __getattr__(self, name: str) -> object:
                return getattr(self._dataset, name)

            def cleanup_old_versions(self, *, older_than: timedelta, delete_unverified: bool) -> None:
                assert delete_unverified
                ages.append(older_than)

        monkeypatch.setattr(writer._db, "lance", Watched)
        writer.maintain()
        with Reader.open(tmp_path / "lib"):
            writer.maintain()
    assert set(ages) == {timedelta(0), timedelta(seconds=maintenance.PIN_SECONDS)}


def test_a_dump_leaves_out_what_may_differ(tmp_path: Path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    found = [json.loads(line) for line in dump(tmp_path / "lib")]
    columns = {key for row in found for key in row}
    assert columns.isdisjoint({"indexed_at", "mtime_ns", "ctime_ns", "stamp", "_rowid"})
    assert "library_id" not in json.dumps(found)
    assert list(dump(tmp_path / "lib")) == sorted(
        dump(tmp_path / "lib"), key=lambda line: json.loads(line)["table"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("table", ["vectors", "evidence", "clips", "videos", "files", "passages"])
def test_a_dump_shows_any_change(tmp_path: Path, table: str) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=(1,))
    before = list(dump(tmp_path / "lib"))
    name = next(n for n in Layout(tmp_path / "lib").table_names() if n.startswith(table))
    db = Database(Layout(tmp_path / "lib"))
    rows = db.lance(name).to_table()
    column, value = next(
        (c, v)
        for c, v in (("vector", None), ("start", 1.0), ("title", "x"), ("size", 7))
        if c in rows.column_names
    )
    values = rows[column].to_pylist()
    values[0] = [0.5] * len(values[0]) if value is None else value
    index = rows.column_names.index(column)
    changed = pa.array(values, rows.schema.types[index])
    lance.write_dataset(
        rows.set_column(index, rows.schema.field(index), changed), db.lance(name).uri, mode="overwrite"
    )
    after = list(dump(tmp_path / "lib"))
    assert len(set(after) - set(before)) == 1


def test_the_library_is_found_upward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_library(below) == below / ".rag"
    Writer.open(tmp_path / ".rag").close()
    (tmp_path / "a" / ".rag").mkdir()
    assert find_library(below) == tmp_path / ".rag", "an empty folder of that name is no library"
    monkeypatch.chdir(below)
    assert find_library() == tmp_path / ".rag"
    assert find_library(library=Path("x")) == below / "x"
