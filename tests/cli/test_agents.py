"""`rag agent` and `rag web`: steps, trace, JSON and exit codes, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag._cli.main import main
from rag.web import PageEntry, TranscriptLine, VideoEntry, write_catalogue
from tests.fakes.browser_world import make_web
from tests.fakes.command import run_rag, run_rag_process
from tests.fakes.synthetic import write_video

BROWSE = ("video-browser", "What is the secret of kettle video 7?", "--loops", "1")
SHOTS = ("shotfinder", "the kettle video", "--tone", "warm", "--after", "a door opens")
RECALL = (
    *("raclo", "--global", "I remember kettle video 7", "--sound", "the secret is PLUM"),
    *("--moment", "a kettle", "--before", "a cup", "--after", "steam"),
)


def told(shape: dict[str, Any]) -> tuple[Any, ...]:
    """What is found of the secret, of each agent."""
    if "shot" in shape:
        return shape["shot"], shape["constraints"], len(shape["looks"]), shape["failure"]
    if "cues" in shape:
        return shape["matched"], shape["cues"], bool(shape["candidates"])
    return "PLUM" in shape["answer"]["text"], shape["citations"][0]["path"][-7:], shape["tokens"]


@pytest.mark.parametrize(
    ("words", "code", "found", "said", "kinds"),
    [
        (BROWSE, 0, (True, "video07", 0), "plan:", {"plan", "select", "watch", "answer"}),
        # Nothing was indexed, so no frame can be judged: N/A.
        (
            SHOTS,
            1,
            (None, {"color": "warm", "after": "a door opens"}, 4, "NothingLookedAt"),
            "imagine:",
            {"imagine", "absent", "shot"},
        ),
        # Of what is said alone, no judge takes it for the video.
        (RECALL, 1, (False, "GKTA", True), "recall:", {"think", "take", "verify", "localize", "answer"}),
    ],
)
def test_a_run_over_a_web_without_a_library(
    words: tuple[str, ...], code: int, found: tuple[Any, ...], said: str, kinds: set[str], tmp_path
) -> None:
    make_web(tmp_path / "web")
    done = run_rag(tmp_path, "agent", *words, "--web", "web", "--json", "--trace", "a.jsonl")
    assert done.returncode == code, done.stderr
    shape = json.loads(done.stdout)
    assert shape["schema"] == f"rag.agent.{words[0]}/1"
    assert told(shape) == found
    assert said in done.stderr
    assert "frames: none are seen" in done.stderr
    steps = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"search", "result", *kinds} <= {step["kind"] for step in steps}


def test_another_process_makes_the_same_bytes(tmp_path) -> None:
    make_web(tmp_path / "web")
    for run, name in ((run_rag, "a"), (run_rag_process, "b")):
        words = ("--web", "web", "--json", "--trace", f"{name}.jsonl")
        assert run(tmp_path, "agent", *BROWSE, *words).returncode == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_run_without_an_answer_exits_1_and_says_all_the_same(tmp_path) -> None:
    make_web(tmp_path / "web", **{f"video{number:02d}": "dead" for number in range(12)})
    words = ("agent", *BROWSE, "--web", "web", "--json")
    done = run_rag(tmp_path, *words)
    assert done.returncode == 1, done.stderr
    shape = json.loads(done.stdout)
    assert (shape["answer"]["matched"], shape["failure"]) == (False, "")
    assert set(shape["failures"]) == {"PageGone"}
    # Nor is an option chosen, unless one must be.
    options = (*words, "--option", "PLUM", "--option", "FIG")
    for more, code, matched in ((), 1, False), (("--must-choose",), 0, True):
        done = run_rag(tmp_path, *options, *more)
        assert (done.returncode, json.loads(done.stdout)["answer"]["matched"]) == (code, matched)


def test_files_are_a_web_of_their_own(tmp_path) -> None:
    """`--corpus`: videos with their subtitles, without a library; their names say nothing of them."""
    (tmp_path / "videos").mkdir()
    write_video(tmp_path / "videos" / "clip_7.mp4", 3.0)
    subtitles = "1\n00:00:00,000 --> 00:00:02,000\nThe secret of the kettle is PLUM.\n"
    (tmp_path / "videos" / "clip_7.srt").write_text(subtitles, encoding="utf-8")
    done = run_rag(tmp_path, "agent", *BROWSE, "--corpus", "videos", "--json")
    assert done.returncode == 0, done.stderr
    shape = json.loads(done.stdout)
    assert "PLUM" in shape["answer"]["text"]
    assert shape["citations"][0]["path"].endswith("clip_7.mp4")
    done = run_rag(tmp_path, "agent", *RECALL, "--corpus", "videos", "--text")
    assert f"{tmp_path / 'videos' / 'clip_7.mp4'}@" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((*BROWSE, "--web", "nowhere"), 1, "web build"),
        ((*BROWSE, "--web", "https://example.com"), 2, "live web"),
        ((*SHOTS, "--web", "w", "--corpus", "c"), 2, "two webs"),
        (("shotfinder", "a kettle", "--after", "  "), 2, "--after '  ': it holds no word"),
        (("raclo", "--before", "a cup"), 2, "give --global, --moment or both"),
    ],
)
def test_wrong_words_are_one_line(words: tuple[str, ...], code: int, said: str, tmp_path) -> None:
    done = run_rag(tmp_path, "agent", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


URL = "https://videos.example/watch?v=kettle"


@pytest.fixture
def web(tmp_path, monkeypatch) -> str:
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
    ],
)
@pytest.mark.usefixtures("web")
def test_what_is_refused(words: list[str], code: int, said: str, capsys) -> None:
    assert main(["web", *words]) == code
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_web_out_of_a_folder(web: str, capsys) -> None:
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
