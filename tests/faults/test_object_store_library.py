"""A library on an object store: the rows are those of a folder, one writer, and what a failing store does."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from corpora.objects import StoreError
from rag.errors import LibraryNotFound, LibraryReadOnly
from rag.store.layout import Location
from rag.store.pulling import pull_library
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


def test_a_copy_is_kept_up(bucket: FakeStore, tmp_path: Path) -> None:
    address, copy = bucket.address(), tmp_path / "copy"
    write(address)
    first = pull_library(address, copy)
    assert (first.frames, first.clips) == (False, 4)
    assert first.files > 10
    wanted, held = list(dump(address)), list(dump(copy))
    assert [row for row in held if "vectors_" not in row] == [row for row in wanted if "vectors_" not in row]
    with Reader.open(address) as stored, Reader.open(copy) as local:
        near = unit(1500, 16)
        assert local.search_clips(near, 3) == stored.search_clips(near, 3)
        assert local.match_evidence("iron", 3) == stored.match_evidence("iron", 3) != []
        (clip,) = local.frames([f"{1:032x}:00000"])
        assert len(clip.times) == len(clip.vectors) == 0
        assert clip.clip_vector.tolist() == stored.frames([f"{1:032x}:00000"])[0].clip_vector.tolist()
    again = pull_library(address, copy)
    assert (again.files, again.clips) == (0, 0)

    with pytest.raises(LibraryReadOnly, match=f"a copy of {address}"):
        Writer.open(copy)
    with Writer.open(address) as writer:
        writer.remove_paths([video_path(1)])
        add_video(writer, 4)
        writer.maintain()
    assert pull_library(address, copy).clips == 2
    with Reader.open(copy) as local:
        assert {video.video_id for video in local.videos()} == {f"{n:032x}" for n in (3, 4)}
        assert local.count_clips() == 4
    full = pull_library(address, copy, frames=True)
    assert full.frames
    assert list(dump(copy)) == list(dump(address))
    assert pull_library(address, copy).frames


def test_a_pull_goes_on_where_it_failed(bucket: FakeStore, tmp_path: Path) -> None:
    address, copy = bucket.address(), tmp_path / "copy"
    write(address)
    gets = itertools.count()

    def fail_late(environ: dict[str, Any]) -> int | None:
        return 403 if "/data/" in environ["PATH_INFO"] and next(gets) >= 8 else None

    bucket.intercept = fail_late
    with pytest.raises(StoreError, match="access is refused"):
        pull_library(address, copy, frames=True)
    with pytest.raises(LibraryNotFound):
        Reader.open(copy)
    tables = [path for path in (copy / "tables").iterdir() if path.name != "meta.lance"]
    held = {path.name for table in tables for path in table.rglob("data/*.lance")}
    assert held
    del bucket.requests[:]
    bucket.intercept = lambda _: None
    pull_library(address, copy, frames=True)
    assert not held & {Path(request.path).name for request in bucket.requests if request.method == "GET"}
    assert list(dump(copy)) == list(dump(address))
