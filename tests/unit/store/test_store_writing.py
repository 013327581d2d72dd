"""The writer: idempotent, and never leaving a row that belongs to nothing."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from corpora.records import Clip, Evidence, Passage, Problem
from rag.errors import LibraryNotFound
from rag.store.reading import Reader
from rag.store.records import ClipFrames, FileRow
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.store_material import (
    META,
    TEXT,
    add_source,
    add_video,
    clip_frames,
    file_row,
    fill,
    passages,
    put_video,
    spans,
    unit,
    video,
    video_path,
)


def rows(folder: Path, table: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in dump(folder)]
    return [row for row in found if row["table"] == table or row["table"].startswith(f"{table}_")]


def test_the_same_rows_written_twice_in_any_order_are_the_same_library(tmp_path) -> None:
    fill(tmp_path / "once")
    fill(tmp_path / "twice", videos=(3, 2, 1), sources=(2, 1))
    fill(tmp_path / "twice")
    assert list(dump(tmp_path / "once")) == list(dump(tmp_path / "twice"))


def test_a_video_written_again_leaves_nothing_old(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        put_video(writer, 1, {}, 3)
        writer.put_video(video(1), {}, [clip_frames(1, 0)], spans(1)[:1], unit(1, 1, TEXT.dim))
        writer.flush()
        writer.put_video(video(1), {}, [clip_frames(1, 1)], spans(1)[:1], unit(1, 1, TEXT.dim))
    (row,) = rows(tmp_path / "lib", "vectors")
    assert row["clip_id"] == clip_frames(1, 1).clip.clip_id
    assert [row["words"] for row in rows(tmp_path / "lib", "evidence")] == ["iron number 1"]
    assert len(rows(tmp_path / "lib", "videos")) == 1


def test_vectors_that_do_not_fit_are_refused_whole(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    before = list(dump(tmp_path / "lib"))
    with Writer.open(tmp_path / "lib") as writer:
        good, bad = clip_frames(1, 0), dataclasses.replace(clip_frames(1, 1), rows=unit(1, 3, 7))
        with pytest.raises(ValueError, match="dimension 16"):
            writer.put_video(video(1), {}, [good, bad])
        broken = dataclasses.replace(good, clip_vector=np.full(16, np.nan, np.float32))
        with pytest.raises(ValueError, match="finite"):
            writer.put_video(video(1), {}, [broken])
    assert list(dump(tmp_path / "lib")) == before


def test_two_paths_of_one_content_go_one_by_one(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=(1,))
    with Writer.open(tmp_path / "lib") as writer:
        writer.put_file(file_row("/copy.mp4", video(1).video_id, "video"))
        removed = writer.remove_paths([video_path(1), "/never/seen"])
        assert (removed.paths, removed.videos) == ((video_path(1),), ())
        assert video(1).video_id in writer.stage_fingerprints()
        removed = writer.remove_paths(["/copy.mp4", "/corpus/texts/1.txt"])
        assert removed.videos == (video(1).video_id,)
        assert removed.sources == ("source1",)
        writer.maintain()
    fill(tmp_path / "never", videos=(2,), sources=())
    assert list(dump(tmp_path / "lib")) == list(dump(tmp_path / "never"))


def test_passages_without_their_file_are_not_committed(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        add_source(writer, 1)
        writer.flush()
        writer.put_passages("killed", passages(7), unit(7, 4, TEXT.dim))
        writer.flush()
        with Reader.open(tmp_path / "lib") as reader:
            assert reader.stats().passages == 4
    assert {row["source_id"] for row in rows(tmp_path / "lib", "passages")} == {"source1"}


def test_passages_brought_in_parts_replace_the_old_ones(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        add_source(writer, 1)
        writer.begin_passages("source1")
        assert writer.files() == {}
        writer.add_passages("source1", passages(1)[:1], unit(1, 1, TEXT.dim))
        writer.add_passages("source1", passages(1)[3:], unit(2, 1, TEXT.dim))
        writer.put_file(file_row("/corpus/texts/1.txt", "source1", "passages"))
    assert [row["passage_id"] for row in rows(tmp_path / "lib", "passages")] == ["p001-0", "p001-3"]


def test_a_library_without_images_may_be_given_an_encoder(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(dataclasses.replace(META, image_encoder=None))
        with pytest.raises(ValueError, match="no image encoder"):
            writer.put_video(video(1), {}, [clip_frames(1, 0)])
        clip = Clip(f"{video(1).video_id}:00000", video(1).video_id, 0.0, 30.0)
        writer.put_video(video(1), {}, [ClipFrames.bare(clip)])
        writer.set_meta(META)
        add_video(writer, 2)
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.clips(video(1).video_id)[0] == clip
        assert {hit.key[:32] for hit in reader.search_clips(unit(0, 16), 9)} == {video(2).video_id}
        assert reader.frames([clip.clip_id]) == []


def test_odd_names_and_odd_texts_come_back(tmp_path) -> None:
    path = "/odd/\udcff\n'; DROP--\u00e9.mp4"
    odd = dataclasses.replace(video(1), path=path, title="a\udcffb", tags=())
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        read = [Evidence(odd.video_id, 0, 1, "ocr", "x\udc80y\0")]
        writer.put_video(odd, {"a": {"b": [1, None]}}, (), read, unit(1, 1, 8))
        writer.put_file(FileRow(path, odd.video_id, "video", 1, 2, 3, "s"))
        writer.put_problem(Problem(path, "bad \udcfe"), "s1")
        writer.put_problem(Problem(path, "worse"), "s2")
    with Writer.open(tmp_path / "lib") as writer:
        assert writer.files()[path].path == path
        assert writer.stage_fingerprints() == {odd.video_id: {"a": {"b": [1, None]}}}
        assert writer.problems() == {path: (Problem(path, "worse"), "s2")}
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.video(odd.video_id) == dataclasses.replace(odd, title="a?b")
        assert reader.problems() == [Problem(path, "worse")]
        assert reader.evidence(odd.video_id, 0, 1)[0].text == "x?y\0"
    with Writer.open(tmp_path / "lib") as writer:
        writer.clear_problem(path)
        assert writer.remove_paths([path]).videos == (odd.video_id,)
    assert [row for row in map(json.loads, dump(tmp_path / "lib")) if row["table"] != "meta"] == []


def test_the_same_passage_in_two_sources_is_found_once(tmp_path) -> None:
    """That of the first path, also of its pages."""
    shared = Passage("shared", "d", "", "lamp", (4, 5))
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for source, path, pages in (("s1", "/b.pdf", (9,)), ("s2", "/a.pdf", (4, 5)), ("s3", "/c.txt", ())):
            held = dataclasses.replace(shared, pages=pages)
            writer.put_passages(source, [held], unit(1, 1, TEXT.dim))
            writer.put_file(file_row(path, source, "passages"))
        writer.maintain()
    with Reader.open(tmp_path / "lib") as reader:
        assert [hit.key for hit in reader.search_passages(unit(1, TEXT.dim), 5)] == ["shared"]
        assert [hit.key for hit in reader.match_passages("lamps", 5)] == ["shared"]
        assert reader.passages(["shared", "shared"]) == [shared, shared]
        assert reader.passage_paths(["shared"]) == ["/a.pdf"]


def test_opening_what_is_not_there(tmp_path) -> None:
    with pytest.raises(LibraryNotFound, match="rag index"):
        Writer.open(tmp_path / "lib", create=False)
    assert not (tmp_path / "lib").exists()
    with pytest.raises(LibraryNotFound):
        Reader.open(tmp_path / "lib")
