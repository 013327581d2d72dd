"""Videos at addresses: the same facts, frames and sound as of files, by ranges."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from corpora.errors import UnreadableFile
from corpora.video.containers import BLOCK, ObjectFiles
from corpora.video.reader import MediaReader, cut_clip
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_a_window_of_an_object_is_read_by_ranges(video: Path, bucket: FakeStore, tmp_path: Path) -> None:
    bucket.upload(video.parent)
    address = f"{bucket.url}/{video.name}"
    times = [40.0, 41.0, 42.0]
    with MediaReader(storage=bucket.storage) as reader:
        bucket.requests.clear()
        frames = reader.frames_at(address, times, short_side=64)
        assert sum(request.sent for request in bucket.gets()) < video.stat().st_size / 2
        sound = reader.audio_between(address, 40, 42)
        facts = reader.probe(address), reader.tracks(address), reader.texts(address)
        sampled = [batch.frames.times.tolist() for batch in reader.frames(address, start=50, seek=True)]
        cut_clip(address, 40, 41, tmp_path / "clip.mp4", storage=bucket.storage)
    with MediaReader() as reader:
        path = str(video)
        expected = reader.frames_at(path, times, short_side=64)
        np.testing.assert_array_equal(frames.images, expected.images)
        np.testing.assert_array_equal(frames.times, expected.times)
        np.testing.assert_allclose(sound, reader.audio_between(path, 40, 42), atol=1e-3)
        assert facts == (reader.probe(path), reader.tracks(path), reader.texts(path))
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
