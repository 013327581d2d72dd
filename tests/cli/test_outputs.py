"""Commands replace what exists by --force alone, and never an input or an indexed file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpora.outputs import LIBRARY_MARKER
from rag._cli.main import main
from rag.library import Library
from tests.fakes.libraries import FixedLibrary, OneVideoLibrary
from tests.fakes.synthetic import write_video

TOY = "tests.fakes.toy_benchmark:open_toy"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def video(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = here / "made.mp4"
    write_video(path, 4, size=(320, 240))
    monkeypatch.setattr(Library, "open", lambda *_, **__: OneVideoLibrary(path))
    return path


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FixedLibrary:
    library = FixedLibrary()
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    return library


def refused(capsys: pytest.CaptureFixture[str], why: str, *words: str) -> None:
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert why in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.usefixtures("video")
def test_a_full_disk_is_a_failure_and_no_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["show", "f@0-2", "--out"], ["show", "f@0-2", "--clip"], ["export", "f@0-2", "--out"]):
        form = ["--format", "edl"] if words[0] == "export" else []
        assert main([*words, "/dev/full", *form]) == 1, words
        assert capsys.readouterr().err == "rag: /dev/full: cannot be written: no space left on device\n"
    assert main(["show", "f@0-2", "--out", "none/s.png"]) == 2
    assert capsys.readouterr().err == "rag: none/s.png: cannot be written: no such file or directory\n"


def test_a_clip_never_replaces_its_video(video: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = video.read_bytes()
    refused(capsys, "is an input of this command", "show", "f@0-2", "--clip", "made.mp4", "--force")
    assert video.read_bytes() == held


@pytest.mark.usefixtures("video")
def test_what_show_wrote_it_replaces_by_force_unless_it_was_indexed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["show", "f@0-2", "--clip", "c.mp4", "--out", "s.png"]
    assert main(words) == 0
    capsys.readouterr()
    refused(capsys, "c.mp4: exists; name another file, or replace it with --force", *words)
    assert main([*words, "--force"]) == 0
    capsys.readouterr()
    monkeypatch.setattr(OneVideoLibrary, "is_source", lambda _, output: output.name == "c.mp4")
    refused(capsys, "c.mp4: is indexed in the library", *words, "--force")
    refused(capsys, "is named for two outputs", "show", "f@0-2", "--clip", "n", "--out", "n")
    monkeypatch.setattr(OneVideoLibrary, "is_source", lambda _, output: output.name == "made.en.srt")
    refused(
        capsys, "a file of an indexed video", "export", "f@0-2", "--format", "csv", "--out", "made.en.srt"
    )


def test_nothing_is_replaced_that_a_damaged_library_may_have_indexed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (here / ".rag" / "head.json", here / ".rag" / "rag-library.json"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{")
    (here / "talk.srt").write_text("mine")
    (here / "q.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    words = ["search", "--queries", "q.jsonl", "--run", "talk.srt", "--force"]
    refused(capsys, "may be indexed in a library that cannot be read", *words)
    assert (here / "talk.srt").read_text() == "mine"


def test_a_run_never_replaces_its_queries(library: FixedLibrary, capsys: pytest.CaptureFixture[str]) -> None:
    queries = Path("q.jsonl")
    queries.write_text('{"_id": "1", "text": "a"}\n')
    held = queries.read_bytes()
    refused(capsys, "is an input", "search", "--queries", "q.jsonl", "--run", "q.jsonl")
    refused(capsys, "is an input", "ask", "--questions", "q.jsonl", "--out", "q.jsonl")
    assert queries.read_bytes() == held
    assert library.asked == []


@pytest.mark.usefixtures("library")
def test_a_run_never_replaces_the_run_of_another_system(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    Path("a.trec").write_text("1 Q0 d 1 0.5 rag\n")
    words = ["search", "--queries", "q.jsonl", "--run", "a.trec"]
    refused(capsys, "a.trec: exists", *words)
    assert not Path("a.windows.jsonl").exists()
    assert main([*words, "--force"]) == 0
    assert main(words) == 0
    assert "v%201" in Path("a.trec").read_text()


@pytest.mark.usefixtures("library")
def test_answers_and_recordings_never_mix_with_other_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    Path("a.jsonl").write_text("letters\n")
    Path("b.jsonl.manifest.json").write_text('{"name": "my app"}')
    words = ["ask", "--questions", "q.jsonl"]
    refused(capsys, "a.jsonl: exists", *words, "--out", "a.jsonl")
    refused(capsys, "b.jsonl.manifest.json: exists", *words, "--out", "b.jsonl")
    refused(capsys, "a.jsonl: exists", *words, "--out", "c.jsonl", "--record", "a.jsonl")
    refused(capsys, "is named for two outputs", *words, "--out", "c.jsonl", "--record", "c.jsonl")
    assert Path("a.jsonl").read_text() == "letters\n"
    assert json.loads(Path("b.jsonl.manifest.json").read_text()) == {"name": "my app"}
    assert main([*words, "--out", "a.jsonl", "--force"]) == 0
    assert "a lamp" in Path("a.jsonl").read_text()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "words",
    [
        ["raclo", "--moment", "a cup", "--web", "w", "--trace"],
        ["shotfinder", "a cup", "--web", "w", "--trace"],
        ["video-browser", "Which cup?", "--web", "w", "--record"],
        ["video-detective", "made.mp4", "Which cup?", "--trace"],
    ],
)
def test_outputs_of_agents_are_checked_before_any_work(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes").write_text("mine\n")
    refused(capsys, "notes: exists; name another file, or replace it with --force", "agent", *words, "notes")
    assert Path("notes").read_text() == "mine\n"


def test_a_web_replaces_files_by_force_alone(capsys: pytest.CaptureFixture[str]) -> None:
    name = "pages.jsonl"
    Path("note.md").write_text("# Kettles\n\nFill it.\n")
    Path("site").mkdir()
    Path("site", name).write_text('{"mine": 1}\n')
    refused(capsys, f"site/{name}: exists", "web", "build", "site", "note.md")
    assert Path("site", name).read_text() == '{"mine": 1}\n'
    assert [path.name for path in Path("site").iterdir()] == [name]
    assert main(["web", "build", "site", "note.md", "--force"]) == 0
    assert "Fill it." in Path("site", "pages.jsonl").read_text()


def test_a_trace_of_a_web_never_replaces_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("note.md").write_text("# Kettles\n\nFill it.\n")
    assert main(["web", "build", "site", "note.md"]) == 0
    capsys.readouterr()
    held = Path("site/web.jsonl").read_bytes()
    for words in (["web", "serve", "site", "--port", "0"], ["agent", "video-browser", "Q?", "--web", "site"]):
        refused(capsys, "is an input", *words, "--trace", "site/web.jsonl")
    assert Path("site/web.jsonl").read_bytes() == held


@pytest.mark.usefixtures("video")
def test_an_output_never_goes_into_a_library(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lib").mkdir()
    Path("lib", LIBRARY_MARKER).write_text("{}")
    refused(capsys, "is inside the library", "show", "f@0-2", "--out", "lib/new.png")
    assert [path.name for path in Path("lib").iterdir()] == [LIBRARY_MARKER]


@pytest.mark.parametrize(
    "command", [["web", "build", "", "note.md"], ["demo", "--dir", ""], ["eval", "run", TOY, "--out", ""]]
)
def test_an_empty_output_folder_is_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "a path is empty", *command)
    assert not list(Path().iterdir())


def test_runs_and_reports_keep_out_of_other_folders(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["eval", "run", TOY, "--system", "random", "--limit", "2", "--out", "o"]
    Path("o/random-seed0").mkdir(parents=True)
    Path("o/random-seed0/queries.jsonl").write_text("mine\n")
    refused(capsys, "o/random-seed0: is not empty", *run)
    assert [path.name for path in Path("o/random-seed0").iterdir()] == ["queries.jsonl"]
    assert main([*run, "--force"]) == 0
    Path("docs").mkdir()
    Path("docs/report.md").write_text("mine\n")
    capsys.readouterr()
    refused(capsys, "docs: is not empty", "eval", "report", "o", "--out", "docs")
    assert [path.name for path in Path("docs").iterdir()] == ["report.md"]


def test_an_image_of_a_sample_never_replaces_another_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "run", TOY, "--system", "random", "--limit", "2"]) == 0
    Path("q.png").write_text("mine")
    capsys.readouterr()
    refused(capsys, "q.png: exists", "eval", "show", "runs/toy/random-seed0", "q000", "--out", "q.png")
    assert Path("q.png").read_text() == "mine"


def test_a_workbench_keeps_out_of_other_folders(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/notes.md").write_text("mine")
    refused(capsys, "mine: is not empty", "workbench", "make", "mine", "--clips", "1")
    refused(capsys, "mine: is not empty", "web", "build", "mine", "--workbench")
    assert [path.name for path in Path("mine").iterdir()] == ["notes.md"]
