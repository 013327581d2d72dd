"""Objects of a store as files of a corpus: found by one listing, copied in one state, videos by ranges."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpora import fetching
from corpora.errors import ChangedFile, ScratchFull, UnfetchedFile, UnreadableFile, UsageError
from corpora.fetching import PREFIX, content_id, fetch, scratch_folder
from corpora.identity import content_hash
from corpora.objects import StoreError, is_url, object_states, open_store, store_failure
from corpora.scan import Scan, Shard, scan
from corpora.settings import StorageSettings
from corpora.video.containers import BLOCK, ObjectFiles
from corpora.video.reader import MediaReader, cut_clip
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video

NAMES = (
    *("a.mp4", "a.en.srt", "a.info.json", "b%20 ü.mkv", "notes.md", "x.bin", ".hidden.mp4", ".d/y.mp4"),
    *("talks/a.mp4", "talks/2024/b.mp4", "talks/2024/b.srt", "empty.mp4", "lost.srt"),
    *("deep/library/head.json", "deep/library/tables/b.md", "deep/library2/c.md"),
)


@pytest.fixture
def corpus(tmp_path) -> Path:
    folder = tmp_path / "corpus"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"" if name == "empty.mp4" else name.encode())
    return folder


def shape(found: Scan, root: str) -> object:
    """What was found, apart from where and when."""
    cut = len(root) + 1
    return (
        [(f.path[cut:], f.kind, f.size, [each[cut:] for each in f.sidecars]) for f in found.files],
        [(p.path[cut:], p.reason, p.action) for p in found.problems],
        [path[cut:] for path in found.ignored],
    )


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"include": ["*.mp4"], "exclude": ["2024"]},
        {"include": ["talks/**"]},
        {"shard": Shard(1, 2)},
        {"shard": Shard(2, 2)},
    ],
)
def test_a_prefix_is_scanned_as_a_folder(corpus: Path, bucket: FakeStore, choices: dict[str, Any]) -> None:
    bucket.upload(corpus, "videos")
    bucket.open().put("videos/talks/", b"")
    bucket.open().put("videos-old/z.mp4", b"z")
    bucket.requests.clear()
    found = scan(f"{bucket.url}/videos/", storage=bucket.storage, **choices)
    assert shape(found, f"{bucket.url}/videos") == shape(scan(corpus, **choices), str(corpus))
    assert [(r.method, r.path) for r in bucket.requests] == [("GET", f"/{bucket.bucket}")]


ODD = (
    "%.md",
    "50%25.md",
    "why?.md",
    "#1.md",
    "a b .md",
    "🎬.md",
    "back\\slash.md",
    "[x]{y}^`|~.md",
    "x" * 900 + ".md",
)


def test_keys_of_any_kind_are_read_or_named(bucket: FakeStore, tmp_path) -> None:
    bad = ("a//b.md", "a//c.md", "b/../c.md", "b/./d.md", "f/tab\there.md", "f/tab\tthere.md", "g/\x7f.md")
    good = (*ODD, "h/a.md", "z/deep/est.md")
    beside = ("a/a.md", "b/x.md", "b/sub/x.md", "f/young.md")
    for name in (*bad, *good, *beside):
        bucket.put_raw(f"v/{name}", name.encode())
    found = scan(f"{bucket.url}/v", storage=bucket.storage)
    cut = len(bucket.url) + 3
    assert {f.path[cut:] for f in found.files} == set(good)
    named = [problem.path[cut:] for problem in found.problems]
    assert {name.partition("/")[0] for name in named} == {"a", "b", "f", "g"}
    assert all(any(each.startswith(name) for each in bad) for name in named)
    assert all("cannot be read" in p.reason and "rename it" in p.action for p in found.problems)
    for each in found.files:
        copy = fetch(each, tmp_path, bucket.storage)
        assert Path(copy.path).read_bytes().decode() == each.path[cut:]
    many = [f"{bucket.url}/v/a/{n}.md" for n in range(100)]
    states = object_states([*many, f"{bucket.url}/v/a/a.md"], bucket.storage)
    assert [address for address, state in states.items() if state is not None] == [f"{bucket.url}/v/a/a.md"]


def test_one_object_is_found_with_its_sidecars(corpus: Path, bucket: FakeStore) -> None:
    bucket.upload(corpus)
    for name in ("a.mp4", "b%20 ü.mkv"):
        found = scan(f"{bucket.url}/{name}", storage=bucket.storage)
        assert shape(found, bucket.url) == shape(scan(corpus / name), str(corpus))
    with pytest.raises(UnreadableFile, match="no such object, and none below it"):
        scan(f"{bucket.url}/nothing", storage=bucket.storage)
    with pytest.raises(StoreError, match="NoSuchBucket"):
        scan("s3://no-such-bucket/videos", storage=bucket.storage)


def test_a_copy_has_the_content_and_goes(corpus: Path, bucket: FakeStore, tmp_path) -> None:
    bucket.upload(corpus)
    (found,) = scan(f"{bucket.url}/a.mp4", storage=bucket.storage).files
    storage = bucket.storage.model_copy(update={"scratch": tmp_path / "scratch"})
    with scratch_folder(storage) as scratch:
        copy = fetch(found, scratch, storage)
        assert Path(copy.path).read_bytes() == b"a.mp4"
        assert [Path(each).read_bytes() for each in copy.sidecars] == [b"a.en.srt", b"a.info.json"]
        assert copy.content_id == content_hash(corpus / "a.mp4") == content_id(found, storage)
        copy.discard()
        assert os.listdir(scratch) == ["lock"]
    assert os.listdir(tmp_path / "scratch") == []


def test_the_folder_of_a_killed_run_goes_and_that_of_a_living_one_stays(bucket: FakeStore, tmp_path) -> None:
    storage = bucket.storage.model_copy(update={"scratch": tmp_path})
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    (dead / "half.mp4").write_bytes(b"half")
    with scratch_folder(storage) as one, scratch_folder(storage) as other:
        assert {path.name for path in tmp_path.iterdir()} == {one.name, other.name}


def test_two_runs_that_start_at_once_have_folders(tmp_path, monkeypatch) -> None:
    """The second looks for killed runs before the first holds its lock."""
    taken, starts = fetching.take_lock, iter([True])

    def interrupted(path: Path) -> Any:
        if next(starts, False):
            with scratch_folder(StorageSettings(scratch=tmp_path)) as second:
                assert second.exists()
        return taken(path)

    monkeypatch.setattr(fetching, "take_lock", interrupted)
    with scratch_folder(StorageSettings(scratch=tmp_path)) as first:
        assert first.exists()


def test_an_object_that_changes_is_never_a_mixture(corpus: Path, bucket: FakeStore, tmp_path) -> None:
    bucket.upload(corpus)
    (found,) = scan(f"{bucket.url}/a.mp4", storage=bucket.storage).files
    store = bucket.open()

    def replaced_after_reading(environ: dict[str, Any]) -> int | None:
        if environ["REQUEST_METHOD"] == "HEAD":
            bucket.intercept = lambda _: None
            store.put("a.mp4", b"b.mp4")
        return None

    bucket.intercept = replaced_after_reading
    with pytest.raises(ChangedFile, match="it changed while it was read"):
        fetch(found, tmp_path, bucket.storage)
    with pytest.raises(ChangedFile, match="it changed while it was read"):
        fetch(found, tmp_path, bucket.storage)
    assert os.listdir(tmp_path) == ["corpus"]


def test_an_object_that_changes_while_its_transfer_breaks_off_has_changed(
    corpus: Path, bucket: FakeStore, tmp_path
) -> None:
    bucket.upload(corpus)
    (found,) = scan(f"{bucket.url}/a.mp4", storage=bucket.storage).files
    store = bucket.open()

    def replaced(body: bytes) -> Iterator[bytes]:
        yield body[:1]
        if body:  # not the answer to HEAD
            bucket.send = lambda rest: [rest]
            store.put("a.mp4", b"b.mp4")
            raise ConnectionAbortedError

    bucket.send = replaced
    with pytest.raises(ChangedFile, match="it changed while it was read"):
        fetch(found, tmp_path, bucket.storage)


def test_a_long_transfer_has_no_time_limit_and_goes_on_where_it_broke(bucket: FakeStore, monkeypatch) -> None:
    """The limit is on silence: a large object takes longer over a slow line."""
    monkeypatch.setattr("corpora.objects.CHUNK", 2**19)
    content = bytes(range(256)) * 4096
    bucket.open().put("long.mp4", content)
    settings = bucket.storage.model_copy(update={"timeout_seconds": 1.2, "retries": 1})
    broken = iter([True])

    def slowly(body: bytes) -> Iterator[bytes]:
        for n, start in enumerate(range(0, len(body), 2**16)):
            time.sleep(0.08)
            if n == 7 and next(broken, False):
                raise ConnectionAbortedError
            yield body[start : start + 2**16]

    bucket.send = slowly
    bucket.requests.clear()
    _, parts = open_store(bucket.url, settings).parts("long.mp4")
    assert b"".join(parts) == content
    assert len(bucket.gets()) == 3
    bucket.send = lambda body: [body]


def test_one_bad_object_differs_from_a_bad_store(corpus: Path, bucket: FakeStore, tmp_path) -> None:
    bucket.upload(corpus)
    (found,) = scan(f"{bucket.url}/a.mp4", storage=bucket.storage).files
    bucket.intercept = lambda environ: 403 if environ["PATH_INFO"].endswith("/a.mp4") else None
    with pytest.raises(UnfetchedFile, match=r"a\.mp4: .*403"):
        fetch(found, tmp_path, bucket.storage)
    bucket.intercept = lambda _: 403
    with pytest.raises(StoreError, match="credentials"):
        fetch(found, tmp_path, bucket.storage)


def test_a_message_has_no_signature() -> None:
    asked = "https://account.blob.core.windows.net/videos/a.mp4"
    line = str(
        store_failure(asked, f"Error performing GET {asked}?sv=2024&sig=SECRET in 2s - HTTP error: timed out")
    )
    assert asked in line
    assert "SECRET" not in line


def test_a_full_disk_is_one_line(corpus: Path, bucket: FakeStore, tmp_path, monkeypatch) -> None:
    bucket.upload(corpus)
    (found,) = scan(f"{bucket.url}/a.mp4", storage=bucket.storage).files
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(ScratchFull, match=r"no room for s3://.*storage\.scratch"):
        fetch(found, tmp_path, bucket.storage)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("S3://bucket/videos", "no such kind of address; there are s3://, gs://, az://"),
        ("https://host/videos", "no such kind of address; there are s3://, gs://, az://"),
        ("s3:/bucket/videos", r"begins with s3://; a folder of that name is \./s3:/bucket"),
        ("s3:", "names a bucket, as in s3://bucket/folder"),
        ("s3:///x", "names a bucket, as in s3://bucket/folder"),
    ],
)
def test_a_wrong_address_is_no_folder(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _ = is_url(address), open_store(address, StorageSettings())
    assert not is_url(f"./{address}")


@pytest.fixture(scope="module")
def video(tmp_path_factory) -> Path:
    """40 MB: images are stored as they are."""
    path = tmp_path_factory.mktemp("video") / "long ü.mkv"
    write_video(path, 60, fps=24, size=(160, 120), audio=True, codec="rawvideo", pix_fmt="yuv420p", gop=1)
    return path


def test_a_file_of_ranges_is_the_object(bucket: FakeStore) -> None:
    content = os.urandom(3 * BLOCK + 100)
    bucket.open().put("a", content)
    files = ObjectFiles(bucket.storage)
    with files.open(f"{bucket.url}/a") as file:
        assert file.read(10) == content[:10]
        assert file.seek(-50, os.SEEK_END) == len(content) - 50
        assert (file.read(100), file.read(1)) == (content[-50:], b"")
        file.seek(0)
        assert file.readall() == content
    with files.open(f"{bucket.url}/a") as again:
        assert again.readall() == content
    assert sum(request.sent for request in bucket.requests if request.method == "GET") == len(content)


def test_a_state_is_never_mixed_with_another(bucket: FakeStore) -> None:
    bucket.open().put("a", bytes(3 * BLOCK))
    files = ObjectFiles(bucket.storage)
    with files.open(f"{bucket.url}/a") as file:
        file.read(1)
        bucket.open().put("a", b"1" * 3 * BLOCK)
        file.seek(2 * BLOCK)
        with pytest.raises(UnreadableFile, match="changed"):
            file.read(1)
    assert "changed" in files.failure


def test_a_window_of_an_object_is_read_by_ranges(video: Path, bucket: FakeStore, tmp_path) -> None:
    bucket.upload(video.parent)
    address = f"{bucket.url}/{video.name}"
    times = [40.0, 41.0, 42.0]
    with MediaReader(storage=bucket.storage) as reader:
        bucket.requests.clear()
        frames = reader.frames_at(address, times, short_side=64)
        assert sum(request.sent for request in bucket.gets()) < video.stat().st_size / 2
        sound = reader.audio_between(address, 40, 42)
        facts = reader.probe(address), reader.texts(address)
        sampled = [batch.frames.times.tolist() for batch in reader.frames(address, start=50, seek=True)]
        cut_clip(address, 40, 41, tmp_path / "clip.mp4", storage=bucket.storage)
    with MediaReader() as reader:
        path = str(video)
        expected = reader.frames_at(path, times, short_side=64)
        np.testing.assert_array_equal(frames.images, expected.images)
        np.testing.assert_array_equal(frames.times, expected.times)
        np.testing.assert_allclose(sound, reader.audio_between(path, 40, 42), atol=1e-3)
        assert facts == (reader.probe(path), reader.texts(path))
        assert sampled == [b.frames.times.tolist() for b in reader.frames(path, start=50, seek=True)]
        assert reader.probe(str(tmp_path / "clip.mp4")).duration == pytest.approx(1.0, abs=0.3)


def test_a_store_that_fails_is_no_end_of_the_file(video: Path, bucket: FakeStore) -> None:
    bucket.upload(video.parent)
    address = f"{bucket.url}/{video.name}"
    with MediaReader(storage=bucket.storage.model_copy(update={"retries": 0})) as reader:
        served = iter(range(9))
        bucket.intercept = lambda _: None if next(served, None) is not None else 403
        with pytest.raises(UnreadableFile, match="403"):
            for _ in reader.frames(address):
                pass
        assert next(served, None) is None
        bucket.intercept = lambda _: None
        with pytest.raises(UnreadableFile, match="no such object"):
            reader.probe(f"{bucket.url}/gone.mp4")
