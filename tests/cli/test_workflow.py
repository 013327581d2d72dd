"""The whole workflow on the command line, with a real library: index, ask, search, show, remove."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from corpora.scan import Shard
from rag._cli.main import main
from rag._cli.progress import PROBLEMS_OF_A_KIND
from rag.store.reading import Reader
from tests.fakes.command import run_rag
from tests.fakes.synthetic import write_video

SUBTITLES = """1
00:00:02,000 --> 00:00:05,000
The cordless drill makes a hole in the oak board.

2
00:00:14,000 --> 00:00:18,000
A soldering iron melts the tin on the copper wire.
"""


@pytest.fixture(scope="module")
def indexed(tmp_path_factory) -> tuple[Path, dict[str, Any], str]:
    """A folder with its library, what `rag index` said on stdout, and on stderr."""
    home = tmp_path_factory.mktemp("home")
    corpus = home / "corpus"
    corpus.mkdir()
    write_video(corpus / "workshop day.mp4", 24, size=(160, 120))
    (corpus / "workshop day.srt").write_text(SUBTITLES)
    (corpus / "telescope.txt").write_text("The mirror of the Webb telescope is made of beryllium.\n")
    (corpus / "tea.txt").write_text("Green tea is brewed at eighty degrees for two minutes.\n")
    (corpus / "bad\n\x1b.mp4").write_bytes(b"this is no video")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_OCR__MODE", "off")
        done = run_rag(home, "index", "corpus")
    assert done.returncode == 3, done.stderr
    return home, json.loads(done.stdout), done.stderr


@pytest.fixture
def home(indexed: tuple[Path, dict[str, Any], str], monkeypatch) -> Path:
    monkeypatch.chdir(indexed[0])
    monkeypatch.setenv("RAG_OCR__MODE", "off")
    return indexed[0]


def test_the_bad_file_is_one_safe_line_and_the_rest_is_indexed(
    indexed: tuple[Path, dict[str, Any], str],
) -> None:
    home, report, said = indexed
    bad = str(home / "corpus" / "bad\n\x1b.mp4")
    assert report["schema"] == "rag.index/1"
    assert (report["files_found"], report["indexed"], report["clips"]) == (4, 3, 1)
    assert [problem["path"] for problem in report["problems"]] == [bad]
    lines = [line for line in said.splitlines() if "bad" in line and "skipped" in line]
    assert len(lines) == 1
    assert "bad\\n\\x1b.mp4: " in lines[0]
    assert "\x1b" not in said


def test_a_copy_of_an_indexed_video_is_that_video(home: Path, tmp_path, capsys) -> None:
    original, copy = home / "corpus" / "workshop day.mp4", tmp_path / "copied.mp4"
    shutil.copy(original, copy)
    assert main(["localize", str(copy), "cordless drill"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == str(original)
    content = bytearray(copy.read_bytes())
    content[-1] ^= 1
    copy.write_bytes(content)
    assert main(["localize", str(copy), "cordless drill"]) == 2
    assert "no such video in the library" in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_what_ask_cites_show_shows(capsys, tmp_path) -> None:
    assert main(["ask", "What does the cordless drill make in the oak board?"]) == 0
    shape = json.loads(capsys.readouterr().out)
    [cited] = [citation for citation in shape["citations"] if citation["kind"] == "video"][:1]
    assert cited["start"] < 5.0
    assert any("drill" in item["text"] for item in cited["evidence"])
    assert main(["ask", "What does the cordless drill make in the oak board?", "--text"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    commands = [shlex.split(line) for line in lines if line.startswith("rag show ") and "@" in line]
    out = tmp_path / "sheet.png"
    assert main([*commands[0][1:], "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_run_names_documents_as_qrels_do(home: Path, tmp_path) -> None:
    queries, run, out = tmp_path / "q.jsonl", tmp_path / "r.trec", tmp_path / "a.jsonl"
    words = {"tin": "soldering iron on copper wire", "tea": "how hot is green tea brewed"}
    queries.write_text("".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in words.items()))
    search = ["search", "--queries", str(queries), "--run", str(run)]
    assert main([*search, "--ids", "stem"]) == 0
    rows = [line.split() for line in run.read_text().splitlines()]
    first = {query: document for query, _, document, rank, *_ in rows if rank == "1"}
    files = {"tin": home / "corpus" / "workshop day.mp4", "tea": home / "corpus" / "tea.txt"}
    named = {key: path.stem for key, path in files.items()}
    assert first == {key: name.replace(" ", "%20") for key, name in named.items()}
    assert main(search) == 2, "what was begun under one kind of name does not continue under another"
    assert main(["ask", "--questions", str(queries), "--out", str(out), "--ids", "stem"]) == 0
    citations = json.loads(out.read_text().splitlines()[1])["citations"]
    assert [one["document"] for one in citations if one["path"] == str(files["tea"])] == [named["tea"]]


def test_doctor_wants_a_library_where_one_was_named(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for named, broken in (([], 0), (["--library", "nope"], 1)):
        assert main(["doctor", *named, "--text"]) == broken
        mark = "BROKEN" if named else "-"
        line = rf"(?m)^{mark} +library +library +{tmp_path}/\S+: no library here; make one with: rag index"
        assert re.search(line, capsys.readouterr().out)


@pytest.mark.usefixtures("home")
def test_localize_says_that_nothing_matches_and_what_is_not_searched(capsys) -> None:
    assert main(["localize", "workshop day.mp4", "elephants dancing"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["matched"] is False
    assert "rag: nothing in the video matches this query" in said.err
    assert "rag: not searched: on-screen text of 1 video (" in said.err
    assert main(["localize", "workshop day.mp4", "a cordless drill"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out)["matched"], said.err) == (True, "")


def test_a_changed_file_is_named_and_gives_no_frames(home: Path, tmp_path, capsys, monkeypatch) -> None:
    """A file of the same name with other content: what is cited is no longer in it."""
    video, named = home / "corpus" / "workshop day.mp4", ["--library", str(home / ".rag")]
    assert main(["search", "drill", "--json"]) == 0
    (tmp_path / "found.json").write_text(capsys.readouterr().out)
    shutil.move(video, tmp_path / "away")
    monkeypatch.chdir(tmp_path)
    try:
        write_video(video, 8, size=(64, 48))
        for command in (
            ["show", f"{video}@1-3", "--out", "a.png", "--clip", "a.mp4"],
            ["export", f"{video}@1-3", "--format", "clips"],
            ["export", "--from", "found.json", "--format", "clips"],
        ):
            assert main([*command, *named]) == 1
            said = capsys.readouterr()
            assert (said.out, said.err.count("\n")) == ("", 1)
            assert f"{video}: changed since it was indexed; run rag index on its folder" in said.err
        assert not any(Path(name).exists() for name in ("a.png", "a.mp4", "selects"))
        assert main(["doctor", *named, "--text"]) == 1
        line = rf"BROKEN  library +indexed files +1 changed since .*{video.name}; run rag index"
        assert re.search(line, capsys.readouterr().out)
    finally:
        shutil.move(tmp_path / "away", video)


def test_a_passage_of_a_changed_file_is_shown_and_the_change_said(home: Path, capsys) -> None:
    assert main(["search", "green tea", "--kind", "passage", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["results"][0]
    file = home / "corpus" / "tea.txt"
    assert main(["show", best["passage_id"], "--text"]) == 0
    assert capsys.readouterr().err == ""
    facts = file.stat()
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    try:
        assert main(["show", best["passage_id"], "--text"]) == 0
        said = capsys.readouterr()
        assert "Green tea is brewed" in said.out
        assert said.err.startswith(f"rag: {file}: changed since it was indexed, and this is its text of then")
    finally:
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def test_a_shard_without_files_is_no_error(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("notes")
    folder.mkdir()
    (folder / "tea.txt").write_text("Green tea is brewed at eighty degrees.")
    empty = next(k for k in (1, 2) if not Shard(k, 2).holds("tea.txt"))
    for root in ("notes", "notes/tea.txt"):
        assert main(["index", root, "--text", "--shard", f"{empty}/2"]) == 0
        said = f"rag: shard {empty}/2 of {root} has no file; the other shards have 1 file\n"
        assert capsys.readouterr() == ("", said)
        assert main(["index", root, "--text", "--include", "*.md", "--include", "a b"]) == 1
        said = f"rag: of 1 indexable file in {root} none matches --include '*.md' 'a b'\n"
        assert capsys.readouterr() == ("", said)
    assert main(["index", "notes", "--text", "--shard", f"{3 - empty}/2", "--library", "full"]) == 0
    assert main(["library", "merge", ".rag", "full", "--into", "all"]) == 0
    with Reader.open(Path("all")) as merged:
        assert merged.indexed_paths() == [os.fspath(tmp_path / "notes/tea.txt")]


def test_ignored_files_are_named(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("notes")
    folder.mkdir()
    for name in ("a.xyz", "b.xyz", "c.xyz", "notes.json"):
        (folder / name).write_text('[{"text": "Green tea is brewed at eighty degrees."}]')
    assert main(["index", "notes", "--text"]) == 1
    below = tmp_path / "notes"
    assert capsys.readouterr().err.splitlines() == [
        "rag: no indexable file in notes",
        f"rag: {below / 'a.xyz'}: ignored: no reader knows this kind of file",
        f"rag: {below / 'b.xyz'}: ignored: no reader knows this kind of file",
        f"rag: {below / 'c.xyz'}: ignored: no reader knows this kind of file",
        "rag: 1 more ignored; -v names them",
    ]


def test_of_many_files_with_one_problem_the_first_are_named_and_the_others_counted(
    tmp_path, monkeypatch
) -> None:
    """The report has all."""
    monkeypatch.setenv("RAG_ENCODER__IMAGE", "none")
    folder = tmp_path / "corpus"
    folder.mkdir()
    for n in range(PROBLEMS_OF_A_KIND + 5):
        (folder / f"{n:02d}.mp4").write_bytes(b"")
    (folder / "bad.srt").write_text("no subtitles")
    (folder / "notes.md").write_text("# Oil\n\nTwo drops.\n")
    done = run_rag(tmp_path, "index", "corpus", "--library", "library")
    lines = [line for line in done.stderr.splitlines() if line.startswith(str(folder))]
    assert len([line for line in lines if ".mp4: " in line]) == PROBLEMS_OF_A_KIND, done.stderr
    assert "5 more files: " in done.stderr
    assert len([p for p in json.loads(done.stdout)["problems"] if p["path"].endswith(".mp4")]) == 25


@pytest.mark.usefixtures("tiny_text")
def test_commands_on_an_empty_library_name_the_one_that_fills_it(tmp_path) -> None:
    """As after an interrupted first run."""
    (tmp_path / "notes.txt").write_text("The oil pump is behind the left cover.\n")
    for words in (["index", "notes.txt"], ["remove", "notes.txt", "--yes"]):
        assert run_rag(tmp_path, *words).returncode == 0
    said = ".rag: nothing is indexed here yet; run: rag index FOLDER\n"
    assert said in run_rag(tmp_path, "search", "oil pump").stderr
    asked = ("ask", "Where is the oil pump?", "--json")
    assert "The library holds nothing yet; fill it with: rag index FOLDER" in run_rag(tmp_path, *asked).stdout
    assert run_rag(tmp_path, "index", "notes.txt").returncode == 0
    assert "behind the left cover" in run_rag(tmp_path, *asked).stdout
