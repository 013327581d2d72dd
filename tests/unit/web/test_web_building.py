"""A web out of folders, `.info.json` files, pool rows and documents: what is known of each video."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from corpora.identity import content_hash
from rag.errors import UnreadableFile, UsageError, WebUnusable
from rag.web import TranscriptLine, VideoEntry, open_web, read_catalogue, write_catalogue
from rag.web.building import NO_IMAGES, build_web
from rag.web.source_rows import catalogue_fields, read_rows, spread
from tests.fakes.synthetic import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("videos") / "made.mp4"
    write_video(path, 2.0)
    return path


def test_every_source_becomes_one_web(tmp_path: Path, video: Path) -> None:
    source = tmp_path / "source"
    (source / "videos").mkdir(parents=True)
    shutil.copy(video, source / "My_holiday.2019.mp4")
    other = source / "videos" / "dl.mp4"
    write_video(other, 1.0)
    info = {
        "id": "abcdefghijk",
        "webpage_url": "https://www.youtube.com/watch?v=abcdefghijk",
        "title": "A title\nof two lines",
        "channel": "A channel",
        "upload_date": "20210203",
        "tags": ["one", "two"],
        "age_limit": 18,
    }
    (source / "videos" / "dl.info.json").write_text(json.dumps(info), encoding="utf-8")
    (source / "videos" / "dl.en.vtt").write_text(
        "WEBVTT\n\n00:00.000 --> 00:01.000\nHello there\n", encoding="utf-8"
    )
    row = {
        "id": "poolrow0001",
        "link": "https://youtu.be/poolrow0001",
        "title": "Pool",
        "transcript": "One. Two.",
    }
    again = {
        "id": "abcdefghijk",
        "link": "https://youtu.be/abcdefghijk",
        "title": "",
        "description": "From the pool",
    }
    (source / "pool.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(again) + "\n", encoding="utf-8")
    (source / "note.md").write_text("# Kettles\n\nDescale them with vinegar.\n", encoding="utf-8")

    report = build_web(tmp_path / "web", [source])
    assert (report.videos, report.with_file, report.with_transcript, report.pages) == (3, 2, 2, 1)
    assert report.exit_code == 0
    catalogue = read_catalogue(tmp_path / "web")
    entry = catalogue.by_id["abcdefghijk"]
    assert entry.title == "A title of two lines"
    assert (entry.channel, entry.upload_date, entry.tags) == ("A channel", "2021-02-03", ("one", "two"))
    assert entry.description == "From the pool"
    assert entry.availability == "age-gated"
    assert entry.transcript == (TranscriptLine(0.0, 1.0, "Hello there"),)
    assert entry.content_id == content_hash(other)
    pool = catalogue.by_id["poolrow0001"]
    assert [line.text for line in pool.transcript] == ["One.", "Two."]
    assert not pool.transcript_timed
    (plain,) = [entry for entry in catalogue.videos if entry.title == "My holiday 2019"]
    assert plain.id == content_hash(video)[:11]
    assert plain.duration == pytest.approx(2.0, abs=0.2)
    assert (catalogue.folder / plain.file).is_file()
    with open_web(tmp_path / "web", engine="bm25") as web:
        assert web.search_videos("holiday").results[0].id == plain.id
        assert web.search("vinegar").results[0].title == "Kettles"
        assert web.download(plain.url).video_id == content_hash(video)
    before = [(tmp_path / "web" / name).read_bytes() for name in ("web.jsonl", "pages.jsonl")]
    build_web(tmp_path / "web", [source])
    assert [(tmp_path / "web" / name).read_bytes() for name in ("web.jsonl", "pages.jsonl")] == before


def test_the_same_bytes_twice_are_a_reupload(tmp_path: Path, video: Path) -> None:
    for name, day in (("late", "20200101"), ("early", "20100101")):
        shutil.copy(video, tmp_path / f"{name}.mp4")
        info = {"id": name, "webpage_url": f"https://v.example/{name}", "title": name, "upload_date": day}
        (tmp_path / f"{name}.info.json").write_text(json.dumps(info), encoding="utf-8")
    assert build_web(tmp_path / "web", [tmp_path]).aliases == 1
    by_id = read_catalogue(tmp_path / "web").by_id
    assert (by_id["early"].alias_of, by_id["late"].alias_of) == ("", "early")


@pytest.mark.parametrize(
    ("stated", "day"), [("20240229", "2024-02-29"), ("20240230", ""), ("2024-13-01", "")]
)
def test_a_day_that_no_calendar_has_is_no_date(tmp_path: Path, video: Path, stated: str, day: str) -> None:
    shutil.copy(video, tmp_path / "a.mp4")
    info = {"id": "a", "webpage_url": "https://v.example/a", "title": "a", "upload_date": stated}
    (tmp_path / "a.info.json").write_text(json.dumps(info), encoding="utf-8")
    build_web(tmp_path / "web", [tmp_path])
    assert read_catalogue(tmp_path / "web").by_id["a"].upload_date == day


def test_a_bad_file_is_reported_and_the_rest_is_built(tmp_path: Path, video: Path) -> None:
    shutil.copy(video, tmp_path / "good.mp4")
    (tmp_path / "bad.mp4").write_bytes(b"no video at all")
    report = build_web(tmp_path / "web", [tmp_path])
    assert report.videos == 1
    assert [Path(problem.path).name for problem in report.problems] == ["bad.mp4"]
    assert report.exit_code == 3


def test_sound_files_are_named_as_left_out(tmp_path: Path, video: Path) -> None:
    shutil.copy(video, tmp_path / "good.mp4")
    for name in ("song.mp3", "talk.m4a"):
        (tmp_path / name).write_bytes(b"ID3")
    report = build_web(tmp_path / "web", [tmp_path])
    assert report.videos == 1
    assert [problem.path for problem in report.problems] == [
        str(tmp_path / "song.mp3"),
        str(tmp_path / "talk.m4a"),
    ]
    assert {problem.reason for problem in report.problems} == {NO_IMAGES}


def test_nothing_to_build_from(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to build"):
        build_web(tmp_path / "web", [tmp_path])
    with pytest.raises(UnreadableFile):
        build_web(tmp_path / "web", [tmp_path / "gone"])


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (61, 61.0),
        ("1:01", 61.0),
        ("1:00:01", 3601.0),
        ("PT1M5S", 65.0),
        ("soon", 0.0),
        (True, 0.0),
        (-3, 0.0),
    ],
)
def test_durations_in_every_hand(given: object, seconds: float) -> None:
    assert catalogue_fields({"link": "u", "duration": given}).get("duration", 0.0) == seconds


def test_rows_are_distinguished_from_documents(tmp_path: Path) -> None:
    rows, texts = tmp_path / "rows.json", tmp_path / "texts.jsonl"
    rows.write_text(json.dumps([{"link": "https://v.example/watch?v=x", "tags": "a, b"}]), encoding="utf-8")
    texts.write_text(json.dumps({"title": "t", "text": "words"}) + "\n", encoding="utf-8")
    found = read_rows(rows)
    assert found is not None
    assert catalogue_fields(found.rows[0]) == {
        "id": "x",
        "url": "https://v.example/watch?v=x",
        "tags": ("a", "b"),
    }
    assert read_rows(texts) is None


def test_words_without_times_are_spread_by_length() -> None:
    first, second = spread("Aaaa. Bbbbbbbbbbbb.", 18.0)
    assert (first.start, first.end, second.end) == (0.0, second.start, 18.0)
    assert second.end - second.start > first.end


def test_a_broken_catalogue_says_where(tmp_path: Path) -> None:
    with pytest.raises(WebUnusable, match="rag web build"):
        open_web(tmp_path)
    write_catalogue(tmp_path, [VideoEntry("a", "https://v.example/watch?v=a", "A")])
    line = (tmp_path / "web.jsonl").read_text(encoding="utf-8")
    for wrong, said in (
        (line, "is listed twice"),
        ("{}\n", "id: Field required"),
        (
            json.dumps({"id": "b", "url": "u", "title": "t", "file": "../../etc/passwd"}) + "\n",
            "not the name of a video",
        ),
        (json.dumps({"id": "b", "url": "u", "title": "t", "alias_of": "zz"}) + "\n", "no such video"),
        (json.dumps({"id": "b", "url": "u", "title": "t", "availability": "maybe"}) + "\n", "availability"),
    ):
        (tmp_path / "web.jsonl").write_text(line + wrong, encoding="utf-8")
        with pytest.raises(WebUnusable, match=said):
            read_catalogue(tmp_path)
