"""Large tables, which are searched by LanceDB's index: what is found, against exact search."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from corpora.records import Clip, Evidence, EvidenceKind, Passage, Video
from rag.records import SearchFilter
from rag.store import schema, vectors
from rag.store.reading import Reader
from rag.store.records import ClipFrames, EncoderRef, FileRow, Meta
from rag.store.writing import Writer
from tests.fakes.library_dump import table_health
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
        ("evidence", schema.evidence_rows(video_id, texts, spans, TEXT.dim)),
    ]


def put_videos(writer: Writer, numbers: range) -> None:
    """In one commit a table."""
    tables: dict[str, list[Any]] = {}
    for name, rows in (row for n in numbers for row in rows_of(n)):
        tables.setdefault(name, []).append(rows)
    writer.put_videos(
        {video(n): {} for n in numbers}, ((name, pa.concat_tables(rows)) for name, rows in tables.items())
    )
    for n in numbers:
        writer.put_file(FileRow(video(n).path, video(n).video_id, "video", 1, 1, 1, ""))


def fill(folder: Path, videos: range) -> None:
    """Make a library, or add to it."""
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(IMAGE, TEXT))
        put_videos(writer, videos)
        writer.maintain(EXACT_ROWS)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "lib"
    fill(folder, range(VIDEOS))
    return folder


EVERYTHING = SearchFilter()


def recall(folder: Path, where: SearchFilter = EVERYTHING, questions: int = 10) -> float:
    """Share of the exact top 10 of clips and spans that are found; scores and counts must be equal."""
    found = 0
    with (
        patch.object(
            vectors.Indexed, "nearest", autospec=True, side_effect=vectors.Indexed.nearest
        ) as nearest,
        Reader.open(folder) as exact,
        Reader.open(folder, exact_rows=EXACT_ROWS) as indexed,
    ):
        assert exact.count_clips(where) == indexed.count_clips(where)
        for seed in range(questions):
            for kind, dim in (("search_clips", IMAGE.dim), ("search_evidence", TEXT.dim)):
                query = unit(5000 + seed, dim)
                right = getattr(exact, kind)(query, 10, where)
                hits = getattr(indexed, kind)(query, 10, where)
                assert len(hits) == len(right)
                scores = {hit.key: hit.score for hit in hits}
                assert all(scores[hit.key] == hit.score for hit in right if hit.key in scores)
                found += len(scores.keys() & {hit.key for hit in right}) or (not right)
        assert nearest.called, "the index must have been asked"
    return found / (2 * questions * max(1, len(right)))


WHERE = {
    "all": SearchFilter(),
    "some videos": SearchFilter(videos=frozenset(video(n).video_id for n in range(0, VIDEOS, 2))),
    "one video": SearchFilter(videos=frozenset([video(7).video_id])),
    "paths": SearchFilter(paths=("/v/1*.mp4",)),
    "times": SearchFilter(start=300.0, end=900.0),
    "a moment": SearchFilter(start=100.0, end=101.0),
    "kinds": SearchFilter(kinds=frozenset(["asr", "ocr"])),
    "spans": SearchFilter(spans={video(n).video_id: ((0.0, 200.0),) for n in range(50)}),
    "nothing": SearchFilter(videos=frozenset()),
}


@pytest.mark.parametrize("name", WHERE)
def test_nearest_and_counts_are_those_of_exact_search(library: Path, name: str) -> None:
    assert recall(library, WHERE[name]) >= 0.99


def test_all_vectors_are_there_and_one_of_another_length_is_refused(library: Path) -> None:
    with Reader.open(library, exact_rows=EXACT_ROWS) as indexed:
        assert len(indexed.clip_vectors()[0]) == VIDEOS * CLIPS
        with pytest.raises(ValueError, match=r"must be \(32,\)"):
            indexed.search_clips(unit(1, 3), 1)


def test_passages_that_many_sources_hold_count_once(tmp_path) -> None:
    folder, held = tmp_path / "lib", [Passage(f"p{i:03d}", f"d{i}", "", f"Text {i}.", ()) for i in range(200)]
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(None, TEXT))
        for n in range(20):
            writer.put_passages(f"source{n}", held, unit(1, len(held), TEXT.dim))
            writer.put_file(FileRow(f"/t/{n}.jsonl", f"source{n}", "passages", 1, 1, 1, ""))
        writer.maintain(EXACT_ROWS)
    query = unit(2, TEXT.dim)
    with Reader.open(folder) as exact, Reader.open(folder, exact_rows=EXACT_ROWS) as indexed:
        assert len(exact.search_passages(query, 20)) == len(indexed.search_passages(query, 20)) == 20
        assert exact.search_passages(query, 1) == indexed.search_passages(query, 1)


def test_vectors_whose_dimensions_are_no_multiple_of_8_are_searched_without_an_index(tmp_path) -> None:
    folder, text = tmp_path / "lib", EncoderRef("made-up", "b" * 32, 12)
    held = [Passage(f"p{i:03d}", "d", "", f"Text {i}.", ()) for i in range(EXACT_ROWS + 1)]
    with Writer.open(folder) as writer:
        writer.set_meta(Meta(None, text))
        writer.put_passages("source", held, unit(1, len(held), text.dim))
        writer.put_file(FileRow("/t/a.jsonl", "source", "passages", 1, 1, 1, ""))
        writer.maintain(EXACT_ROWS)
    query = unit(2, text.dim)
    with Reader.open(folder) as exact, Reader.open(folder, exact_rows=EXACT_ROWS) as indexed:
        assert exact.search_passages(query, 20) == indexed.search_passages(query, 20)


def test_rows_that_came_after_the_index_or_went_since(tmp_path) -> None:
    folder = tmp_path / "lib"
    fill(folder, range(80))
    with Writer.open(folder) as writer:
        # Not maintained: later rows are searched beside the index.
        put_videos(writer, range(80, 90))
        writer.remove_paths([video(n).path for n in range(10)])
    assert recall(folder) >= 0.99
    fill(folder, range(90, VIDEOS))
    assert table_health(folder)["evidence"].unindexed == 0
    assert recall(folder) >= 0.99
