"""Requests to the HTTP face that no honest client sends, and ids that need quoting."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from rag.web import TranscriptLine, VideoEntry, open_web, write_catalogue
from rag.web.serving import app
from tests.fakes.synthetic import write_video

NAME = "a/b c"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("web")
    write_video(home / "clip.mp4", 1.0)
    write_video(home / "CLIP.MKV", 1.0)
    (home / "clip.y4m").write_bytes((home / "clip.mp4").read_bytes())
    said = (TranscriptLine(0.0, 1.0, "hello"),)
    write_catalogue(
        home,
        [
            VideoEntry(NAME, "https://v.example/1", "Kettle", duration=1.0, transcript=said, file="clip.mp4"),
            VideoEntry("mkv", "https://v.example/2", "Lamp", duration=1.0, file="CLIP.MKV"),
            VideoEntry("odd", "https://v.example/3", "Odd", duration=1.0, file="clip.y4m"),
            VideoEntry("none", "https://v.example/4", "None", duration=1.0),
        ],
    )
    with TestClient(app.build_app(open_web(home, engine="bm25")), base_url="http://127.0.0.1:8640") as client:
        yield client


@pytest.mark.parametrize(
    "body", [b"[" * 60_000, b'{"q": "\\ud800"}', b"9" * 5000, b'{"q": 7}', b'{"q": "' + b"x" * 70_000 + b'"}']
)
def test_bodies_that_ask_nothing_are_refused(client: TestClient, body: bytes) -> None:
    for path in ("/search", "/videos"):
        assert client.post(path, content=body).status_code == 400


def test_ids_with_a_slash_are_served_where_the_page_says(client: TestClient) -> None:
    page = client.get("/watch", params={"v": NAME})
    assert page.status_code == 200
    for path in ("media/a%2Fb%20c.mp4", "thumbnails/a%2Fb%20c.jpg", "transcripts/a%2Fb%20c.vtt"):
        assert path in page.text
        assert client.get(f"/{path}").status_code == 200
    assert client.get("/transcripts/a%2Fb%20c.vtt").text.strip().endswith("hello")


@pytest.mark.parametrize(
    ("name", "kind"), [(NAME, "video/mp4"), ("mkv", "video/matroska"), ("odd", "application/octet-stream")]
)
def test_a_file_goes_out_under_its_own_media_type(client: TestClient, name: str, kind: str) -> None:
    answer = client.get(f"/media/{quote(name, safe='')}.mp4")
    assert answer.headers["content-type"] == kind
    page = client.get("/watch", params={"v": name}).text
    assert f'type="{kind}"></object>' in page
    assert f'"encodingFormat": "{kind}"' in page
