"""A web out of folders, `.info.json` files, pool rows and documents, damaged too; and lists of videos."""

import json
import math
import shutil
import sys
from pathlib import Path

import pytest

from corpora.identity import content_hash
from corpora.outputs import OverwritePolicy
from rag.errors import ExtraMissing, UsageError, WebUnusable
from rag.web import TranscriptLine, VideoEntry, open_web, read_catalogue, write_catalogue
from rag.web.building import build_web
from rag.web.fetching import fetch_videos, listed_addresses
from tests.fakes.synthetic import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("videos") / "made.mp4"
    write_video(path, 2.0)
    return path


def test_every_source_becomes_one_web(tmp_path, video: Path) -> None:
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
    web = open_web(tmp_path / "web", dense=False)
    assert web.search_videos("holiday").results[0].id == plain.id
    assert web.search("vinegar").results[0].title == "Kettles"
    assert web.download(plain.url).video_id == content_hash(video)
    before = [(tmp_path / "web" / name).read_bytes() for name in ("web.jsonl", "pages.jsonl")]
    build_web(tmp_path / "web", [source], policy=OverwritePolicy(force=True))
    assert [(tmp_path / "web" / name).read_bytes() for name in ("web.jsonl", "pages.jsonl")] == before


def test_the_same_bytes_twice_are_a_reupload(tmp_path, video: Path) -> None:
    for name, day in (("late", "20200101"), ("early", "20100101")):
        shutil.copy(video, tmp_path / f"{name}.mp4")
        info = {"id": name, "webpage_url": f"https://v.example/{name}", "title": name, "upload_date": day}
        (tmp_path / f"{name}.info.json").write_text(json.dumps(info), encoding="utf-8")
    assert build_web(tmp_path / "web", [tmp_path]).aliases == 1
    by_id = read_catalogue(tmp_path / "web").by_id
    assert (by_id["early"].alias_of, by_id["late"].alias_of) == ("", "early")


def test_a_broken_catalogue_says_where(tmp_path) -> None:
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
        (json.dumps({"id": "b", "url": "u", "title": "t", "duration": math.nan}) + "\n", "duration: "),
        (json.dumps({"id": "b", "url": "u", "title": "t", "content_id": "../../x"}) + "\n", "content_id"),
    ):
        (tmp_path / "web.jsonl").write_text(line + wrong, encoding="utf-8")
        with pytest.raises(WebUnusable, match=said):
            read_catalogue(tmp_path)


URL = "https://v.example/watch?v="


def test_one_broken_line_is_reported_and_the_other_rows_are_taken(tmp_path) -> None:
    rows = [
        {"id": "a", "link": f"{URL}a", "title": "A", "duration": 10**400},
        {"link": "http://x/", "title": "bare", "transcript": [{"start": 10**400, "text": "x"}]},
        {"id": "b", "link": f"{URL}b", "title": "B", "local_path": "x" * 5000 + ".mp4"},
        {"id": "c", "link": f"{URL}c", "title": "C", "duration": "9" * 500},
    ]
    lines = [json.dumps(row) for row in rows]
    pool = tmp_path / "source" / "pool.jsonl"
    pool.parent.mkdir()
    pool.write_text("\n".join([*lines[:2], '{"id": "cut', *lines[2:], "[" * 100_000]) + "\n")
    report = build_web(tmp_path / "web", [pool.parent])
    assert report.videos == 4
    assert report.exit_code == 3
    assert [problem.path for problem in report.problems] == [f"{pool}:3", f"{pool}:6"]
    held = read_catalogue(tmp_path / "web")
    assert {entry.title: entry.duration for entry in held.videos} == dict.fromkeys(
        ["A", "bare", "B", "C"], 0.0
    )


def test_addresses_of_rows_of_pools_and_of_lines(tmp_path) -> None:
    rows = [{"videos": [{"url": f"{URL}a"}, {"url": f"{URL}b"}]}, {"source": [f"{URL}c", "a book"]}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "pool.csv").write_text(f"id,link\n1,{URL}b\n2,{URL}d\n", encoding="utf-8")
    (tmp_path / "php.json").write_text('["https:\\/\\/v.example\\/e"]', encoding="utf-8")
    lists = [tmp_path / name for name in ("rows.jsonl", "pool.csv", "php.json")]
    assert listed_addresses(lists) == (*(f"{URL}{name}" for name in "abcd"), "https://v.example/e")
    (tmp_path / "none.txt").write_text("a book", encoding="utf-8")
    with pytest.raises(UsageError, match="no web address"):
        listed_addresses([tmp_path / "none.txt"])
    with pytest.raises(UsageError, match="cannot be read"):
        listed_addresses([tmp_path / "missing.txt"])


def test_without_yt_dlp_the_extra_is_named(tmp_path, monkeypatch) -> None:
    (tmp_path / "list.txt").write_text(f"{URL}a\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "yt_dlp", None)
    with pytest.raises(ExtraMissing, match=r"pip install -e '\.\[fetch\]'"):
        fetch_videos(tmp_path / "videos", [tmp_path / "list.txt"])


def test_a_web_of_nothing_names_what_was_given(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=f"^{tmp_path}/empty: nothing to build"):
        build_web(tmp_path / "web", [tmp_path / "empty"])
    with pytest.raises(UsageError, match="name videos, documents or folders"):
        build_web(tmp_path / "web")
