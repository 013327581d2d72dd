"""A library on an object store: the rows are those of a folder, one writer, and what a failing store does."""

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpora.objects import READ_ATTEMPTS, StoreAddress, StoreError
from rag.errors import LibraryBusy, UsageError
from rag.indexing.merging import merge_libraries
from rag.settings import Settings
from rag.store.layout import Location
from rag.store.lookup import file_states
from rag.store.reading import Reader
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.store_material import (
    META,
    add_source,
    add_video,
    clip_frames,
    file_row,
    unit,
    video,
    video_path,
)


def write(location: Location) -> None:
    with Writer.open(location) as writer:
        writer.set_meta(META)
        for n in (1, 2, 3):
            add_video(writer, n)
        add_source(writer, 1, count=4)
        writer.remove_paths([video_path(2)])
        writer.maintain()


def small(location: Location, n: int = 1, *, source: bool = False) -> None:
    with Writer.open(location) as writer:
        writer.set_meta(META)
        add_video(writer, n)
        if source:
            add_source(writer, n, count=4)
            writer.flush()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What `write` makes in a folder."""
    library = tmp_path_factory.mktemp("library")
    write(library)
    return library


def upload(bucket: FakeStore, folder: Path) -> StoreAddress:
    """A library is its files: what was written in a folder is read on a store."""
    bucket.upload(folder, "library")
    return bucket.address()


def pull(address: StoreAddress, folder: Path, **search: int) -> int:
    """As `rag library pull`; how many videos were copied."""
    settings = Settings.model_validate({"storage": address.settings, "search": search})
    return merge_libraries([address.url], folder, settings=settings, newer=True).videos


def test_a_pulled_library_is_searched_by_its_index(bucket: FakeStore, tmp_path) -> None:
    address, copy = bucket.address(), tmp_path / "copy"
    with Writer.open(address) as writer:
        writer.set_meta(META)
        made = video(1, clips=40)
        clips = [clip_frames(1, k) for k in range(40)]
        writer.put_file(file_row(made.path, made.video_id, "video"))
        writer.put_video(made, {}, clips)
    assert pull(address, copy, exact_rows=10) == 1
    near = unit(1500, 16)
    with Reader.open(copy, exact_rows=10) as indexed, Reader.open(copy) as exact:
        assert indexed.search_clips(near, 5) == exact.search_clips(near, 5) != []


def test_a_pull_goes_on_where_it_failed_and_keeps_the_copy_up(
    bucket: FakeStore, folder: Path, tmp_path
) -> None:
    address, copy = upload(bucket, folder), tmp_path / "copy"
    gets = itertools.count()

    def fail_late(environ: dict[str, Any]) -> int | None:
        return 403 if "/data/" in environ["PATH_INFO"] and next(gets) >= 8 else None

    bucket.intercept = fail_late
    with pytest.raises(StoreError, match="access is refused"):
        pull(address, copy)
    bucket.intercept = lambda _: None
    pull(address, copy)
    assert list(dump(copy)) == list(dump(address))
    assert pull(address, copy) == 0
    with Writer.open(address) as writer:
        writer.remove_paths([video_path(1)])
        add_video(writer, 4)
        writer.maintain()
    assert pull(address, copy) == 1
    with Reader.open(copy) as local:
        assert {video.video_id for video in local.videos()} == {f"{n:032x}" for n in (1, 3, 4)}


def test_a_failing_store_loses_nothing(bucket: FakeStore, tmp_path) -> None:
    """One request in ten fails, and one write in ten is made and its answer lost."""
    requests, writes = itertools.count(), itertools.count()
    statuses = itertools.cycle((500, 503, 429))
    bucket.intercept = lambda _: next(statuses) if next(requests) % 10 == 4 else None
    bucket.lose = lambda environ: environ["REQUEST_METHOD"] == "PUT" and next(writes) % 10 == 7
    address = bucket.address()
    small(address)
    assert next(writes) > 30
    bucket.intercept, bucket.lose = (lambda _: None), (lambda _: False)
    small(tmp_path / "library")
    assert list(dump(address)) == list(dump(tmp_path / "library"))


def test_a_commit_that_arrives_after_its_timeout_is_not_repeated(bucket: FakeStore, tmp_path) -> None:
    commits, released = itertools.count(), threading.Event()

    def intercept(environ: dict[str, Any]) -> None:
        path = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] != "PUT" or "passages.lance" not in path:
            return
        if "_versions/" in path and next(commits) == 2:  # after the empty table and its index
            assert released.wait(30)
        elif "data/" in path and next(repeated):
            released.set()
            time.sleep(0.3)

    repeated = itertools.count()
    address = StoreAddress(f"{bucket.url}/library", bucket.storage.model_copy(update={"timeout_seconds": 1}))
    bucket.intercept = intercept
    with pytest.raises(StoreError, match="run the same command again"):
        small(address, source=True)
    released.set()
    with Reader.open(address) as reader:
        assert len(reader.match_passages("the", 100)) <= 4
    small(address, source=True)
    small(tmp_path / "library", source=True)
    assert list(dump(address)) == list(dump(tmp_path / "library"))


def _refuse(method: str, part: str, status: int) -> Callable[[dict[str, Any]], int | None]:
    def intercept(environ: dict[str, Any]) -> int | None:
        asked = environ["REQUEST_METHOD"], environ["PATH_INFO"] + environ["QUERY_STRING"]
        return status if asked[0] == method and part in asked[1] else None

    return intercept


def test_what_is_wrong_with_a_store_is_one_line(bucket: FakeStore) -> None:
    def failure(address: StoreAddress, **fault: Any) -> str:
        if fault:
            bucket.intercept = _refuse(**fault)
        with pytest.raises(StoreError) as error:
            small(address)
        bucket.intercept = lambda _: None
        message = str(error.value)
        assert message.startswith(str(address)), message
        assert "\n" not in message
        return message

    nowhere = bucket.storage.model_copy(update={"endpoint": "http://127.0.0.1:9"})
    secure = bucket.storage.model_copy(update={"allow_http": False})
    assert "no such bucket" in failure(StoreAddress("s3://none-of-this-name/library", bucket.storage))
    assert "is not reached" in failure(StoreAddress(f"{bucket.url}/library", nowhere))
    assert "set storage.allow_http" in failure(StoreAddress(f"{bucket.url}/library", secure))
    assert "check storage.region" in failure(bucket.address(), method="GET", part="list-type", status=301)
    for part in ("list-type", "tables/videos.lance/data"):
        method = "GET" if part == "list-type" else "PUT"
        assert "access is refused" in failure(bucket.address(), method=method, part=part, status=403)
        assert "too busy or fails" in failure(bucket.address(), method=method, part=part, status=503)


def test_a_store_that_stops_answering_ends_a_question_in_time(bucket: FakeStore, folder: Path) -> None:
    upload(bucket, folder)
    limited = bucket.storage.model_copy(update={"timeout_seconds": 1.8, "retries": 8})
    asked, ended = itertools.count(), threading.Event()

    def hang(_: dict[str, Any]) -> int:
        next(asked)
        ended.wait(30)
        return 500

    with Reader.open(StoreAddress(f"{bucket.url}/library", limited)) as reader:
        bucket.intercept = hang
        begun = time.monotonic()
        with pytest.raises(StoreError) as error:
            reader.frames([f"{1:032x}:00000"])
        seconds = time.monotonic() - begun
    ended.set()
    assert next(asked) <= READ_ATTEMPTS
    assert seconds < 2 * 1.8
    message = str(error.value)
    assert message.endswith("check the network and storage.endpoint, then run the same command again")
    assert "lance" not in message.lower().replace(".lance", "")


def test_a_store_that_is_down_is_asked_once_whether_files_are_there(bucket: FakeStore) -> None:
    down = bucket.storage.model_copy(update={"retries": 10})
    asked = itertools.count()
    bucket.intercept = lambda _: 503 if next(asked) >= 0 else None
    rows = [file_row(f"{bucket.url}/{n % 7}/{n}.mp4", "0", "video") for n in range(50)]
    assert set(file_states(rows, down).values()) == {"unreadable"}
    assert next(asked) == 2
    bucket.intercept = lambda _: None
    assert set(file_states(rows, down).values()) == {"missing"}


def test_a_store_that_ignores_conditions_gets_no_library(bucket: FakeStore) -> None:
    def drop(environ: dict[str, Any]) -> None:
        environ.pop("HTTP_IF_NONE_MATCH", None)
        environ.pop("HTTP_IF_MATCH", None)

    bucket.intercept = drop
    with pytest.raises(StoreError, match="ignores conditional writes"):
        Writer.open(bucket.address())
    assert list(bucket.open().list()) == []


def test_a_writer_behind_another_ones_commit_writes_no_more(bucket: FakeStore) -> None:
    address = bucket.address()
    paused = Writer.open(address)
    paused.set_meta(META)
    with Writer.open(address) as other:
        add_video(other, 1)
        with pytest.raises(LibraryBusy, match="another process has written to this library"):
            add_video(paused, 2)
        paused.close()
        add_video(other, 3)
    with Reader.open(address) as reader:
        assert {video.video_id for video in reader.videos()} == {f"{n:032x}" for n in (1, 3)}


@pytest.mark.parametrize("path", ["passages.lance/_versions", "head.json"])
def test_a_write_that_hangs_until_another_one_has_committed_is_refused(
    bucket: FakeStore, tmp_path, path: str
) -> None:
    address = bucket.address()
    small(address, 1, source=True)
    hanging, released, hung = threading.Event(), threading.Event(), itertools.count()
    found: list[BaseException] = []

    def hold(environ: dict[str, Any]) -> None:
        if environ["REQUEST_METHOD"] == "PUT" and path in environ["PATH_INFO"] and not next(hung):
            hanging.set()
            assert released.wait(30)

    def write_all(location: Location) -> None:
        with Writer.open(location) as writer:
            add_video(writer, 2)
            add_source(writer, 2)
            writer.remove_paths([video_path(1)])

    def hang() -> None:
        try:
            write_all(address)
        except LibraryBusy as error:
            found.append(error)

    bucket.intercept = hold
    paused = threading.Thread(target=hang)
    paused.start()
    assert hanging.wait(30)
    write_all(address)
    before = list(dump(address))
    released.set()
    paused.join(30)
    assert "another process has" in str(found[0])
    small(tmp_path / "library", 1, source=True)
    write_all(tmp_path / "library")
    assert list(dump(address)) == before == list(dump(tmp_path / "library"))


def test_old_versions_stay_for_unseen_readers(bucket: FakeStore) -> None:
    address = bucket.address()
    with Writer.open(address) as writer:
        writer.set_meta(META)
        add_video(writer, 1)
        with Reader.open(address) as reader:
            foreign = f"tables/evidence.lance/data/{'0' * 50}.lance"
            bucket.open("library").put(foreign, b"of a writer that is about to commit it")
            writer.remove_paths([video_path(1)])
            writer.maintain()
            assert len(reader.frames([f"{1:032x}:00000"])) == 1
            assert bucket.open("library").head(foreign) is not None


def test_stores_and_folders_are_merged_and_one_whose_store_fails_is_not_left_out(
    bucket: FakeStore, tmp_path
) -> None:
    address, folder, joined = bucket.address("a"), tmp_path / "b", bucket.address("joined")
    small(address, 1)
    small(folder, 2)
    settings = Settings(storage=bucket.storage)
    bucket.intercept = lambda request: 403 if "/a/" in request["PATH_INFO"] else None
    with pytest.raises(StoreError, match="access is refused"):
        merge_libraries([folder, address.url], tmp_path / "into", settings=settings)
    assert not (tmp_path / "into").exists()
    bucket.intercept = lambda _: None
    report = merge_libraries([address.url, folder], joined.url, settings=settings)
    assert (report.videos, report.exit_code) == (2, 0)
    with Reader.open(joined) as reader, Reader.open(address, folder) as both:
        assert len(reader.videos()) == len(both.videos()) == 2
    with pytest.raises(UsageError, match="one is inside the other"):
        merge_libraries([address.url], f"{address.url}/below", settings=settings)
