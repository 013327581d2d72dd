"""What each command passes on and prints, in one process, over a library of fixed answers."""

import inspect
import json
import os
import resource
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora.records import Passage
from rag._cli.main import main
from rag.library import Library
from rag.records import PassageHit, SearchFilter
from rag.store.records import FileState
from tests.fakes.libraries import FixedLibrary


@pytest.fixture
def library(monkeypatch, tmp_path) -> FixedLibrary:
    monkeypatch.chdir(tmp_path)
    library = FixedLibrary()
    monkeypatch.setattr(Library, "open", lambda *_, **__: library)
    return library


def test_the_library_by_rote_is_asked_as_a_real_one() -> None:
    for name, member in vars(FixedLibrary).items():
        if callable(member) and not name.startswith("__"):
            known = inspect.signature(getattr(Library, name)).parameters
            ours = inspect.signature(member).parameters
            assert [each for each in ours if each not in known and each != "given"] == [], name


def test_the_settings_in_effect_are_listed(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text('[ocr]\nmode = "off"\n', encoding="utf-8")
    assert main(["doctor", "--settings", "--config", "my.toml", "--text"]) == 0
    assert 'ocr.mode "off" my.toml' in [
        " ".join(line.split()) for line in capsys.readouterr().out.splitlines()
    ]
    assert main(["doctor", "--settings", "--library", "lib"]) == 0
    shape = _json(capsys)
    assert shape["schema"] == "rag.settings/1"
    assert shape["settings"][0] == {"name": "library", "value": "lib", "source": "flag"}


def _json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_ask_passes_options_and_filters_on(library: FixedLibrary, capsys) -> None:
    filters = ["--path", "*.mp4", "--start", "5", "--threshold", "0.2"]
    assert main(["ask", "What?", "-o", "a drill", "-o", "a lamp", *filters]) == 0
    where = SearchFilter(paths=("*.mp4",), start=5.0)
    assert library.asked == [("What?", {"options": ("a drill", "a lamp"), "where": where})]
    shape = _json(capsys)
    assert shape["schema"] == "rag.ask/1"
    assert shape["citations"][0]["evidence"][0]["text"] == "switch the lamp on"


def test_times_are_taken_as_they_are_shown(library: FixedLibrary, capsys) -> None:
    assert main(["search", "lamp", "--start", "1:02:03.5", "--end", "1:02:10"]) == 0
    assert main(["localize", "a.mp4", "lamp", "--window", "00:02"]) == 0
    assert library.asked[0][1]["where"] == SearchFilter(start=3723.5, end=3730.0)
    assert library.asked[1][1]["window_seconds"] == 2.0
    capsys.readouterr()


@pytest.mark.usefixtures("library")
def test_globs_that_no_file_matches_are_named(capsys, tmp_path) -> None:
    line = "no file of the library matches zzz*, nothing.mp4"
    globs = ["--path", "zzz*", "--path", "nothing.mp4"]
    assert main(["ask", "What?", *globs]) == 0
    assert _json(capsys)["answer"]["explanation"] == line
    assert main(["search", "lamp", *globs]) == 0
    assert f"rag: {line}\n" in capsys.readouterr().err
    (tmp_path / "q.jsonl").write_text('{"_id": "1", "text": "lamp"}\n')
    assert main(["ask", "--questions", "q.jsonl", "--out", "a.jsonl", *globs]) == 0
    assert main(["search", "--queries", "q.jsonl", "--run", "a.trec", *globs]) == 0
    assert capsys.readouterr().err.count(line) == 2
    assert main(["search", "lamp", "--path", "a.mp4", "--path", "zzz*"]) == 0
    assert "no file of the library" not in capsys.readouterr().err


def test_text_is_for_people(library: FixedLibrary, capsys) -> None:
    assert main(["ask", "What?", "--text", "--library", "my lib"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("a lamp\nconfidence 0.90")
    assert "rag show --library 'my lib' a.mp4@1-6" in out
    assert main(["ask", "What?", "--text", "--library", "my lib", "--library", "B"]) == 0
    assert "rag show --library 'my lib' --library B a.mp4@1-6" in capsys.readouterr().out
    library.asked.pop()
    assert library.asked == [("What?", {"options": (), "where": None})]


def test_what_a_repair_took_out_is_named(library: FixedLibrary, monkeypatch, capsys) -> None:
    monkeypatch.setattr(library.engine.reader, "taken_out", lambda: frozenset(("a", "b")))
    assert main(["ask", "Is the bolt tight?"]) == 0
    assert (
        "rag: 2 files taken out by a repair, and not searched; 'rag index FOLDER' indexes them again"
        in capsys.readouterr().err
    )


def test_an_interrupted_run_says_how_to_go_on(monkeypatch, capsys, tmp_path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "index", interrupted)
    assert main(["index", str(tmp_path)]) == 130
    kept, last = capsys.readouterr().err.splitlines()
    assert "run the same command again to index the rest" in kept
    assert last == "rag: interrupted"


def test_search_and_localize(library: FixedLibrary, capsys) -> None:
    """What they print as JSON: tests/golden."""
    assert main(["search", "lamp", "--kind", "video", "--top-k", "7"]) == 0
    assert main(["localize", "a.mp4", "lamp", "--count", "3", "--window", "2"]) == 0
    capsys.readouterr()
    assert library.asked == [
        ("lamp", {"kind": "video", "top_k": 7, "where": None}),
        ("a lamp", {"count": 3, "window_seconds": 2.0}),
    ]
    assert main(["localize", "a.mp4", "lamp", "--text"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        " 1. 1-6 s (00:01-00:06)  relevance 0.40",
        "Possibly: no window has a relevance of 0.50, from which it is sure to be what was looked for.",
    ]


def test_copies_of_what_is_found_are_listed(library: FixedLibrary, capsys, monkeypatch) -> None:
    files = [SimpleNamespace(path=path) for path in ("a.mp4", "b/a.mp4", "c/a copy.mp4")]

    def copies(paths: Iterable[str]) -> list[tuple[str, list[SimpleNamespace]]]:
        return [(path, files) for path in dict.fromkeys(paths) if path.endswith(".mp4")]

    monkeypatch.setattr(library.engine.reader, "copies", copies)
    assert main(["localize", "a.mp4", "lamp"]) == 0
    assert _json(capsys)["also_at"] == ["a.mp4", "c/a copy.mp4"]
    assert main(["localize", "a.mp4", "lamp", "--text"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["also at a.mp4", "also at c/a copy.mp4"]
    assert main(["search", "lamp"]) == 0
    assert [result.get("also_at") for result in _json(capsys)["results"]] == [
        ["b/a.mp4", "c/a copy.mp4"],
        None,
        None,
    ]


def test_hits_that_nothing_relevant_is_among_are_called_so(
    library: FixedLibrary, capsys, monkeypatch
) -> None:
    for relevance, far in ((0.0, True), (0.29, True), (0.31, False)):
        hits = [PassageHit("b.csv", Passage("p1", "d1", "Lamps", "Light."), 0.5, relevance)]
        monkeypatch.setattr(library, "search", lambda *_, found=hits, **__: found)
        assert main(["search", "qwx zzyk"]) == 0
        said = capsys.readouterr()
        assert len(json.loads(said.out)["results"]) == 1
        assert ("nothing in the library matches this query" in said.err) is far
    monkeypatch.setattr(library, "search", lambda *_, **__: [])
    assert main(["search", "qwx zzyk"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("library")
def test_show_prints_a_passage_and_draws_none(capsys) -> None:
    assert main(["show", "p1", "--text"]) == 0
    assert capsys.readouterr().out == "Lamps  (n.md)\n\nA lamp\\x1b\ngives light.\n"
    assert main(["show", "p1", "--clip", "x.mp4"]) == 2
    assert "a passage has no frames" in capsys.readouterr().err


@pytest.mark.usefixtures("library")
def test_stats_problems_and_remove(capsys) -> None:
    assert main(["stats"]) == 0
    assert _json(capsys)["clips"] == 4
    assert main(["stats", "--text"]) == 0
    assert "4 clips" in capsys.readouterr().out
    assert main(["stats", "--problems", "--text"]) == 0
    assert capsys.readouterr().out == "bad\\n.mp4: not a video; skipped\n"
    assert main(["stats", "--problems", "--files"]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert main(["remove", "a.mp4", "b.txt"]) == 0
    assert _json(capsys)["paths"] == ["a.mp4"]
    assert main(["remove", "b.txt"]) == 2
    assert "none of these is in the library: b.txt" in capsys.readouterr().err


def test_a_bug_is_raised(library: FixedLibrary, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BrokenPipeError("ours")

    monkeypatch.setattr(library, "search", fail)
    with pytest.raises(BrokenPipeError, match="ours"):
        main(["search", "x"])


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_batch_of_questions_goes_on_where_it_stopped(library: FixedLibrary, capsys, tmp_path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    asked = [
        {"_id": "1", "text": "a?", "options": ["x", "y"]},
        {"_id": "2", "text": "too long"},
        {"_id": "3"},
    ]
    questions.write_text("\n".join(json.dumps(entry) for entry in asked))
    command = ["ask", "--questions", str(questions), "--out", str(out)]
    assert main(command) == 3
    said = capsys.readouterr()
    assert json.loads(said.out) == {"schema": "rag.batch/1", "out": str(out), "asked": 1, "kept": 0, "bad": 2}
    assert "q.jsonl:2: the question is too long; skipped" in said.err
    assert "q.jsonl:3: no words" in said.err
    asked[1:] = [{"_id": "2", "text": "b?"}]
    questions.write_text("\n".join(json.dumps(entry) for entry in asked))
    assert main(command) == 0
    assert [line["question_id"] for line in _lines(out)] == ["1", "2"]
    assert [text for text, _ in library.asked] == ["a?", "too long", "b?"]
    assert main([*command, "--top-k", "2"]) == 2
    assert "settings.search.top_k was 5, is 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "--questions", "q.jsonl", "--out", "a.jsonl"],
        ["search", "--queries", "q.jsonl", "--run", "r.trec"],
    ],
)
def test_a_batch_of_before_something_was_indexed_is_refused(
    library: FixedLibrary, capsys, command: list[str]
) -> None:
    Path("q.jsonl").write_text('{"_id": "1", "text": "a?"}\n', encoding="utf-8")
    assert main(command) == 0
    assert _json(capsys)["asked"] == 1
    library.contents = "of another day"
    assert main(command) == 2
    assert 'contents was "0123456789abcdef", is "of another day"' in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert _json(capsys)["asked"] == 1


def test_a_batch_stops_where_every_question_would_fail(library: FixedLibrary, capsys, tmp_path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    asked = [{"_id": text, "text": text} for text in ("a?", "server", "c?")]
    questions.write_text("\n".join(json.dumps(entry) for entry in asked))
    assert main(["ask", "--questions", str(questions), "--out", str(out)]) == 3
    assert len(_lines(out)) == 1
    err = capsys.readouterr().err
    assert "rag: no answer from the server\n" in err
    assert "stopped after 1 of 3; run it again to continue" in err
    assert [text for text, _ in library.asked] == ["a?", "server"]


def test_a_batch_of_queries_makes_a_run_and_its_windows(library: FixedLibrary, tmp_path) -> None:
    queries, run = tmp_path / "q.jsonl", tmp_path / "out.trec"
    queries.write_text('{"_id": "q2", "text": "lamp"}\n{"_id": "q1", "text": "drill"}\n')
    command = ["search", "--queries", str(queries), "--run", str(run), "--kind", "all"]
    assert main(command) == 0
    rows = [line.split()[:4] for line in run.read_text(encoding="utf-8").splitlines()]
    assert rows == [
        [query, "Q0", doc, rank] for query in ("q2", "q1") for doc, rank in (("v%201", "1"), ("d1", "2"))
    ]
    windows = _lines(tmp_path / "out.windows.jsonl")
    assert [(line["query_id"], line["results"][0]["start"]) for line in windows] == [("q2", 1.0), ("q1", 1.0)]
    whole = run.read_bytes()
    run.unlink()
    assert main(command) == 0
    assert run.read_bytes() == whole
    assert len(library.asked) == 2


def test_two_equal_options_are_refused_but_in_a_file_of_questions(
    library: FixedLibrary, tmp_path, capsys
) -> None:
    assert main(["ask", "What?", "-o", "a drill", "-o", "A  drill"]) == 2
    assert capsys.readouterr().err == "rag: options A and B are the same\n"
    assert library.asked == []
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"_id": "1", "text": "What?", "options": ["a drill", "a drill"]}\n')
    assert main(["ask", "--questions", str(questions), "--out", str(tmp_path / "a.jsonl")]) == 0


@pytest.mark.usefixtures("library")
def test_a_batch_on_a_full_disk_is_one_line_and_goes_on_later(capsys) -> None:
    words, lines = ["search", "--queries", "q.jsonl", "--run", "a.trec"], "a.windows.jsonl"
    Path("q.jsonl").write_text('{"_id": "1", "text": "lamp"}\n')
    assert main(words) == 0
    Path("q.jsonl").write_text("".join(f'{{"_id": "{n}", "text": "lamp"}}\n' for n in (1, 2, 3)))
    capsys.readouterr()
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(lines).stat().st_size + 9, unlimited[1]))
    try:
        code = main(words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert code == 1
    assert capsys.readouterr().err == f"rag: {lines}: file too large; run it again to continue\n"
    assert main(words) == 0
    assert len(_lines(Path(lines))) == 3


@pytest.mark.parametrize(
    "words",
    [
        *[["ask"], ["search", "--run", "r.trec"], ["search", "x", "--start", "5", "--end", "5"]],
        *[["localize", "x.mp4", "lamp", "--window", "0"], ["search", "x", "--kind", "sound"]],
        *[["ask", "x", "--config", "none.toml"], ["ask", "caf\udce9"], ["models", "pull", "no-such-model"]],
        ["ask", "x", "--nonsense"],
    ],
)
def test_wrong_usage_is_one_line_and_2(library: FixedLibrary, capsys, words: list[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("rag")
    assert said.err.count("\n") == 1
    assert library.asked == []
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("missing", "the file is gone since it was indexed"),
        ("changed", "the file, or its subtitles or .info.json, has changed since it was indexed"),
        ("unreadable", "the file cannot be read now"),
    ],
)
def test_a_cited_file_that_is_not_as_it_was_indexed_is_named(
    library: FixedLibrary, capsys, state: FileState, said: str
) -> None:
    for words, path, key in (
        (["ask", "a lamp?"], "a.mp4", "citations"),
        (["search", "a lamp"], "a.mp4", "results"),
        (["localize", "v1", "a lamp"], "b/v1.mp4", None),
    ):
        assert main([*words, "--text"]) == 0
        before = capsys.readouterr().out
        library.stale = {path: state}
        assert main([*words, "--text"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.strip() for line in lines if line not in before.splitlines()] == [said]
        assert main([*words, "--json"]) == 0
        shape = json.loads(capsys.readouterr().out)
        assert (shape[key][0] if key else shape)["state"] == state
        library.stale = {}
        assert main([*words, "--json"]) == 0
        assert '"state"' not in capsys.readouterr().out
