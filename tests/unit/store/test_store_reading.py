"""The reader: what it finds, what it hides, in which order."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpora.settings import ScanSettings, StorageSettings
from rag.errors import LibraryCorrupt, UsageError
from rag.records import SearchFilter
from rag.store.lookup import file_statuses, resolve_citation, seconds
from rag.store.reading import Reader
from rag.store.records import Hit
from rag.store.writing import Writer
from tests.fakes.store_material import (
    IMAGE,
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

QUERY = unit(9, IMAGE.dim)
WORD_QUERY = unit(9, TEXT.dim)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "lib"
    fill(folder, videos=(1, 2, 3), sources=(1, 2))
    with Writer.open(folder) as writer:
        writer.put_file(file_row(video(8).path, video(8).video_id, "video"))
    return folder


@pytest.fixture
def reader(library: Path) -> Reader:
    return Reader.open(library)


def test_a_video_of_which_a_repair_left_nothing_is_named(reader: Reader) -> None:
    assert reader.taken_out() == {video(8).video_id}
    shown = {each.path: each for each in file_statuses(reader, StorageSettings(), ScanSettings())}
    assert (shown[video(1).path].status, shown[video(8).path].status) == ("indexed", "partly")
    assert shown[video(8).path].reason.startswith("taken out by a repair")


def best(hits: list[Hit]) -> list[str]:
    return [hit.key for hit in hits]


def expected_clips(videos: tuple[int, ...]) -> list[tuple[str, float]]:
    found = []
    for n in videos:
        for i in range(2):
            made = clip_frames(n, i)
            stored = made.clip_vector.astype(np.float16).astype(np.float64)
            found.append((made.clip.clip_id, round(float(stored @ QUERY.astype(np.float64)), 6)))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def test_clips_are_ranked_by_cosine_and_pending_ones_are_not_there(reader: Reader) -> None:
    hits = reader.search_clips(QUERY, 100)
    assert [(hit.key, hit.score) for hit in hits] == expected_clips((1, 2, 3))
    assert reader.search_clips(QUERY, 2) == hits[:2]
    assert reader.search_clips(QUERY, 0) == []


def test_clips_filtered_by_video_path_and_time(reader: Reader) -> None:
    one = frozenset([video(1).video_id])
    assert best(reader.search_clips(QUERY, 9, SearchFilter(videos=one))) == [
        k for k, _ in expected_clips((1,))
    ]
    assert reader.search_clips(QUERY, 9, SearchFilter(videos=frozenset([video(8).video_id]))) == []
    odd = [k for k, _ in expected_clips((1, 3))]
    assert best(reader.search_clips(QUERY, 9, SearchFilter(paths=("/corpus/part1",)))) == odd
    assert best(reader.search_clips(QUERY, 9, SearchFilter(paths=("*/part1/*.mp4",)))) == odd
    assert best(reader.search_clips(QUERY, 9, SearchFilter(paths=("video[13].mp4",)))) == odd
    assert best(reader.search_clips(QUERY, 9, SearchFilter(videos=one, paths=("video2.mp4",)))) == []
    early = reader.search_clips(QUERY, 9, SearchFilter(end=30.0))
    assert {key[-5:] for key in best(early)} == {"00000"}
    assert {key[-5:] for key in best(reader.search_clips(QUERY, 9, SearchFilter(start=30.0)))} == {"00001"}
    assert len(reader.search_clips(QUERY, 9, SearchFilter(start=29.9, end=30.1))) == 6


def test_evidence_filtered_in_both_searches(reader: Reader) -> None:
    for where, kept in [
        (SearchFilter(), lambda _: True),
        (SearchFilter(kinds=frozenset(["ocr"])), lambda span: span.kind == "ocr"),
        (SearchFilter(kinds=frozenset()), lambda _: False),
        (SearchFilter(start=5.0, end=15.0), lambda span: span.start == 10.0),
        (SearchFilter(start=5.0, end=float("inf")), lambda span: span.start >= 10.0),
        (SearchFilter(start=float("inf")), lambda _: False),
        (
            SearchFilter(videos=frozenset([video(2).video_id])),
            lambda span: span.video_id == video(2).video_id,
        ),
        (SearchFilter(paths=("video2.mp4", "video3.mp4")), lambda span: span.video_id != video(1).video_id),
        (SearchFilter(paths=("nothing",)), lambda _: False),
    ]:
        wanted = sorted(
            (s for n in (1, 2, 3) for s in spans(n) if kept(s)), key=lambda s: (s.video_id, s.start)
        )
        for hits in (
            reader.search_evidence(WORD_QUERY, 99, where),
            reader.match_evidence("number", 99, where),
        ):
            found = reader.spans([hit.key for hit in hits])
            assert sorted(found, key=lambda s: (s.video_id, s.start)) == wanted, where


def test_hidden_kinds_are_neither_given_nor_searched(reader: Reader) -> None:
    held = {kind for kinds in reader.evidence_kinds().values() for kind in kinds}
    assert held > {"subtitle"}
    everywhere = SearchFilter(), SearchFilter(kinds=frozenset(["subtitle", "ocr"]))
    with Reader.open(reader.folder, hidden=("subtitle",)) as without:
        assert {kind for kinds in without.evidence_kinds().values() for kind in kinds} == held - {"subtitle"}
        for n in (1, 2, 3):
            found = without.evidence(video(n).video_id, 0.0, float("inf"))
            assert found == [
                span for span in sorted(spans(n), key=lambda s: s.start) if span.kind != "subtitle"
            ]
        for where in everywhere:
            for hits in (
                without.search_evidence(WORD_QUERY, 99, where),
                without.match_evidence("number", 99, where),
            ):
                assert hits
                assert "subtitle" not in {span.kind for span in without.spans([hit.key for hit in hits])}


def test_passages_filtered_by_path(reader: Reader) -> None:
    where = SearchFilter(paths=("2.txt",))
    wanted = {p.passage_id for p in passages(2)}
    assert set(best(reader.search_passages(WORD_QUERY, 99, where))) == wanted
    assert set(best(reader.match_passages("lamp", 99, where))) == wanted
    assert len(reader.search_passages(WORD_QUERY, 99)) == 8
    assert reader.match_passages("lamp", 99, SearchFilter(paths=("none",))) == []


def test_frames_come_in_the_order_asked_for(reader: Reader) -> None:
    asked = [clip_frames(3, 1), clip_frames(1, 0), clip_frames(3, 1)]
    found = reader.frames([c.clip.clip_id for c in asked])
    for got, made in zip(found, asked, strict=True):
        assert got.clip == made.clip
        assert got.vectors.dtype == np.float32
        np.testing.assert_array_equal(got.times, made.times)
        np.testing.assert_array_equal(got.vectors, made.vectors.astype(np.float16).astype(np.float32))
        np.testing.assert_array_equal(got.clip_vector, made.clip_vector.astype(np.float16).astype(np.float32))
    assert reader.frames([]) == reader.frames([clip_frames(8, 0).clip.clip_id]) == []


def test_names_and_ids(reader: Reader) -> None:
    assert [v.path for v in reader.videos()] == sorted(video_path(n) for n in (1, 2, 3))
    assert reader.video(video(1).video_id) == video(1)
    assert reader.paths(video(1).video_id) == (video_path(1),)
    assert reader.clips(video(2).video_id) == [clip_frames(2, 0).clip, clip_frames(2, 1).clip]
    assert reader.clips("unknown") == []
    assert reader.passages(["p002-1", "p001-3"]) == [passages(2)[1], passages(1)[3]]
    assert reader.passage_files() == ["/corpus/texts/1.txt", "/corpus/texts/2.txt"]
    for unknown in (reader.video, reader.paths):
        with pytest.raises(KeyError):
            unknown(video(8).video_id + "x")
    with pytest.raises(KeyError):
        reader.video(video(8).video_id)
    for missing in (reader.passages, reader.spans, reader.passage_paths):
        assert missing([]) == []
        with pytest.raises(KeyError):
            missing(["nothing"])


@pytest.mark.parametrize("name", ["2.txt", "texts/2.txt@0-1", "/corpus/texts/2.txt"])
def test_a_document_is_not_taken_for_a_video_that_is_missing(reader: Reader, name: str) -> None:
    with pytest.raises(UsageError, match=r"is a document; .* p002-0, p002-1, p002-2, p002-3"):
        resolve_citation(reader, name)


def test_a_video_without_times_is_not_taken_for_a_passage_that_is_missing(reader: Reader) -> None:
    path = reader.paths(video(1).video_id)[0]
    with pytest.raises(UsageError, match=f"is a video; .*: {path}@0-5"):
        resolve_citation(reader, path)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("12.5", 12.5), ("00:18", 18.0), ("1:23.25", 83.25), ("1:02:03", 3723.0), ("90", 90.0), ("1e2", 100.0)],
)
def test_a_time_is_seconds_or_a_clock(given: str, expected: float) -> None:
    assert seconds(given) == expected


@pytest.mark.parametrize(
    "given", ["", "1:60", "1:75:00", "1:2:3:4", ":5", "a", "1:-5", "１:02x", "nan", "inf", "1e400"]
)
def test_what_is_no_time_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        seconds(given)


def test_a_window_is_cited_by_clock_times_too(reader: Reader) -> None:
    name = video(1).video_id
    assert resolve_citation(reader, f"{name}@00:01-00:02") == resolve_citation(reader, f"{name}@1-2")
    with pytest.raises(UsageError, match=r"in seconds or as 01:02:03"):
        resolve_citation(reader, f"{name}@00:01-00:75")
    with pytest.raises(UsageError, match=r"in seconds or as 01:02:03"):
        resolve_citation(reader, f"{name}@1-nan")


def test_vectors_of_spans_are_those_they_were_indexed_with(reader: Reader) -> None:
    one, two = video(1).video_id, video(2).video_id
    windows = [(one, 4.9, 10.1), (two, 0.0, 100.0), (video(8).video_id, 0.0, 100.0)]
    found = reader.span_vectors(windows)
    assert found.keys() == {span.text for spans_ in reader.evidence_of(windows) for span in spans_}
    for span, vector in zip(spans(2), unit(2, 3, TEXT.dim), strict=True):
        np.testing.assert_array_equal(found[span.text], vector.astype(np.float16))
    assert reader.span_vectors([]) == {}


def test_stats_count_what_is_seen(reader: Reader) -> None:
    stats = reader.stats()
    assert (stats.files, stats.videos, stats.taken_out, stats.clips) == (6, 3, 1, 6)
    assert (stats.evidence, stats.passages, stats.documents, stats.problems) == (9, 8, 2, 0)
    assert stats.video_hours == pytest.approx(3 * 60 / 3600)
    assert stats.bytes > 0


def test_frames_that_were_damaged_after_opening_are_named(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1, 2), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        keys = [clip_frames(n, 0).clip.clip_id for n in (1, 2)]
        assert len(reader.frames(keys)) == 2
        written = clip_frames(1, 0).vectors[1].astype(np.float16).tobytes()
        (file,) = (tmp_path / "lib" / "tables").glob("vectors_*/data/*.lance")
        content = file.read_bytes()
        assert content.count(written) == 1
        file.write_bytes(content.replace(written, b"\xff\x7f" * (len(written) // 2)))
        with pytest.raises(LibraryCorrupt, match="a file is damaged"):
            reader.frames(keys)


def test_an_empty_library_answers_nothing(tmp_path) -> None:
    Writer.open(tmp_path / "lib").close()
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.meta is None
        assert reader.search_clips(QUERY, 3) == reader.match_evidence("x", 3) == []
        assert reader.stats().videos == 0
    with Writer.open(tmp_path / "lib") as writer:
        writer.set_meta(META)
    with Reader.open(tmp_path / "lib") as reader:
        assert reader.search_clips(QUERY, 3) == reader.search_evidence(WORD_QUERY, 3) == []
        assert reader.match_evidence("x", 3) == reader.match_passages("x", 3) == reader.problems() == []


def test_a_reader_stays_where_it_is_until_refreshed(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=())
    with Reader.open(tmp_path / "lib") as reader:
        before = reader.search_clips(QUERY, 99)
        with Writer.open(tmp_path / "lib") as writer:
            add_video(writer, 2)
            add_source(writer, 2)
            writer.remove_paths([video_path(1)])
            writer.maintain()
        assert reader.search_clips(QUERY, 99) == before
        assert len(reader.frames([hit.key for hit in before])) == 2
        assert reader.match_evidence("number", 9) != []
        reader.refresh()
        assert {hit.key[:32] for hit in reader.search_clips(QUERY, 99)} == {video(2).video_id}
        assert len(reader.match_passages("lamp", 99)) == 4


def test_versions_cleaned_away_are_replaced_by_the_newest(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    reader = Reader.open(tmp_path / "lib")
    reader.close()
    with Writer.open(tmp_path / "lib") as writer:
        writer.remove_paths([video_path(1)])
        add_video(writer, 2)
        add_video(writer, 3)
        writer.maintain()
    found = reader.search_clips(QUERY, 99)
    assert {hit.key[:32] for hit in found} == {video(2).video_id, video(3).video_id}


def test_threads_share_a_reader(library: Path) -> None:
    with Reader.open(library) as reader:
        answers: list[object] = []

        def ask() -> None:
            answers.append((reader.search_clips(QUERY, 3), reader.match_evidence("number", 3)))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8
        assert all(answer == answers[0] for answer in answers)


def test_the_digest_of_contents_changes_with_what_is_indexed(tmp_path) -> None:
    fill(tmp_path / "lib", videos=(1,), sources=(1,))
    seen = [Reader.open(tmp_path / "lib").contents()]
    assert Reader.open(tmp_path / "lib").contents() == seen[0]
    with Writer.open(tmp_path / "lib") as writer:
        add_source(writer, 2)
    seen.append(Reader.open(tmp_path / "lib").contents())
    with Writer.open(tmp_path / "lib") as writer:
        add_video(writer, 2)
    seen.append(Reader.open(tmp_path / "lib").contents())
    with Writer.open(tmp_path / "lib") as writer:
        writer.maintain()
        writer.rename_videos([replace(video(2), path="/moved/2.mp4")])
    assert Reader.open(tmp_path / "lib").contents() == seen[-1]
    with Writer.open(tmp_path / "lib") as writer:
        stages = writer.stage_fingerprints()[video(2).video_id]
        writer.put_stages({video(2).video_id: {**stages, "shots": "measured again"}})
    seen.append(Reader.open(tmp_path / "lib").contents())
    assert len({*seen}) == 4
