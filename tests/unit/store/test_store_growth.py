"""What happens to a library over its life: commits, another encoder, maintenance."""

import shutil
import time
from pathlib import Path

import pytest

from rag.store import maintenance
from rag.store.database import Database
from rag.store.finding import find_library
from rag.store.head import Head, read_head
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import EncoderRef
from rag.store.schema import vectors_table
from rag.store.writing import Writer
from tests.fakes.library_dump import dump, maintained, table_health
from tests.fakes.stopped_runs import Stop, stop_after
from tests.fakes.store_material import IMAGE, META, add_video, clip_frames, fill, unit, video

OTHER = EncoderRef("other", "9" * 32, 24)
VECTORS = vectors_table(IMAGE)


def tables(folder: Path) -> list[str]:
    return sorted(read_head(Layout(folder))[0].tables)


def test_heads_that_a_reader_may_have_open_are_remembered(monkeypatch) -> None:
    clock = 0.0
    monkeypatch.setattr(time, "time", lambda: clock)
    head = Head()
    for second in range(4000):
        clock = float(second)
        head = head.next({"files": second + 1}, None)
    assert len(head.earlier) < 40
    assert clock - 1801 <= head.earlier[-1].until <= clock - 1700
    assert head.oldest_in_use("files") == head.earlier[-1].tables["files"]
    assert head.earlier[0].tables["files"] == 3999


def test_a_new_encoder_is_filled_beside_and_then_flipped(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=(1,))
    words = [line for line in dump(tmp_path / "lib") if '"table": "evidence"' in line]
    with Writer.open(tmp_path / "lib") as writer:
        switch = writer.switch_encoder(OTHER)
        switch.add([clip_frames(1, i, OTHER.dim) for i in (0, 1)])
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.meta.image_encoder == IMAGE
        assert len(reader.search_clips(unit(0, IMAGE.dim), 9)) == 4
    with Writer.open(tmp_path / "lib") as writer, Reader.open(tmp_path / "lib") as beside:
        switch = writer.switch_encoder(OTHER)
        assert switch.done == {video(1).video_id}
        switch.add([clip_frames(2, i, OTHER.dim) for i in (0, 1)])
        switch.commit()
        assert writer.meta.image_encoder == OTHER
        writer.maintain()
        beside.refresh()
        assert len(beside.search_clips(unit(0, OTHER.dim), 9)) == 4
    assert tables(tmp_path / "lib").count(f"vectors_{'9' * 24}") == 1
    assert f"vectors_{'f' * 24}" not in tables(tmp_path / "lib")
    assert [line for line in dump(tmp_path / "lib") if '"table": "evidence"' in line] == words


def test_a_flip_that_was_cut_short_has_not_happened(tmp_path, monkeypatch) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        switch = writer.switch_encoder(OTHER)
        switch.add([clip_frames(1, i, OTHER.dim) for i in (0, 1)])
        stop_after(monkeypatch, 0, Database, ("commit",))
        with pytest.raises(Stop):
            switch.commit()
        monkeypatch.setattr(Database, "failed", True)
    monkeypatch.undo()
    with Reader.open(tmp_path / "lib") as reader:
        assert len(reader.search_clips(unit(0, IMAGE.dim), 9)) == 2
    with Writer.open(tmp_path / "lib") as writer:
        switch = writer.switch_encoder(OTHER)
        assert video(1).video_id in switch.done
        switch.commit()
        writer.maintain()
    assert not (tmp_path / "lib" / "tables" / f"{VECTORS}.lance").exists()


def test_a_switch_given_up_for_another_leaves_nothing(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    third = EncoderRef("third", "3" * 32, 4)
    with Writer.open(tmp_path / "lib") as writer:
        writer.switch_encoder(OTHER).add([clip_frames(1, 0, OTHER.dim)])
        switch = writer.switch_encoder(third)
        switch.add([clip_frames(1, i, third.dim) for i in (0, 1)])
        switch.commit()
    vectors = [name for name in tables(tmp_path / "lib") if name.startswith("vectors_")]
    assert vectors == [f"vectors_{'3' * 24}"]


@pytest.mark.slow
def test_maintenance_merges_fragments_and_row_ids_live_on(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 13):
            add_video(writer, n)
        reader = Reader.open(tmp_path / "lib")
        assert table_health(tmp_path / "lib")["evidence"].fragments == 12
        wanted = [clip_frames(n, 1).clip.clip_id for n in (7, 3, 12)]
        before = reader.frames(wanted)
        writer.remove_paths([video(5).path])
        writer.maintain()
        assert [c.clip for c in reader.frames(wanted)] == [c.clip for c in before]
        reader.close()
        writer.maintain()
    with Reader.open(tmp_path / "lib") as reader:
        assert maintained(tmp_path / "lib")
        assert [c.vectors.tolist() for c in reader.frames(wanted)] == [c.vectors.tolist() for c in before]


@pytest.mark.slow
def test_tables_are_compacted_while_indexing_goes_on(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(maintenance, "DUE_FRAGMENTS", 6)
    monkeypatch.setattr(Layout, "commit_seconds", 0.0)
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in range(1, 12):
            add_video(writer, n)
            assert writer.flush_if_due()
        with Reader.open(tmp_path / "lib") as reader:
            assert table_health(tmp_path / "lib")["evidence"].fragments < 6
            assert len(reader.videos()) == 11


def test_a_disk_without_room_is_not_compacted(tmp_path, monkeypatch) -> None:
    fill(tmp_path / "lib", videos=(), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        for n in (1, 2):
            add_video(writer, n)
        usage = shutil.disk_usage(tmp_path)._replace(free=10)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        writer.maintain()
    assert table_health(tmp_path / "lib")["evidence"].fragments == 2


def test_versions_that_a_reader_has_open_stay(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=())
    wanted = [clip_frames(1, i).clip.clip_id for i in (0, 1)]
    with Writer.open(tmp_path / "lib") as writer, Reader.open(tmp_path / "lib") as reader:
        for _ in range(3):
            writer.remove_paths([video(1).path])
            writer.maintain()
            add_video(writer, 1)
            writer.maintain()
        assert len(reader.frames(wanted)) == 2
        assert reader.refreshes == 1
        assert table_health(tmp_path / "lib")["evidence"].versions > 1
        reader.close()
        writer.maintain()
        assert table_health(tmp_path / "lib")["evidence"].versions == 1


def test_the_library_is_found_upward(tmp_path, monkeypatch) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_library(below) == below / ".rag"
    Writer.open(tmp_path / ".rag").close()
    (tmp_path / "a" / ".rag").mkdir()
    assert find_library(below) == tmp_path / ".rag", "an empty folder of that name is no library"
    monkeypatch.chdir(below)
    assert find_library() == tmp_path / ".rag"
    assert find_library(library=Path("x")) == below / "x"
