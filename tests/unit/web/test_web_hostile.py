"""A web with damaged or invalid files: errors name the place, and the rest is built."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from corpora.identity import content_hash
from indexers.protocol import TextEncoder
from rag.errors import WebUnusable
from rag.web import VideoEntry, open_web, read_catalogue, write_catalogue
from rag.web.building import build_web
from rag.web.engine import SearchEngine
from rag.web.source_rows import catalogue_fields

URL = "https://v.example/watch?v="


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"duration": math.nan}, "duration nan"),
        ({"duration": math.inf}, "duration inf"),
        ({"duration": -1.0}, "duration -1"),
        ({"transcript": [{"start": 0, "end": math.inf, "text": "x"}]}, "transcript: 0 to inf"),
        ({"transcript": [{"start": math.nan, "end": 1, "text": "x"}]}, "transcript: nan to 1"),
        ({"transcript": [{"start": -2, "end": 1, "text": "x"}]}, "transcript: -2 to 1"),
        ({"transcript": [{"start": 2, "end": 1, "text": "x"}]}, "transcript: 2 to 1"),
        ({"content_id": "../../elsewhere"}, "content_id"),
    ],
)
def test_what_no_video_has_is_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    line = {"id": "a", "url": f"{URL}a", "title": "A", **change}
    (tmp_path / "web.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(WebUnusable, match=rf"web\.jsonl:1: {said}"):
        read_catalogue(tmp_path)


def test_one_broken_line_is_reported_and_the_other_rows_are_taken(tmp_path: Path) -> None:
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


def test_times_of_a_row_that_are_none_are_left_out() -> None:
    said = [
        {"start": 1, "end": math.inf, "text": "one"},
        {"start": math.nan, "end": 2, "text": "two"},
        {"start": -5, "end": 2, "text": "three"},
        {"start": 4, "duration": 2, "text": "four"},
    ]
    lines = catalogue_fields({"link": "u", "transcript": said})["transcript"]
    assert [(line.start, line.end, line.text) for line in lines] == [(1.0, 1.0, "one"), (4.0, 6.0, "four")]


def test_a_target_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "web").write_text("a file")
    with pytest.raises(WebUnusable, match="cannot be written"):
        write_catalogue(tmp_path / "web", [VideoEntry("a", f"{URL}a", "A")])


@pytest.mark.parametrize("again", [False, True])
def test_a_damaged_file_of_the_cache_is_fetched_again(tmp_path: Path, again: bool) -> None:
    video = tmp_path / "video.mp4"
    video.write_bytes(b"a video " * 99)
    whole = content_hash(video)
    write_catalogue(tmp_path, [VideoEntry("a", f"{URL}a", "A", file="video.mp4", content_id=whole)])
    web = open_web(tmp_path)
    path = Path(web.download(f"{URL}a").path)
    path.unlink()
    path.write_bytes(b"abc")
    web = web.session() if again else open_web(tmp_path)
    assert content_hash(web.download(f"{URL}a").path) == whole


class Encoder(TextEncoder):
    name = fingerprint = "letters"
    dim = 26

    def _encode(self, texts: list[str]) -> np.ndarray:
        [text.encode("utf-8") for text in texts]
        return np.ones((len(texts), self.dim), np.float32) / np.sqrt(self.dim)


@pytest.mark.parametrize("held", [b"", b"PK\x03\x04", b"\x93NUMPY"])
def test_damaged_vectors_are_computed_again(tmp_path: Path, held: bytes) -> None:
    entries = [VideoEntry("a", f"{URL}a", "kettle"), VideoEntry("b", f"{URL}b", "pot")]
    cache = tmp_path / ".vectors"
    found = SearchEngine(entries, "dense", Encoder, cache).rank("kettle")
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(held)
    assert SearchEngine(entries, "dense", Encoder, cache).rank("kettle") == found
    assert kept.read_bytes() == whole
    shutil.rmtree(cache)


def test_a_query_that_is_no_text_is_asked_all_the_same() -> None:
    entries = [VideoEntry("a", f"{URL}a", "kettle")]
    assert [hit.number for hit in SearchEngine(entries, "hybrid", Encoder).rank("kettle \udcff")] == [0]
