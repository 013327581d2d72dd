"""Merged, exported and joined libraries: row for row what one indexed from the same files holds."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.records import Evidence, Problem, Shot, SoundTrack
from rag.errors import LibraryError, UsageError
from rag.indexing.merging import MergeReport, merge_libraries
from rag.library import Library
from rag.records import SearchFilter
from rag.settings import Settings
from rag.store.database import Database
from rag.store.error_mapping import TableGone
from rag.store.reading import Reader
from rag.store.records import SCORE_MEASURES, Meta, NullScores, ScoreCalibration
from rag.store.snapshot import Snapshot
from rag.store.writing import Writer
from tests.fakes.library_dump import dump, maintained
from tests.fakes.stopped_runs import Stop, stop_after
from tests.fakes.store_material import (
    IMAGE,
    META,
    TEXT,
    add_source,
    clip_frames,
    file_row,
    put_video,
    unit,
    video,
    video_path,
)

SETTINGS = Settings()
LEFT, RIGHT = (1, 3), (3, 4)


def index(folder: Path, videos: Sequence[int], sources: Sequence[int]) -> None:
    """As indexing does, with every kind of row."""
    with Writer.open(folder) as writer:
        writer.set_meta(META)
        for n in videos:
            made = video(n)
            shot = Shot(f"{made.video_id}:s00000", made.video_id, 0, 9, 4, "warm", 1, "live")
            track = SoundTrack(made.video_id, ("speech",) * 9, np.full(9, -20.5, np.float32))
            put_video(writer, n, {"frames": "1", "sidecars": ""}, shots=[shot], sound=track)
            writer.put_file(file_row(made.path, made.video_id, "video"))
            writer.put_problem(Problem(made.path, "damaged at 9 s", "indexed 60 s of it"), "")
        for n in sources:
            add_source(writer, n)
        writer.put_problem(Problem("/corpus/bad.mp4", "empty, 0 bytes"), "")
        writer.maintain()


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Libraries `left` and `right`, which share video 3 and source 2, and `both`."""
    folder = tmp_path_factory.mktemp("world")
    index(folder / "left", LEFT, (1, 2))
    index(folder / "right", RIGHT, (2, 3))
    index(folder / "both", (1, 3, 4), (1, 2, 3))
    merge(folder, folder / "merged")
    return folder


@pytest.fixture(scope="module")
def expected(world: Path) -> list[str]:
    return list(dump(world / "both"))


def merge(world: Path, into: Path, names: Sequence[str] = ("left", "right"), **given: Any) -> MergeReport:
    return merge_libraries([world / name for name in names], into, settings=SETTINGS, **given)


def test_a_merged_library_is_the_one_indexed_from_all_files(world: Path, expected: list[str]) -> None:
    assert list(dump(world / "merged")) == expected
    assert maintained(world / "merged")
    with Reader.open(world / "merged") as reader:
        assert {video.path for video in reader.videos()} == {video_path(n) for n in (1, 3, 4)}


def test_a_library_that_is_cleaned_while_it_is_read_is_copied_once(
    world: Path, tmp_path, expected: list[str], monkeypatch
) -> None:
    whole, names = Snapshot.stream, list[str]()

    def cleaned_once(self: Snapshot, name: str, where: str) -> Iterator[Any]:
        yield from whole(self, name, where)
        names.append(name)
        if names.count("evidence") == 1 and name == "evidence":
            raise TableGone("it is gone")

    monkeypatch.setattr(Snapshot, "stream", cleaned_once)
    merge(world, tmp_path / "merged")
    assert names.count("evidence") > 1
    assert list(dump(tmp_path / "merged")) == expected


def test_what_is_there_is_kept_and_not_copied_again(world: Path, tmp_path, expected: list[str]) -> None:
    shutil.copytree(world / "left", tmp_path / "into")
    report = merge(world, tmp_path / "into", ["right"])
    assert (report.files, report.videos, report.sources, report.known) == (2, 1, 1, 2)
    assert list(dump(tmp_path / "into")) == expected
    again = merge(world, tmp_path / "into", ["right"])
    assert (again.files, again.videos, again.known, again.exit_code) == (0, 0, 4, 0)


def test_an_exported_part_is_the_library_of_these_files(world: Path, tmp_path) -> None:
    report = merge(world, tmp_path / "part", ["merged"], paths=("part1/*", "texts/2.txt"))
    assert (report.files, report.videos, report.sources, report.exit_code) == (3, 2, 1, 0)
    index(tmp_path / "alone", (1, 3), (2,))
    with Writer.open(tmp_path / "alone") as writer:
        writer.clear_problem("/corpus/bad.mp4")
    assert list(dump(tmp_path / "part")) == list(dump(tmp_path / "alone"))
    nothing = merge(world, tmp_path / "none", ["both"], paths=("*.mov",))
    assert nothing.exit_code == 1
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("writes", [2, 9, 15])
def test_stopped_after_a_write_it_is_whole_and_run_again_the_same(
    world: Path, tmp_path, writes: int, monkeypatch, expected: list[str]
) -> None:
    """Of a group that is not committed, readers see no video."""

    # Made before, so that the writes counted are those of the copying.
    with Writer.open(tmp_path / "into") as writer:
        writer.set_meta(META)
    monkeypatch.setattr("rag.indexing.merging.GROUP", 2)
    stop_after(monkeypatch, writes, Database, ("add", "upsert", "delete"))
    stopped = False
    try:
        merge(world, tmp_path / "into")
    except Stop:
        stopped = True
    monkeypatch.undo()
    monkeypatch.setattr(Writer, "maintain", lambda self, *_: self.flush() or [])
    assert stopped
    with Reader.open(tmp_path / "into") as reader:
        assert len(reader.videos()) in {0, 2}
        for found in reader.videos():
            assert len(reader.frames([clip.clip_id for clip in reader.clips(found.video_id)])) == 2
    merge(world, tmp_path / "into")
    assert list(dump(tmp_path / "into")) == expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda m: replace(m, image_encoder=replace(IMAGE, fingerprint="a" * 32, batch=16)),
            "image.* x16.* x8.*; .* RAG_ENCODER__IMAGE=tiny RAG_ENCODER__DEVICE=cpu rag index FOLDER",
        ),
        (
            lambda m: replace(m, image_encoder=None),
            "no image encoder, .*RAG_ENCODER__IMAGE=tiny .* rag index FOLDER --reembed --library .*/other$",
        ),
        (
            # An image encoder may be made of the text encoder: encoding the images again would not do.
            lambda m: replace(
                m,
                text_encoder=replace(TEXT, fingerprint="a" * 32),
                image_encoder=replace(IMAGE, fingerprint="a" * 32),
            ),
            f"text encoder .*new library with RAG_ENCODER__TEXT={TEXT.name}$",
        ),
        (lambda m: replace(m, settings={"video.rate": 4.0}), "video.rate = 4.0"),
    ],
)
def test_libraries_that_do_not_compare_are_refused_untouched(
    world: Path, tmp_path, change: Callable[[Meta], Meta], words: str
) -> None:
    with Writer.open(tmp_path / "other") as writer:
        writer.set_meta(change(META))
    with pytest.raises(LibraryError, match=words):
        merge_libraries([world / "left", tmp_path / "other"], tmp_path / "into", settings=SETTINGS)
    assert not (tmp_path / "into").exists()
    with pytest.raises(LibraryError, match="other") as refused:
        merge(world, tmp_path / "other")
    if words.startswith("no image encoder"):
        assert str(refused.value).endswith(f"rag index FOLDER --reembed --library {tmp_path}/other")


def test_a_path_of_two_contents_keeps_the_newest_or_what_is_there(world: Path, tmp_path) -> None:
    row = file_row(video_path(4), video(1).video_id, "video")
    shutil.copytree(world / "left", tmp_path / "left")
    with Writer.open(tmp_path / "left") as writer:
        writer.put_file(replace(row, mtime_ns=99))
        writer.put_file(file_row("/corpus/new.mp4", "f" * 32, "video"))
    report = merge_libraries([tmp_path / "left", world / "right"], tmp_path / "into", settings=SETTINGS)
    assert (report.exit_code, report.left_out, report.videos) == (3, 1, 2)
    assert [problem.path for problem in report.problems] == [video_path(4)]
    with Reader.open(tmp_path / "into") as reader:
        assert reader.paths(video(1).video_id) == (video_path(4), video_path(1))
        assert "/corpus/new.mp4" not in reader.files()
    (kept,) = merge(world, tmp_path / "into", ["right"]).problems
    assert kept.action == "kept what the library has"


def test_the_copy_with_subtitle_files_is_taken(tmp_path) -> None:
    """Also by a search; where several have different ones, or what is there lacks them, it is said."""
    for name, sidecars in (("a", ""), ("b", "1"), ("c", "2")):
        with Writer.open(tmp_path / name) as writer:
            writer.set_meta(META)
            made = replace(video(3), path=f"/{name}.mp4")
            said = [Evidence(made.video_id, 0.0, 5.0, "subtitle", f"said {name}")] if sidecars else []
            stages, vectors = {"asr": "off", "sidecars": sidecars}, unit(3, len(said), TEXT.dim)
            writer.put_video(made, stages, [clip_frames(3, 0)], said, vectors)
            writer.put_file(file_row(made.path, made.video_id, "video"))

    def texts(*folders: str) -> list[str]:
        with Reader.open(*(tmp_path / name for name in folders)) as reader:
            return [span.text for span in reader.evidence(video(3).video_id, 0.0, 5.0)]

    def lines(into: str, *names: str) -> list[str]:
        stages = merge(tmp_path, tmp_path / into, names).stages
        return [line for line in stages if line.startswith("videos of which the libraries have different")]

    assert lines("ab", "a", "b") == []
    assert texts("ab") == texts("a", "b") == ["said b"]
    for names in (("abc", "a", "b", "c"), ("ab", "c"), ("a", "b")):
        (line,) = lines(*names)
        assert "subtitle files: 1; those of one library are kept" in line
    assert texts("abc") == texts("ab") == ["said b"]
    assert lines("b", "a") == []


def answers(reader: Reader) -> list[object]:
    """What a reader says of everything, without first paths, which libraries choose for themselves."""
    where = SearchFilter(start=0.0, end=45.0)
    ids = [f"{video(n).video_id}:{at:05d}" for n in (4, 1, 3) for at in (1, 0)]
    return [
        reader.search_clips(unit(7, IMAGE.dim), 9),
        reader.search_clips(unit(7, IMAGE.dim), 9, where),
        reader.search_evidence(unit(8, TEXT.dim), 20),
        reader.search_passages(unit(9, TEXT.dim), 20),
        sorted(hit.key for hit in reader.match_evidence("number lamp solder", 20)),
        sorted(hit.key for hit in reader.match_passages("lamp", 20)),
        [(frames.clip, frames.vectors.tolist()) for frames in reader.frames(ids)],
        reader.spans([hit.key for hit in reader.search_evidence(unit(8, TEXT.dim), 20)]),
        reader.passages(sorted(hit.key for hit in reader.match_passages("lamp", 20))),
        [replace(found, path="") for found in reader.videos()],
        sorted(reader.files()),
        reader.shots_by_video(),
        reader.evidence_kinds(),
    ]


def test_several_libraries_are_searched_as_the_merged_one(world: Path) -> None:
    with Reader.open(world / "left", world / "right") as apart, Reader.open(world / "merged") as merged:
        assert answers(apart) == answers(merged)
        assert len(apart.match_evidence("number lamp solder", 20)) == 9


def test_the_scale_of_images_is_that_of_the_library_with_most_clips(tmp_path) -> None:
    for name, clips in (("small", 5), ("large", 50), ("none", 0)):
        with Writer.open(tmp_path / name) as writer:
            writer.set_meta(META)
            if clips:
                null = NullScores((clips,), (0.1,), (0.1,))
                writer.put_calibration(ScoreCalibration(SCORE_MEASURES, "", (0.0,), null))
    with Library.open(
        *(tmp_path / name for name in ("small", "none", "large")), settings=SETTINGS
    ) as library:
        meta = library.engine.reader.meta
        assert meta.calibration.image == NullScores((50,), (0.1,), (0.1,))
        assert library.library_id.count("+") == 2
        assert library.reopen().library_id == library.library_id
        with pytest.raises(UsageError):
            library.remove([video_path(1)])
        with pytest.raises(UsageError):
            library.stats()
