"""Index files of large tables: what they propose against exact search, and what becomes of them."""

import errno
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from corpora.records import Clip, Evidence, EvidenceKind, Passage, Video
from rag.errors import LibraryCorrupt
from rag.records import SearchFilter
from rag.store import code_index, maintenance, schema
from rag.store.checking import check_files_of, damaged_index
from rag.store.code_index import FORMAT
from rag.store.layout import Layout
from rag.store.reading import Reader
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta
from rag.store.writing import Writer
from tests.fakes.library_dump import dump
from tests.fakes.store_material import unit

pytestmark = pytest.mark.slow

IMAGE, TEXT = EncoderRef("made-up", "a" * 32, 32), EncoderRef("made-up", "b" * 32, 48)
VIDEOS, CLIPS, SPANS = 100, 20, 80
EXACT_ROWS = 500
KINDS: tuple[EvidenceKind, ...] = ("asr", "ocr", "caption", "subtitle")


def video(n: int) -> Video:
    return Video(f"{n:032x}", f"/v/{n}.mp4", f"Video {n}", "", (), 30.0 * CLIPS, 30, 64, 48, True, "en")


def rows_of(n: int) -> list[tuple[str, Any]]:
    """The rows of a video: its vectors are near to each other, as those of real videos are."""
    video_id = video(n).video_id
    frames, spans = unit(n, CLIPS, IMAGE.dim) + unit(n + 1000, IMAGE.dim), unit(n + 2000, SPANS, TEXT.dim)
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    clips = [
        ClipFrames(
            Clip(f"{video_id}:{i:05d}", video_id, 30.0 * i, 30.0 * i + 30),
            np.zeros(1),
            frames[i : i + 1],
            frames[i],
        )
        for i in range(CLIPS)
    ]
    texts = [
        Evidence(video_id, 7.0 * i, 7.0 * i + 7, KINDS[i % 4], f"words of {n} {i}") for i in range(SPANS)
    ]
    return [
        (schema.vectors_table(IMAGE), schema.vector_rows(clips, IMAGE.dim)),
        ("clips", schema.clip_rows(clips)),
        ("evidence", schema.evidence_rows(video_id, texts, spans, TEXT.dim)),
    ]


def put_videos(writer: Writer, numbers: range) -> None:
    """In one commit a table."""
    tables: dict[str, list[Any]] = {}
    for name, rows in (row for n in numbers for row in rows_of(n)):
        tables.setdefault(name, []).append(rows)
    writer.put_copies(
        {video(n): {} for n in numbers}, ((name, pa.concat_tables(rows)) for name, rows in tables.items())
    )
    for n in numbers:
        writer.put_file(FileRow(video(n).path, video(n).video_id, "video", 1, 1, 1, ""))


def fill(folder: Path, videos: range, group: int = VIDEOS) -> list[str]:
    """Make a library, or add to it, `group` videos a commit; the lines of maintenance."""
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(IMAGE, TEXT))
        for first in range(videos.start, videos.stop, group):
            put_videos(writer, range(first, min(first + group, videos.stop)))
        return writer.maintain(EXACT_ROWS)


@pytest.fixture(autouse=True)
def small_segments(monkeypatch) -> None:
    monkeypatch.setattr(code_index, "SEGMENT_ROWS", 2000)
    monkeypatch.setattr(code_index, "PROPOSED", 1000)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("codes") / "lib"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_index, "SEGMENT_ROWS", 2000)
        fill(folder, range(VIDEOS))
    return folder


def both(folder: Path) -> Iterator[Reader]:
    with Reader.open(folder) as exact, Reader.open(folder, exact_rows=EXACT_ROWS) as coded:
        yield exact
        yield coded


EVERYTHING = SearchFilter()


def recall(folder: Path, where: SearchFilter = EVERYTHING, questions: int = 10) -> float:
    """Share of the exact top 10 of clips and spans that are found; scores and counts must be equal."""
    found = 0
    with Reader.open(folder) as exact, Reader.open(folder, exact_rows=EXACT_ROWS) as coded:
        vectors = coded._snapshot.vectors("evidence")
        assert isinstance(vectors.parts[0], code_index.Segment)
        assert exact.count_clips(where) == coded.count_clips(where)
        for seed in range(questions):
            for kind, dim in (("search_clips", IMAGE.dim), ("search_evidence", TEXT.dim)):
                query = unit(5000 + seed, dim)
                right = getattr(exact, kind)(query, 10, where)
                hits = getattr(coded, kind)(query, 10, where)
                assert len(hits) == len(right)
                scores = {hit.key: hit.score for hit in hits}
                assert all(scores[hit.key] == hit.score for hit in right if hit.key in scores)
                found += len(scores.keys() & {hit.key for hit in right}) or (not right)
    return found / (2 * questions * max(1, len(right)))


WHERE = {
    "all": SearchFilter(),
    "some videos": SearchFilter(videos=frozenset(video(n).video_id for n in range(0, VIDEOS, 2))),
    "one video": SearchFilter(videos=frozenset([video(7).video_id])),
    "paths": SearchFilter(paths=("/v/1*.mp4",)),
    "times": SearchFilter(start=300.0, end=900.0),
    "kinds": SearchFilter(kinds=frozenset(["asr", "ocr"])),
    "spans": SearchFilter(spans={video(n).video_id: ((0.0, 200.0),) for n in range(50)}),
    "nothing": SearchFilter(videos=frozenset()),
}


@pytest.mark.parametrize("name", WHERE)
def test_nearest_and_counts_are_those_of_exact_search(library: Path, name: str) -> None:
    assert recall(library, WHERE[name]) >= 0.99


def test_rows_are_read_by_id_and_by_key_as_without_an_index(library: Path) -> None:
    exact, coded = both(library)
    hits = coded.search_evidence(unit(1, TEXT.dim), 20)
    keys = [hit.key for hit in hits] + [f"{video(3).video_id}:e000007"]
    assert coded.spans(keys) == exact.spans(keys)
    assert coded.match_evidence("words 17", 20) == exact.match_evidence("words 17", 20)
    assert coded.evidence(video(3).video_id, 0, 99) == exact.evidence(video(3).video_id, 0, 99)
    assert coded.evidence_kinds() == exact.evidence_kinds()
    clips = [hit.key for hit in coded.search_clips(unit(2, IMAGE.dim), 5)]
    for one, other in zip(coded.frames(clips), exact.frames(clips), strict=True):
        np.testing.assert_array_equal(one.vectors, other.vectors)
    assert len(coded.clip_vectors()[0]) == VIDEOS * CLIPS
    assert coded.frames(["none:00000"]) == []
    with pytest.raises(ValueError, match=r"must be \(32,\)"):
        coded.search_clips(unit(1, 3), 1)


def test_passages_that_many_sources_hold_count_once(tmp_path) -> None:
    folder, held = tmp_path / "lib", [Passage(f"p{i:03d}", f"d{i}", "", f"Text {i}.", ()) for i in range(200)]
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(None, TEXT))
        for n in range(20):
            writer.put_passages(f"source{n}", held, unit(1, len(held), TEXT.dim))
            writer.put_file(FileRow(f"/t/{n}.jsonl", f"source{n}", "passages", 1, 1, 1, ""))
        writer.maintain(EXACT_ROWS)
    exact, coded = both(folder)
    query = unit(2, TEXT.dim)
    assert len(exact.search_passages(query, 20)) == len(coded.search_passages(query, 20)) == 20
    assert exact.search_passages(query, 1) == coded.search_passages(query, 1)


def index_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Layout(folder).indexes.iterdir()}


def test_an_index_that_grew_or_was_deleted_finds_the_same(library: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(maintenance, "LATER_ROWS", 0)
    fill(tmp_path / "lib", range(60), group=20)
    fill(tmp_path / "lib", range(60, VIDEOS), group=23)
    assert recall(tmp_path / "lib") >= 0.99
    assert list(dump(tmp_path / "lib")) == list(dump(library))
    for path in Layout(tmp_path / "lib").indexes.iterdir():
        path.unlink()
    with Writer.open(tmp_path / "lib") as writer:
        writer.maintain(EXACT_ROWS)
    assert recall(tmp_path / "lib") >= 0.99


def test_additions_removals_and_pending_videos(tmp_path) -> None:
    folder = tmp_path / "lib"
    fill(folder, range(80))
    with Writer.open(folder) as writer:
        # Not maintained: later rows are searched beside the index, pending ones not at all.
        put_videos(writer, range(80, 90))
        writer.remove_paths([video(n).path for n in range(10)])
        writer.begin_video(video(20))
    before = index_files(folder)
    assert recall(folder) >= 0.99
    with Writer.open(folder) as writer:
        writer.maintain(EXACT_ROWS)
    assert recall(folder) >= 0.99
    assert index_files(folder) == before
    with Writer.open(folder) as writer:
        writer.remove_paths([video(n).path for n in range(10, 40)])
        writer.maintain(EXACT_ROWS)
    assert recall(folder) >= 0.99
    assert not index_files(folder).keys() & {name for name in before if not name.endswith("json")}


def test_a_kill_before_the_manifest_leaves_the_index_of_before(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "lib"
    monkeypatch.setattr(maintenance, "LATER_ROWS", 0)
    fill(folder, range(60))
    manifest = (Layout(folder).indexes / "evidence.json").read_bytes()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(code_index, "write_manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            fill(folder, range(60, 90))
    assert (Layout(folder).indexes / "evidence.json").read_bytes() == manifest
    assert recall(folder) >= 0.99
    with Writer.open(folder) as writer:
        writer.maintain(EXACT_ROWS)
    assert recall(folder) >= 0.99


@pytest.mark.parametrize("damage", ["truncated", "missing", "manifest", "format"])
def test_a_damaged_index_is_reported_not_used_and_made_again(
    library: Path, tmp_path, damage: str, caplog
) -> None:
    folder = Path(shutil.copytree(library, tmp_path / "lib"))
    layout = Layout(folder)
    path = next(layout.indexes.glob("evidence.000.*.codes"))
    manifest = layout.indexes / "evidence.json"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-1000])
    elif damage == "missing":
        path.unlink()
    elif damage == "manifest":
        manifest.write_text("{")
    else:
        manifest.write_text(manifest.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT - 1}'))
    assert damaged_index(folder) == check_files_of(layout).index_files["evidence"] != ""
    query = unit(3, TEXT.dim)
    exact, reader = both(folder)
    with caplog.at_level(logging.WARNING):
        assert reader.search_evidence(query, 10) == exact.search_evidence(query, 10)
    assert "table evidence is searched exactly" in caplog.text
    with Writer.open(folder) as writer:
        writer.maintain(EXACT_ROWS)
    assert damaged_index(folder) == ""
    assert recall(folder) >= 0.99


@pytest.mark.parametrize("read", [{"side_effect": OSError(errno.EIO, "error")}, {"return_value": 4}])
def test_vectors_that_cannot_be_read_are_one_line(library: Path, monkeypatch, read: dict[str, Any]) -> None:
    _, coded = both(library)
    monkeypatch.setattr(os, "preadv", Mock(**read))
    with pytest.raises(LibraryCorrupt, match=r"\.vectors: .*; remove it, and .*: rag index FOLDER"):
        coded.search_clips(unit(3, IMAGE.dim), 10)


def test_what_the_disk_has_no_room_for_is_a_line_and_searched_exactly(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(maintenance, "LATER_ROWS", 0)
    folder = tmp_path / "lib"
    assert fill(folder, range(60)) == []
    before = index_files(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Layout, "has_room", lambda *_: False)
        evidence, clips = fill(folder, range(60, 80))
    assert evidence.startswith("table evidence: 1600 of 6400 rows are searched exactly, slowly and in memory")
    assert clips.startswith("table vectors_")
    assert ": 400 of 1600 rows are searched" in clips
    assert "no room for 0.9 MB of index files; make room, and the next rag index" in evidence
    assert index_files(folder) == before
    assert recall(folder) >= 0.99
    assert fill(folder, range(80, 81)) == []
    assert index_files(folder).keys() != before.keys()


def test_a_pinned_reader_finds_what_was_removed_before_the_index_was_made(tmp_path) -> None:
    folder = tmp_path / "lib"
    fill(folder, range(80))
    for path in Layout(folder).indexes.iterdir():
        path.unlink()
    with Reader.open(folder) as exact, Reader.open(folder, exact_rows=EXACT_ROWS) as pinned:
        with Writer.open(folder) as writer:
            writer.remove_paths([video(7).path])
            writer.maintain(EXACT_ROWS)
        for seed in range(5):
            query = unit(700 + seed, TEXT.dim)
            where = SearchFilter(videos=frozenset([video(7).video_id]))
            assert len(pinned.search_evidence(query, 10, where)) == 10
            assert pinned.search_evidence(query, 10, where) == exact.search_evidence(query, 10, where)
        parts = pinned._snapshot.vectors("evidence").parts
        assert isinstance(parts[0], code_index.Segment)


def test_a_small_library_has_no_index_files(tmp_path) -> None:
    fill(tmp_path / "lib", range(5))
    assert not Layout(tmp_path / "lib").indexes.exists()
