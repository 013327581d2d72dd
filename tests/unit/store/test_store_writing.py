"""The writer: idempotent, and never leaving a row that belongs to nothing."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from corpora.records import Clip, Evidence, Passage, Problem
from rag.errors import LibraryNotFound
from rag.store.database import Database
from rag.store.layout import open_layout
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


def test_a_replaced_clip_and_replaced_evidence_leave_nothing_old(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        writer.begin_video(video(1))
        writer.add_clips([clip_frames(1, 0)])
        changed = dataclasses.replace(clip_frames(1, 0), pixels="other")
        writer.add_clips([changed, clip_frames(1, 1)])
        writer.put_evidence(video(1).video_id, spans(1), unit(1, 3, TEXT.dim))
        writer.put_evidence(video(1).video_id, spans(1)[:1], unit(1, 1, TEXT.dim))
        writer.finish_video(video(1), {})
    assert [row["pixels"] for row in rows(tmp_path / "lib", "clips")] == ["other", "pixels-1-1"]
    assert len(rows(tmp_path / "lib", "vectors")) == 2
    assert [row["words"] for row in rows(tmp_path / "lib", "evidence")] == ["iron number 1"]


def test_clips_without_vectors_are_deleted_and_the_rest_resumed(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        writer.begin_video(video(2))
        writer.add_clips([clip_frames(2, 0), clip_frames(2, 1)])
    database = Database(open_layout(tmp_path / "lib"))
    database.delete(f"vectors_{'f' * 24}", f"clip_id = '{clip_frames(2, 0).clip.clip_id}'")
    database.commit()
    with Writer.open(tmp_path / "lib") as writer:
        assert writer.incomplete() == {video(2).video_id}
        writer.begin_video(video(2))
        assert [c.clip for c in writer.committed_clips(video(2).video_id)] == [clip_frames(2, 1).clip]
        add_video(writer, 2)
        writer.maintain()
    fill(tmp_path / "undisturbed", videos=(1, 2), sources=())
    assert list(dump(tmp_path / "lib")) == list(dump(tmp_path / "undisturbed"))


def test_vectors_that_do_not_fit_are_refused_whole(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        writer.begin_video(video(1))
        good, bad = clip_frames(1, 0), dataclasses.replace(clip_frames(1, 1), rows=unit(1, 3, 7))
        with pytest.raises(ValueError, match="dimension 16"):
            writer.add_clips([good, bad])
        broken = dataclasses.replace(good, clip_vector=np.full(16, np.nan, np.float32))
        with pytest.raises(ValueError, match="finite"):
            writer.add_clips([broken])
        assert writer.committed_clips(video(1).video_id) == []


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


def test_a_video_is_seen_as_it_was_until_it_is_finished_again(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Writer.open(tmp_path / "lib") as writer:
        writer.begin_video(video(1))
        writer.add_clips([dataclasses.replace(clip_frames(1, 0), pixels="other")])
        writer.put_evidence(video(1).video_id, spans(1)[:1], unit(1, 1, TEXT.dim))
        with Reader.open(tmp_path / "lib") as reader:
            assert len(reader.evidence(video(1).video_id, 0.0, 1e9)) == 3
            assert len(reader.clips(video(1).video_id)) == 2
            writer.finish_video(video(1), {})
            assert len(reader.evidence(video(1).video_id, 0.0, 1e9)) == 3
            reader.refresh()
            assert len(reader.evidence(video(1).video_id, 0.0, 1e9)) == 1


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


def test_unfinished_videos_of_no_known_path_can_be_dropped(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        for n in (1, 2):
            writer.begin_video(video(n))
            writer.add_clips([clip_frames(n, 0)])
        writer.put_file(file_row(video_path(1), video(1).video_id, "video"))
        assert writer.drop_unfinished() == (video(2).video_id,)
        assert writer.incomplete() == {video(1).video_id}


def test_a_library_without_images_may_be_given_an_encoder(tmp_path) -> None:
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(dataclasses.replace(META, image_encoder=None))
        writer.begin_video(video(1))
        with pytest.raises(ValueError, match="no image encoder"):
            writer.add_clips([clip_frames(1, 0)])
        clip = Clip(f"{video(1).video_id}:00000", video(1).video_id, 0.0, 30.0)
        for _ in range(2):
            writer.add_clips([ClipFrames.bare(clip, "hash")])
        assert [c.pixels for c in writer.committed_clips(video(1).video_id)] == ["hash"]
        writer.finish_video(video(1), {})
        writer.set_meta(META)
        add_video(writer, 2)
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.clips(video(1).video_id) == [clip]
        assert {hit.key[:32] for hit in reader.search_clips(unit(0, 16), 9)} == {video(2).video_id}
        assert reader.frames([clip.clip_id]) == []


def test_odd_names_and_odd_texts_come_back(tmp_path) -> None:
    path = "/odd/\udcff\n'; DROP--\u00e9.mp4"
    odd = dataclasses.replace(video(1), path=path, title="a\udcffb", tags=())
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
        writer.begin_video(odd)
        writer.put_evidence(odd.video_id, [Evidence(odd.video_id, 0, 1, "ocr", "x\udc80y\0")], unit(1, 1, 8))
        writer.finish_video(odd, {"a": {"b": [1, None]}})
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
