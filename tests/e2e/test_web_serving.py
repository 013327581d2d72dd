"""`rag web serve` under other people's clients, and a web built from a library."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from corpora.identity import content_hash
from eval.tasks.web_task import WebEnvironment
from indexers.settings import EncoderSettings
from rag._cli.main import main
from rag.library import Library
from rag.settings import Settings
from rag.web import PageEntry, TranscriptLine, VideoEntry, open_web, write_catalogue
from rag.web.building import build_web
from rag.web.catalogue import read_catalogue
from rag.web.serving.app import build_app
from tests.fakes.synthetic import write_video

QUOTED = "a/b c"
"""An id that is quoted in addresses."""
SHY = 'a "quoted" </script><b>title</b> & more'


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("web")
    write_video(home / "kettle.mp4", 3.0, audio=True)
    url = "https://www.youtube.com/watch?v="
    said = (TranscriptLine(0.0, 1.5, "Fill the kettle."), TranscriptLine(1.5, 3.0, "Then wait --> done."))
    videos = [
        VideoEntry(
            "kettle00001",
            f"{url}kettle00001",
            "How I fill my kettle",
            description="Water\nand nothing else",
            channel="Tea Time",
            upload_date="2020-02-03",
            duration=3.0,
            tags=("kettle", "tea"),
            transcript=said,
            language="en",
            file="kettle.mp4",
        ),
        VideoEntry("quoted00002", f"{url}quoted00002", SHY, description="kettle", file="kettle.mp4"),
        VideoEntry("dead0000003", f"{url}dead0000003", "A dead kettle", availability="dead"),
        VideoEntry(
            "adult000004", f"{url}adult000004", "kettle 18", file="kettle.mp4", availability="age-gated"
        ),
    ]
    write_video(home / "LAMP.MKV", 1.0)
    (home / "lamp.y4m").write_bytes((home / "kettle.mp4").read_bytes())
    for name, file in ((QUOTED, "kettle.mp4"), ("mkv", "LAMP.MKV"), ("odd", "lamp.y4m")):
        videos.append(VideoEntry(name, f"https://v.example/{name}", "Lamp", transcript=said, file=file))
    videos += [VideoEntry(f"more{n:07d}", f"{url}more{n:07d}", f"kettle number {n}") for n in range(5)]
    pages = [
        PageEntry(
            "descale", "https://pages.example/descale", "Descaling", "Use vinegar in the kettle.", "pages"
        )
    ]
    write_catalogue(home, videos, pages)
    return home


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[str]:
    """Of `rag web serve` as a process, which ends on request, with a connection still open."""
    command = [sys.executable, "-m", "rag._cli.main", "web", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    address = process.stdout.readline().strip()
    with process, socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as half_sent:
        half_sent.sendall(b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        try:
            yield address
            process.terminate()
            process.wait(40)
        finally:
            process.kill()
    assert process.returncode != -signal.SIGKILL


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(build_app(open_web(folder, dense=False)), base_url="http://127.0.0.1:8640") as client:
        yield client


def fetch(url: str, body: Any = None, **headers: str) -> tuple[int, bytes, Any]:
    data = None if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, named), timeout=30) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def test_googles_client_searches_pages_and_reads_videos(base: str) -> None:
    from googleapiclient.discovery import build
    from googleapiclient.errors import HttpError

    with build("youtube", "v3", developerKey="any", client_options={"api_endpoint": base}) as youtube:
        request = youtube.search().list(part="snippet", q="kettle", type="video", maxResults=3)
        seen = []
        while request is not None:
            answer = request.execute()
            seen += [item["id"]["videoId"] for item in answer["items"]]
            request = youtube.search().list_next(request, answer)
        assert len(seen) == len(set(seen)) == answer["pageInfo"]["totalResults"] == 12
        first = youtube.videos().list(part="snippet,contentDetails", id="kettle00001,dead0000003").execute()
        (video,) = first["items"]
        assert video["snippet"]["title"] == "How I fill my kettle"
        assert video["snippet"]["publishedAt"] == "2020-02-03T00:00:00Z"
        assert video["contentDetails"]["duration"] == "PT3S"
        with pytest.raises(HttpError, match="order=date"):
            youtube.search().list(part="snippet", q="kettle", order="date").execute()


def test_a_list_is_fetched_into_a_web_of_its_own(base: str, folder: Path, tmp_path, capsys) -> None:
    """By the real yt-dlp: what can be had, with its metadata, once; and what cannot."""
    names = ("kettle00001", "dead0000003", "quoted00002")
    addresses = "\n".join(f"{base}/watch?v={name}" for name in names)
    (tmp_path / "list.txt").write_text(addresses, encoding="utf-8")
    words = ["web", "fetch", str(tmp_path / "list.txt"), "--out", str(tmp_path / "videos"), "--json"]
    for fetched, kept in ((2, 0), (0, 2)):
        assert main(words) == 3
        report = json.loads(capsys.readouterr().out)
        assert (report["fetched"], report["kept"]) == (fetched, kept)
        (gone,) = report["gone"]
        assert gone["path"].endswith("dead0000003")
        assert "404" in gone["reason"]
    files = sorted((tmp_path / "videos").glob("*.mp4"))
    assert {content_hash(file) for file in files} == {content_hash(folder / "kettle.mp4")}
    assert main(["web", "build", str(tmp_path / "web"), str(tmp_path / "videos")]) == 0
    first, second = (read_catalogue(tmp_path / "web").video(f"{base}/watch?v={name}") for name in names[::2])
    assert (first.title, first.upload_date, first.duration) == ("How I fill my kettle", "2020-02-03", 3.0)
    assert first.description == "Water\nand nothing else"
    assert second.title == SHY


def test_serper_finds_pages_and_videos(base: str) -> None:
    status, body, _ = fetch(f"{base}/search", {"q": "vinegar"}, X_API_KEY="any")
    (found,) = json.loads(body)["organic"]
    assert (status, found["title"], found["position"]) == (200, "Descaling", 1)
    assert b"Use vinegar in the kettle." in fetch(found["link"])[1]
    answer = json.loads(fetch(f"{base}/videos", {"q": "fill kettle", "num": 2})[1])
    assert answer["searchParameters"] == {
        "q": "fill kettle",
        "type": "videos",
        "engine": "google",
        "num": 2,
        "page": 1,
    }
    assert [video["position"] for video in answer["videos"]] == [1, 2]
    assert answer["videos"][0]["duration"] == "0:03"
    assert answer["videos"][0]["link"] == f"{base}/watch?v=kettle00001"
    assert fetch(f"{base}/videos", {"query": 1})[0] == 400
    assert fetch(f"{base}/videos?q=kettle&num=0")[0] == 400


def test_a_watch_page_says_what_it_shows_and_nothing_runs_away(base: str) -> None:
    status, body, _ = fetch(f"{base}/watch?v=quoted00002")
    text = body.decode()
    assert status == 200
    assert "<b>title</b>" not in text
    (script,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text)
    said = json.loads(script)
    assert (said["@type"], said["name"]) == ("VideoObject", SHY)
    assert said["contentUrl"] == f"{base}/media/quoted00002.mp4"
    adult = fetch(f"{base}/watch?v=adult000004")[1].decode()
    assert "signed in" in adult
    assert "/media/" not in adult
    for path, status in (
        ("/watch?v=dead0000003", 404),
        ("/watch?v=unknown", 404),
        ("/media/adult000004.mp4", 403),
        ("/media/more0000001.mp4", 404),
        ("/media/..%2f..%2fetc%2fpasswd.mp4", 404),
        ("/transcripts/more0000001.vtt", 404),
    ):
        assert (path, fetch(base + path)[0]) == (path, status)
    assert fetch(f"{base}/transcripts/kettle00001.vtt")[1].startswith(b"WEBVTT")


def test_a_stranger_page_cannot_call_it_by_another_name(base: str) -> None:
    assert fetch(f"{base}/", Host="evil.example")[0] == 400
    assert fetch(f"{base}/")[0] == 200


@pytest.mark.parametrize(
    "body", [b"[" * 60_000, b'{"q": "\\ud800"}', b"9" * 5000, b'{"q": 7}', b'{"q": "' + b"x" * 70_000 + b'"}']
)
def test_bodies_that_ask_nothing_are_refused(client: TestClient, body: bytes) -> None:
    for path in ("/search", "/videos"):
        assert client.post(path, content=body).status_code == 400


def test_ids_with_a_slash_are_served_where_the_page_says(client: TestClient) -> None:
    page = client.get("/watch", params={"v": QUOTED})
    assert page.status_code == 200
    for path in ("media/a%2Fb%20c.mp4", "transcripts/a%2Fb%20c.vtt"):
        assert path in page.text
        assert client.get(f"/{path}").status_code == 200


@pytest.mark.parametrize(
    ("name", "kind"), [(QUOTED, "video/mp4"), ("mkv", "video/matroska"), ("odd", "application/octet-stream")]
)
def test_a_file_goes_out_under_its_own_media_type(client: TestClient, name: str, kind: str) -> None:
    answer = client.get(f"/media/{quote(name, safe='')}.mp4")
    assert answer.headers["content-type"] == kind
    page = client.get("/watch", params={"v": name}).text
    assert f'type="{kind}"></object>' in page
    assert f'"encodingFormat": "{kind}"' in page


def test_a_video_of_the_web_is_a_video_of_the_library(tmp_path) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    write_video(videos / "kettle.mp4", 4.0, subtitles=[(0.5, 3.0, "Fill the kettle with water.")])
    write_video(videos / "silent.mp4", 3.0, fps=5)
    (videos / "note.md").write_text("# Kettles\n\nVinegar takes the lime off.\n", encoding="utf-8")
    settings = Settings(library=tmp_path / ".rag", encoder=EncoderSettings(image="none"))
    Library.index([videos], settings=settings)
    with Library.open(settings=settings) as library:
        report = build_web(tmp_path / "web", library=library)
        assert (report.videos, report.with_file, report.with_transcript, report.pages) == (2, 2, 1, 1)
        assert report.problems == ()
        web = open_web(tmp_path / "web", dense=False)
        found = web.search_videos("kettle").results[0]
        assert [line.text for line in web.transcript(found.url)] == ["Fill the kettle with water."]
        got = web.download(found.url)
        assert web.video_id(found.url) == got.video_id
        video = library.engine.reader.video(got.video_id)
        assert library.engine.reader.clips(video.video_id)[0].end == 4.0
        assert (video.path, found.duration) == (str(videos / "kettle.mp4"), video.duration)
        assert web.search("lime").results[0].title == "Kettles"


def test_a_file_that_was_replaced_is_no_video_of_the_library(tmp_path) -> None:
    """The web names a copy, and none of what looks at its frames reads the other content."""
    videos = tmp_path / "videos"
    videos.mkdir()
    write_video(videos / "a.mp4", 4.0, subtitles=[(0.5, 3.0, "Fill the kettle with water.")])
    shutil.copy(videos / "a.mp4", videos / "b.mp4")
    settings = Settings(library=tmp_path / ".rag", encoder=EncoderSettings(image="none"))
    Library.index([videos], settings=settings)
    other: Any = None
    with Library.open(settings=settings) as library:
        (video,) = library.engine.reader.videos()
        given = WebEnvironment(other, other, other, library)
        write_video(videos / "a.mp4", 3.0, fps=5)
        report = build_web(tmp_path / "web", library=library)
        assert (report.videos, report.problems) == (1, ())
        web = open_web(tmp_path / "web", dense=False)
        assert web.download(web.catalogue.videos[0].url).video_id == video.video_id
        assert given.path_of(video.video_id) == str(videos / "b.mp4")
        write_video(videos / "b.mp4", 3.0, fps=6)
        (videos / "note.md").write_text("# Kettles\n", encoding="utf-8")
        (problem,) = build_web(tmp_path / "other", [videos / "note.md"], library=library).problems
        assert problem.reason.startswith("the file is gone or changed; ")
        assert given.path_of(video.video_id) is None
