"""Runs into a library on an object store, and in shards by hand; what a kill left is taken up."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from rag.indexing import index
from rag.indexing.merging import merge_libraries
from rag.indexing.report import IndexReport
from rag.settings import Settings, load_settings
from rag.store.finding import library_location
from rag.store.layout import open_layout
from tests.fakes.library_dump import dump
from tests.fakes.object_store import FakeStore
from tests.fakes.synthetic import write_video

pytestmark = pytest.mark.usefixtures("tiny_text")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_video(folder / "a.mp4", 4)
    write_video(folder / "b.mp4", 3, fps=5)
    (folder / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nTighten the bolt.\n")
    for place in ("c", "deep/d"):
        (folder / place).parent.mkdir(exist_ok=True)
        shutil.copy(folder / "a.mp4", folder / f"{place}.mp4")
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "bad.mp4").write_bytes(b"no video" * 99)
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Bolts\n\nBolt {n} is too tight.\n")
    return folder


def settings_of(library: Path | str, **given: Any) -> Settings:
    flags = {"library": library, "ocr.mode": "off", "encoder.image": "none", **given}
    return load_settings(flags={name.replace("__", "."): value for name, value in flags.items()})


def on_store(bucket: FakeStore, folder: str = "library") -> Settings:
    storage = {f"storage.{name}": value for name, value in bucket.storage.model_dump().items()}
    return settings_of(bucket.address(folder).url, **storage)


def counts(report: IndexReport) -> tuple[object, ...]:
    return (report.indexed, report.copies, report.clips, report.passages, report.problems, report.exit_code)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    """That of `plain`."""
    return tmp_path_factory.mktemp("library") / "plain"


@pytest.fixture(scope="module")
def plain(corpus: Path, library: Path) -> IndexReport:
    """A run without shards."""
    return index([corpus], settings=settings_of(library))


def test_shards_by_hand_merged_are_a_plain_run(
    corpus: Path, plain: IndexReport, library: Path, tmp_path
) -> None:
    shards = [tmp_path / "1", tmp_path / "2"]
    for number, shard in enumerate(shards, 1):
        index([corpus], settings=settings_of(shard, scan__shard=f"{number}/2"))
    merge_libraries(shards, tmp_path / "merged")
    assert list(dump(tmp_path / "merged")) == list(dump(library))
    after = index([corpus], settings=settings_of(tmp_path / "merged"))
    assert (after.indexed, after.problems) == (0, plain.problems)


def test_a_library_on_a_store_is_that_of_a_folder(corpus: Path, tmp_path, bucket: FakeStore) -> None:
    """The rows and the report of a run on disk: new, and after every kind of change."""
    changing, changed = tmp_path / "corpus", tmp_path / "library"
    shutil.copytree(corpus, changing)
    on_disk = index([changing], settings=settings_of(changed))
    report = index([changing], settings=on_store(bucket))
    assert counts(report) == counts(on_disk)
    assert list(dump(bucket.address("library"))) == list(dump(changed))
    assert not open_layout(bucket.address("library")).shards()

    (changing / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nLoosen the nut.\n")
    write_video(changing / "c.mp4", 5)
    (changing / "0.md").rename(changing / "0.txt")
    (changing / "1.md").write_text("# Nuts\n\nA nut.\n")
    (changing / "2.md").write_bytes(b"")
    (changing / "bad.mp4").unlink()
    write_video(changing / "bad.mp4", 2)
    on_disk = index([changing], settings=settings_of(changed))
    report = index([changing], settings=on_store(bucket))
    assert counts(report) == counts(on_disk)
    assert list(dump(bucket.address("library"))) == list(dump(changed))
    assert index([changing], settings=on_store(bucket)).indexed == 0


def test_what_a_killed_run_left_in_its_shard_is_merged_by_the_next(
    corpus: Path, plain: IndexReport, library: Path, tmp_path, bucket: FakeStore
) -> None:
    for of in (on_store, lambda _, folder="library": settings_of(tmp_path / folder)):
        index([corpus / "0.md"], settings=of(bucket))
        index([corpus / "b.mp4"], settings=of(bucket, "library/shards/left"))
        report = index([corpus], settings=of(bucket))
        assert (report.indexed, report.unchanged) == (plain.indexed - 1, 1)
        assert report.problems == plain.problems
        made = library_location(of(bucket).library, bucket.storage)
        assert list(dump(made)) == list(dump(library))


def test_a_shard_of_other_encoders_is_named_and_indexed_again(corpus: Path, tmp_path) -> None:
    library = tmp_path / "library"
    index([corpus / "0.md"], settings=settings_of(library))
    left = library / "shards" / "left"
    index([corpus / "1.md"], settings=settings_of(left, video__rate=4.0))
    report = index([corpus / "0.md", corpus / "1.md"], settings=settings_of(library))
    assert (report.indexed, report.unchanged) == (1, 1)
    (line,) = (line for line in report.stages if "cannot be used, and is indexed again" in line)
    assert "video.rate = 4.0" in line
    assert not left.exists()
