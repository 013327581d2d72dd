"""A library on an object store: the rows are those of a folder, one writer, and what a failing store does."""

from __future__ import annotations

from pathlib import Path

from rag.store.layout import Location
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.store_material import META, add_source, add_video, unit, video_path


def write(location: Location) -> None:
    with Writer.open(location) as writer:
        writer.set_meta(META)
        for n in (1, 2, 3):
            add_video(writer, n)
        add_source(writer, 1, count=4)
        writer.remove_paths([video_path(2)])
        writer.maintain()


def test_the_same_rows_as_in_a_folder(bucket: FakeStore, tmp_path: Path) -> None:
    address, folder = bucket.address(), tmp_path / "library"
    write(address)
    write(folder)
    assert list(dump(address)) == list(dump(folder))
    with Reader.open(address) as stored, Reader.open(folder) as local:
        for reader in (stored, local):
            assert [video.video_id for video in reader.videos()] == [f"{n:032x}" for n in (1, 3)]
        near = unit(1500, 16)
        assert stored.search_clips(near, 3) == local.search_clips(near, 3)
        assert stored.match_evidence("iron", 3) == local.match_evidence("iron", 3) != []
        assert stored.stats().clips == local.stats().clips == 4
