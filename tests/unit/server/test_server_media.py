"""Media and lists: ranges, conditional requests, clips, frames, captions, pages, states."""

import io
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from corpora.records import Evidence, SubtitleTrack, Video
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from rag.library import Library
from rag.server import media
from rag.server.media import how_to_play
from rag.server.renditions import IN_USE_SECONDS, DiskCache
from rag.store.reading import Reader
from tests.fakes.served_library import SECONDS, World
from tests.fakes.synthetic import read_time_code


def _kind(answer: Any) -> str:
    return str(answer.json()["type"]).removeprefix("urn:rag:problem:")


def test_a_file_is_given_whole_in_part_or_not_again(client: TestClient, world: World) -> None:
    address, data = f"/v1/videos/{world.lamp}/file", world.lamp_file.read_bytes()
    whole = client.get(address)
    assert (whole.status_code, whole.content == data, whole.headers["content-type"]) == (
        200,
        True,
        "video/mp4",
    )
    assert whole.headers["accept-ranges"] == "bytes"
    tag = whole.headers["etag"]
    assert tag == f'"{world.lamp}"'
    part = client.get(address, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, data[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(data)}"
    assert client.get(address, headers={"Range": "bytes=-10"}).content == data[-10:]
    for unreadable in ("bytes=5-2", "items=0-1", "bytes=a-b", "bytes", "bytes=-"):
        answer = client.get(address, headers={"Range": unreadable})
        assert (answer.status_code, answer.content == data) == (200, True)
    beyond = client.get(address, headers={"Range": f"bytes={len(data)}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(data)}")
    assert client.get(address, headers={"Range": "bytes=0-9", "If-Range": '"other"'}).status_code == 200
    assert client.get(address, headers={"Range": "bytes=0-9", "If-Range": tag}).status_code == 206
    for given in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        unchanged = client.get(address, headers={"If-None-Match": given})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
    head = client.head(address)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(data)))


def test_a_name_that_is_not_utf8_is_no_error(client: TestClient, world: World) -> None:
    assert client.get(f"/v1/videos/{world.kettle}/file").status_code == 200
    paths = {row["video_id"]: row["path"] for row in client.get("/v1/videos").json()["videos"]}
    assert paths[world.kettle].endswith("caf\udce9 kettle.mkv")
    shape = client.post("/v1/search", json={"query": "kettle"})
    assert (shape.status_code, "caf\\udce9" in shape.text) == (200, True)


def test_a_file_that_is_gone_is_404_and_one_that_was_changed_409(client: TestClient, world: World) -> None:
    for part in ("file", "remux", "clip?start=0&end=1", "frame?t=0", "thumbnail"):
        answer = client.get(f"/v1/videos/{world.gone}/{part}")
        assert (answer.status_code, _kind(answer)) == (404, "file-gone")
    facts = world.lamp_file.stat()
    os.utime(world.lamp_file, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    try:
        answer = client.get(f"/v1/videos/{world.lamp}/file")
        assert (answer.status_code, _kind(answer)) == (409, "file-changed")
        stale = client.get("/v1/files?status=stale").json()["files"]
        assert {Path(row["path"]).name: row["state"] for row in stale} == {
            "lamp.mp4": "changed",
            "gone.mp4": "missing",
            "all.pdf": "missing",
        }
        video = client.get(f"/v1/videos/{world.lamp}").json()
        assert (video["state"], video["media"]["play"]) == ("changed", "none")
    finally:
        os.utime(world.lamp_file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert client.get(f"/v1/videos/{'f' * 32}/file").json()["type"].endswith("unknown-id")


def test_a_frame_is_the_one_on_screen(client: TestClient, world: World) -> None:
    answer = client.get(f"/v1/videos/{world.lamp}/frame", params={"t": 2.34})
    image = np.asarray(Image.open(io.BytesIO(answer.content)))
    assert image.shape == (120, 160, 3)
    assert read_time_code(image) == 23
    assert answer.headers["rag-frame-time"] == "2.300000"
    tag = {"If-None-Match": answer.headers["etag"]}
    assert client.get(f"/v1/videos/{world.lamp}/frame", params={"t": 2.34}, headers=tag).status_code == 304
    upright = client.get(f"/v1/videos/{world.kettle}/frame", params={"t": 0, "height": 80})
    assert Image.open(io.BytesIO(upright.content)).size == (44, 80)
    assert client.get(f"/v1/videos/{world.lamp}/frame", params={"t": "nan"}).status_code == 422


def _probe(data: bytes, folder: Path) -> Probe:
    file = folder / "got.mp4"
    file.write_bytes(data)
    with MediaReader() as reader:
        return reader.probe(str(file))


def test_a_clip_is_the_window_and_a_remux_the_whole_file(client: TestClient, world: World, tmp_path) -> None:
    clip = client.get(f"/v1/videos/{world.kettle}/clip", params={"start": 1.5, "end": 3})
    assert (clip.status_code, clip.headers["content-type"]) == (200, "video/mp4")
    facts = _probe(clip.content, tmp_path)
    assert (facts.codec, round(facts.duration, 1)) == ("h264", 1.5)
    whole = _probe(client.get(f"/v1/videos/{world.kettle}/remux").content, tmp_path)
    assert (whole.container[:3], whole.codec, round(whole.duration)) == ("mov", "h264", SECONDS)
    tail = client.get(f"/v1/videos/{world.kettle}/remux", headers={"Range": "bytes=0-7"})
    assert (tail.status_code, tail.content[4:8]) == (206, b"ftyp")
    for start, end in ((3, 3), (5, 4), (SECONDS, 99)):
        answer = client.get(f"/v1/videos/{world.kettle}/clip", params={"start": start, "end": end})
        assert (answer.status_code, _kind(answer)) == (400, "usage-error")


@pytest.mark.parametrize(
    ("path", "facts", "play"),
    [
        ("a.mp4", ("mov,mp4", "h264", "aac", "yuv420p"), "file"),
        ("a.webm", ("matroska,webm", "vp9", "opus", "yuv420p"), "file"),
        ("a.mp3", ("mp3", "", "mp3float", ""), "file"),
        ("a.mkv", ("matroska,webm", "h264", "aac", "yuv420p"), "remux"),
        ("a.mkv", ("matroska,webm", "vp9", "opus", "yuv420p"), "clip"),
        ("a.mp4", ("mov,mp4", "hevc", "aac", "yuv420p"), "clip"),
        ("a.mp4", ("mov,mp4", "h264", "ac3", "yuv420p"), "clip"),
        ("a.mp4", ("mov,mp4", "h264", "aac", "yuv422p10le"), "clip"),
        ("a.bmp", ("bmp_pipe", "bmp", "", "bgr24"), "image"),
    ],
)
def test_how_a_browser_plays_a_file_is_decided_by_what_is_in_it(
    path: str, facts: tuple[str, ...], play: str
) -> None:
    names = dict(zip(("container", "codec", "audio_codec", "pixel_format"), facts, strict=True))
    media = SimpleNamespace(probe=lambda *_: SimpleNamespace(**names))
    video = Video("v", "v.mp4", "", "", (), SECONDS, 25.0, 160, 120, True, "")
    found = how_to_play(SimpleNamespace(media=media), video, path)
    assert (found["play"], bool(found["reason"])) == (play, play in ("remux", "clip"))


def test_captions_are_escaped(client: TestClient, world: World) -> None:
    text = client.get(f"/v1/videos/{world.lamp}/captions.vtt").text
    assert "00:00:00.000 --> 00:00:03.000\nSwitch the &lt;b&gt;lamp&lt;/b&gt; on.\n" in text
    assert client.get(f"/v1/videos/{world.lamp}/captions.vtt?kind=ocr").text == "WEBVTT\n"
    assert client.get(f"/v1/videos/{world.gone}/captions.vtt").status_code == 200


def test_captions_are_of_one_track(client: TestClient, world: World, monkeypatch) -> None:
    tracks = {"en": SubtitleTrack(".en.srt", "en"), "de": SubtitleTrack(".de.srt", "de")}
    lines = [("Lamp.", "en"), ("Die Lampe.", "de"), ("Wait.", "en")]
    spans = [
        Evidence("v", at, at + 1, "subtitle", said, tracks[code]) for at, (said, code) in enumerate(lines)
    ]
    monkeypatch.setattr(media, "spans_of", lambda *_: spans)
    address = f"/v1/videos/{world.lamp}/captions.vtt"
    assert client.get(address).text.split("\n")[3::3] == ["Lamp.", "Wait."]
    assert client.get(f"{address}?language=de").text.split("\n")[3::3] == ["Die Lampe."]
    monkeypatch.setattr(media, "spans_of", lambda *_: [Evidence("v", 0, 1, "asr", "Wait.")])
    assert "Wait." in client.get(f"{address}?language=de").text


def test_videos_come_by_page_and_by_name(client: TestClient, world: World) -> None:
    seen, skips = [], [0]
    while skips[-1] is not None:
        shape = client.get("/v1/videos", params={"limit": 2, "skip": skips[-1]}).json()
        seen += [row["video_id"] for row in shape["videos"]]
        skips.append(shape["next"])
        assert shape["total"] == 3
    assert (skips, set(seen), len(seen)) == ([0, 2, None], {world.lamp, world.kettle, world.gone}, 3)
    found = client.get("/v1/videos", params={"text": "LAMP"}).json()
    assert [(row["video_id"], row["state"]) for row in found["videos"]] == [(world.lamp, "ok")]


def test_evidence_is_filtered_and_paged(client: TestClient, world: World) -> None:
    address = f"/v1/videos/{world.lamp}/evidence"
    first = client.get(address, params={"limit": 1}).json()
    second = client.get(address, params={"limit": 1, "skip": first["next"]}).json()
    texts = [row["text"] for shape in (first, second) for row in shape["evidence"]]
    assert (texts, second["next"]) == (["Switch the <b>lamp</b> on.", "Drill four holes."], None)
    late = client.get(address, params={"start": 4}).json()["evidence"]
    assert [row["text"] for row in late] == ["Drill four holes."]
    assert client.get(address, params={"kind": "ocr"}).json()["evidence"] == []
    for end in (2, 4):
        answer = client.get(address, params={"start": 4, "end": end})
        assert (answer.status_code, answer.json()["detail"]) == (400, "end is not after start")


def test_a_passage_leads_to_its_pdf_and_to_no_other_file(
    client: TestClient, world: World, tmp_path, monkeypatch
) -> None:
    address = f"/v1/citations/{world.passage}/document"
    assert (client.get(address).status_code, client.get("/v1/citations/nix/document").status_code) == (
        404,
        404,
    )
    monkeypatch.setattr(Library, "stale_files", lambda *_: {})
    for name, status in (("kettle.pdf", 200), ("kettle.html", 404)):
        (tmp_path / name).write_bytes(b"%PDF-1.7")
        monkeypatch.setattr(Reader, "passage_paths", lambda *_, path=str(tmp_path / name): [path])
        assert client.get(address).status_code == status
    monkeypatch.setattr(Reader, "passage_paths", lambda *_: [str(tmp_path / "kettle.pdf")])
    assert client.get(address).headers["content-type"] == "application/pdf"


def test_the_most_unusual_moments_are_hits(client: TestClient, world: World) -> None:
    found = client.get("/v1/highlights?top_k=2").json()["results"]
    assert [set(hit) >= {"start", "end", "citation", "proof"} for hit in found] == [True, True]
    # Two videos show the same: one of them is left to the end.
    assert {hit["video_id"] for hit in found} > {world.lamp}
    (hit,) = client.get("/v1/highlights?against=lamp").json()["results"]
    assert hit["video_id"] == world.lamp


def test_the_rest_of_the_library_is_listed(client: TestClient, world: World) -> None:
    health = client.get("/v1/health").json()
    assert (health["status"], health["library"]["videos"], health["library"]["documents"]) == ("ready", 3, 1)
    assert client.get("/v1/stats").json()["videos"] == 3
    assert health["library"]["photographs"] == 0
    files = client.get("/v1/files").json()
    assert files["counts"] == {"indexed": 4, "failed": 1, "stale": 2}
    (failed,) = client.get("/v1/files?status=failed").json()["files"]
    assert (failed["reason"], failed["state"]) == ("not a video (skipped)", None)
    assert client.get("/v1/files?status=documents").json()["files"][0]["path"] == "/texts/all.pdf"
    shots = client.get(f"/v1/videos/{world.lamp}/shots").json()
    assert [shot["tone"] for shot in shots["shots"]] == ["warm", "cold"]
    passage = client.get("/v1/citations/p0").json()["citation"]
    assert (passage["title"], passage["pages"], passage["citation"]) == ("Kettles", [12, 13], "p0")
    statuses = [client.get(f"/v1/citations/{name}").status_code for name in ("nix", "nix@1-2")]
    assert statuses == [404, 404]
    assert client.get(f"/v1/citations/{world.lamp}@9-10").status_code == 400


def test_the_cache_removes_what_was_asked_for_longest_ago(tmp_path) -> None:
    cache = DiskCache(tmp_path / "cache", most_bytes=250)
    made: list[str] = []

    def make(name: str) -> Path:
        def write(path: Path) -> None:
            made.append(name)
            path.write_bytes(b"x" * 100)

        return cache.get(name, ".bin", write)

    long_ago = time.time() - 2 * IN_USE_SECONDS
    for name in ("a", "b"):
        os.utime(make(name), (long_ago, long_ago + len(made)))
    assert make("a").is_file()
    make("c")
    assert made == ["a", "b", "c"]
    make("b")
    assert made == ["a", "b", "c", "b"]
    # What was asked for this minute stays, whatever it takes.
    assert len(list((tmp_path / "cache").iterdir())) == 3
