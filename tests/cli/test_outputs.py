"""Commands replace what exists by --force alone, and never an input or an indexed file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corpora.outputs import LIBRARY_HEAD
from rag._cli.main import main
from rag.library import Library
from tests.fakes.libraries import FixedLibrary, OneVideoLibrary
from tests.fakes.synthetic import write_video

TOY = "tests.fakes.toy_benchmark:open_toy"
EXISTS = "exists; name another file, or replace it with --force"
FULL = "is not empty"
Refuse = Callable[..., None]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """A folder with inputs for every command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    (tmp_path / "note.md").write_text("# Kettles\n\nFill it.\n")
    return tmp_path


@pytest.fixture
def video(here: Path, monkeypatch) -> Path:
    path = here / "made.mp4"
    write_video(path, 4, size=(320, 240))
    monkeypatch.setattr(Library, "open", lambda *_, **__: OneVideoLibrary(path))
    return path


@pytest.fixture
def library(monkeypatch) -> FixedLibrary:
    library = FixedLibrary()
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    return library


@pytest.fixture
def refused(capsys) -> Refuse:
    """Runs a command that is refused in one line."""

    def refused(why: str, *words: str) -> None:
        capsys.readouterr()
        assert main(list(words)) == 2
        said = capsys.readouterr()
        assert why in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)

    return refused


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("place", "why", "command"),
    [
        ("a.trec", "exists", "search --queries q.jsonl --run a.trec"),
        ("a.jsonl", "exists", "ask --questions q.jsonl --out a.jsonl"),
        ("a.jsonl.manifest.json", "exists", "ask --questions q.jsonl --out a.jsonl"),
        ("notes", EXISTS, "agent recall --moment cup --web w --trace notes"),
        ("notes", EXISTS, "agent shots cup --web w --trace notes"),
        ("notes", EXISTS, "agent browse Which? --web w --trace notes"),
        ("notes", EXISTS, "agent investigate made.mp4 Which? --trace notes"),
        ("site/pages.jsonl", "exists", "web build site note.md"),
        ("o/random-seed0/queries.jsonl", FULL, f"eval run {TOY} --system random --limit 2 --out o"),
    ],
)
def test_what_exists_is_kept_and_nothing_written_beside_it(
    refused: Refuse, here: Path, place: str, why: str, command: str
) -> None:
    path = here / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"mine": 1}\n')
    before = sorted(here.rglob("*"))
    refused(why, *command.split())
    assert path.read_text() == '{"mine": 1}\n'
    assert sorted(here.rglob("*")) == before


def test_force_replaces_a_run(here: Path) -> None:
    path = here / "o/random-seed0/queries.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    assert main(f"eval run {TOY} --system random --limit 2 --out o --force".split()) == 0
    assert path.read_text() not in ("", "mine\n")


def test_reports_and_pictures_of_runs_replace_nothing(refused: Refuse, here: Path) -> None:
    assert main(["eval", "run", TOY, "--system", "random", "--limit", "2", "--out", "o"]) == 0
    for name in ("docs/report.md", "q.png"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("mine\n")
    refused("docs: is not empty", "eval", "report", "o", "--out", "docs")
    refused("q.png: exists", "eval", "show", "o/random-seed0", "q000", "--out", "q.png")
    assert {(here / name).read_text() for name in ("docs/report.md", "q.png")} == {"mine\n"}


@pytest.mark.usefixtures("video")
def test_a_full_disk_is_a_failure_and_no_wrong_usage(capsys) -> None:
    for words in (["show", "f@0-2", "--out"], ["show", "f@0-2", "--clip"], ["export", "f@0-2", "--out"]):
        form = ["--format", "edl"] if words[0] == "export" else []
        assert main([*words, "/dev/full", *form]) == 1, words
        assert capsys.readouterr().err == "rag: /dev/full: cannot be written: no space left on device\n"
    assert main(["show", "f@0-2", "--out", "none/s.png"]) == 2
    assert capsys.readouterr().err == "rag: none/s.png: cannot be written: no such file or directory\n"


@pytest.mark.usefixtures("library")
def test_an_input_is_never_an_output(refused: Refuse) -> None:
    held = Path("q.jsonl").read_bytes()
    refused("is an input", "search", "--queries", "q.jsonl", "--run", "q.jsonl")
    refused("is an input", "ask", "--questions", "q.jsonl", "--out", "q.jsonl")
    assert Path("q.jsonl").read_bytes() == held
    assert main(["web", "build", "site", "note.md"]) == 0
    held = Path("site/web.jsonl").read_bytes()
    refused("is an input", "agent", "browse", "Q?", "--web", "site", "--trace", "site/web.jsonl")
    assert Path("site/web.jsonl").read_bytes() == held


def test_what_show_and_export_write_replaces_no_file_of_the_library(
    video: Path, refused: Refuse, monkeypatch
) -> None:
    held = video.read_bytes()
    refused("is an input of this command", "show", "f@0-2", "--clip", "made.mp4", "--force")
    assert video.read_bytes() == held
    words = ["show", "f@0-2", "--clip", "c.mp4", "--out", "s.png"]
    assert main(words) == 0
    refused(f"c.mp4: {EXISTS}", *words)
    assert main([*words, "--force"]) == 0
    refused("is named for two outputs", "show", "f@0-2", "--clip", "n", "--out", "n")
    for name, why in (("c.mp4", "c.mp4: is indexed in the library"), ("a.srt", "a file of an indexed video")):
        monkeypatch.setattr(OneVideoLibrary, "is_source", lambda _, output, name=name: output.name == name)
        export = ["export", "f@0-2", "--format", "csv", "--out", name]
        refused(why, *(words if name == "c.mp4" else export), "--force")
    Path("lib", "tables").mkdir(parents=True)
    Path("lib", LIBRARY_HEAD).write_text("{}")
    refused("is inside the library", "show", "f@0-2", "--out", "lib/new.png")
    assert sorted(path.name for path in Path("lib").iterdir()) == [LIBRARY_HEAD, "tables"]


def test_nothing_is_replaced_that_a_damaged_library_may_have_indexed(here: Path, refused: Refuse) -> None:
    (here / ".rag" / "tables").mkdir(parents=True)
    (here / ".rag" / "head.json").write_text("{")
    (here / "talk.srt").write_text("mine")
    words = ["search", "--queries", "q.jsonl", "--run", "talk.srt", "--force"]
    refused("may be indexed in a library that cannot be read", *words)
    assert (here / "talk.srt").read_text() == "mine"


@pytest.mark.parametrize(
    "command", [["web", "build", "", "note.md"], ["demo", "--dir", ""], ["eval", "run", TOY, "--out", ""]]
)
def test_an_empty_output_folder_is_refused(command: list[str], refused: Refuse) -> None:
    refused("a path is empty", *command)
    assert {path.name for path in Path().iterdir()} == {"q.jsonl", "note.md"}
