"""`rag web`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag._cli.main import main
from rag.web import PageEntry, TranscriptLine, VideoEntry, write_catalogue
from tests.fakes.synthetic import write_video

URL = "https://videos.example/watch?v=kettle"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web").mkdir()
    write_video(tmp_path / "web" / "kettle.mp4", 1.0)
    said = (TranscriptLine(0.0, 1.0, "Fill it."),)
    video = VideoEntry("kettle", URL, "A kettle", channel="Tea", transcript=said, file="kettle.mp4")
    gated = VideoEntry("adult", f"{URL}18", "A kettle for adults", availability="age-gated")
    write_catalogue("web", [video, gated], [PageEntry("p", "https://p.example/p", "Kettles", "Use vinegar.")])
    return "web"


def test_search_and_open(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "search", web, "kettle", "--engine", "bm25"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["total"]) == ("rag.web.search/1", 2)
    assert main(["web", "search", web, "vinegar", "--kind", "text", "--engine", "bm25", "--text"]) == 0
    assert "1. Kettles" in capsys.readouterr().out
    assert main(["web", "search", web, "accordion", "--engine", "bm25", "--text"]) == 0
    assert capsys.readouterr().out == "nothing found\n"
    assert main(["web", "open", web, URL, "--transcript", "--download"]) == 0
    opened = json.loads(capsys.readouterr().out)
    assert opened["transcript"]["lines"][0]["text"] == "Fill it."
    assert Path(opened["download"]["path"]).stat().st_size == opened["download"]["bytes"]
    assert main(["web", "open", web, URL, "--transcript", "--text"]) == 0
    assert "    0.00  Fill it." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["search", "https://www.youtube.com", "kettle"], 2, "out of scope by design"),
        (["search", "nowhere", "kettle"], 1, "rag web build"),
        (["search", "web", "kettle", "--faults", "often"], 2, "a rate is in [0, 1]"),
        (["search", "web", "kettle", "--engine", "bm25", "--faults", "rate_limit=1"], 1, "too many calls"),
        (["open", "web", "https://unknown.example/"], 1, "not on this web"),
        (["open", "web", f"{URL}18", "--download"], 1, "for adults"),
        (["build", "out"], 2, "nothing to build"),
        (["build", "out", "gone"], 1, "gone"),
        (["build", "out", "web", "--workbench"], 2, "omit SOURCE"),
        (["serve", "web", "--port", "0", "--trace", "no/such/folder"], 2, "cannot be written"),
    ],
)
@pytest.mark.usefixtures("web")
def test_what_is_refused(words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", *words]) == code
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_web_out_of_a_folder(web: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "build", "out", web]) == 0
    report = json.loads(capsys.readouterr().out)
    # A web is a source of the next: its rows and its pages are taken up.
    assert (report["schema"], report["videos"], report["with_file"]) == ("rag.web.build/1", 2, 1)
    assert (report["pages"], report["with_transcript"]) == (1, 1)
    again = {row["id"]: row for row in map(json.loads, Path("out/web.jsonl").read_text().splitlines())}
    assert (again["kettle"]["url"], again["kettle"]["channel"]) == (URL, "Tea")
    assert again["adult"]["availability"] == "age-gated"
    Path(web, "torn.mp4").write_bytes(b"torn")
    assert main(["web", "build", "out", web, "--text", "--force"]) == 3
    captured = capsys.readouterr()
    assert "torn.mp4" in captured.err
    assert "2 videos (1 to download" in captured.out
