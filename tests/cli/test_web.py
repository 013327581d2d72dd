"""`rag web`: what it prints, and what it refuses."""

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


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["serve", "https://www.youtube.com"], 2, "out of scope by design"),
        (["serve", "nowhere"], 1, "rag web build"),
        (["build", "out"], 2, "nothing to build"),
        (["build", "out", "gone"], 1, "gone"),
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
