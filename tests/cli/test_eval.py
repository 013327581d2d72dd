"""`rag eval` from outside: what it prints, writes and refuses."""

import json
import os
import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from eval import tasks
from rag._cli.main import main
from rag.errors import BudgetSpent, ReplyInvalid
from tests.fakes import toy_benchmark
from tests.fakes.toy_benchmark import ToyTask

TOY = "tests.fakes.toy_benchmark:open_toy"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shape


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("RAG_")}


def test_settings_of_file_and_flags_reach_the_task(capsys, monkeypatch) -> None:
    toy = ToyTask(count=2)
    monkeypatch.setattr(toy_benchmark, "open_toy", lambda _data=None: toy)
    Path("mine.toml").write_text("[search]\ntop_k = 17\n[ocr]\nmode = 'on'\n", encoding="utf-8")
    words = ["eval", "run", TOY, "--system", "random", "--config", "mine.toml"]
    before = _variables()
    assert main(words) == 0
    capsys.readouterr()
    (chosen,) = toy.prepared_with
    assert (chosen.search.top_k, chosen.ocr.mode) == (17, "on")
    assert _variables() == before


def test_queries_that_the_model_lost_are_counted_on_stderr(capsys, monkeypatch) -> None:
    failures = {"q000": ReplyInvalid("no usable reply"), "q002": BudgetSpent("30 calls")}
    monkeypatch.setattr(toy_benchmark, "open_toy", lambda _data=None: ToyTask(count=4, failures=failures))
    assert main(["eval", "run", TOY, "--system", "localized"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "no usable answer" in line]
    assert line == (
        "localized, seed 0: 2 of 4 queries got no usable answer or verdict; the first: no usable reply; "
        "to ask them again, delete runs/toy/localized-seed0"
    )


def test_a_setting_that_a_task_cannot_honour_is_refused(capsys) -> None:
    Path("mine.toml").write_text("[ocr]\nmode = 'on'\n", encoding="utf-8")
    assert main(["eval", "run", "egofact-workbench-mini", "--config", "mine.toml"]) == 2
    said = capsys.readouterr().err
    assert said == (
        "rag: egofact-workbench-mini fixes ocr.mode = off; take ocr.mode = on out of the settings\n"
    )
    assert not Path("egofact-workbench-mini").exists()


def test_a_run_is_scored_again(capsys, monkeypatch) -> None:
    assert main(["eval", "run", TOY, "--system", "localized", "--limit", "8"]) == 0
    path = Path("runs/toy/localized-seed0/samples.jsonl")
    first = path.read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(ToyTask, "judge", "die")
        assert main(["eval", "score", "runs/toy"]) == 0
    shape = printed(capsys)
    assert shape["schema"] == "rag.eval.score/1"
    assert (shape["runs"][0]["asked"], shape["runs"][0]["kept"]) == (0, 8)
    assert path.read_bytes() != first
    assert main(["eval", "score", "runs/toy/localized-seed0"]) == 0
    assert path.read_bytes() == first


def test_run_then_report_then_show(capsys) -> None:
    words = ["--system", "no-localization,localized", "--seed", "1", "--limit", "16"]
    assert main(["eval", "run", TOY, *words]) == 0
    shape = printed(capsys)
    assert shape["schema"] == "rag.eval.run/1"
    assert shape["benchmark"] == "toy"
    folders = [each["folder"] for each in shape["runs"]]
    assert folders == ["runs/toy/no-localization-seed1", "runs/toy/localized-seed1"]
    assert {(each["asked"], each["kept"]) for each in shape["runs"]} == {(16, 0)}

    assert main(["eval", "report", *folders, "--out", "pages"]) == 0
    files = printed(capsys)["files"]
    assert files[0] == "pages/report.md"
    assert all(Path(name).exists() for name in files)
    # A report that nobody changed is replaced by the next one.
    assert main(["eval", "report", folders[0], "--out", "pages"]) == 0
    assert printed(capsys)["files"][0] == "pages/report.md"
    (Path("pages") / "mine.txt").write_text("mine")
    assert main(["eval", "report", *folders, "--out", "pages"]) == 2
    assert main(["eval", "show", "runs/toy", "q005"]) == 2
    assert ": holds several runs; name one of them: runs/toy/localized-seed1, " in capsys.readouterr().err

    assert main(["eval", "show", "runs/toy/localized-seed1", "q005"]) == 0
    shape = printed(capsys)
    assert shape["schema"] == "rag.eval.show/1"
    assert (shape["query"]["query_id"], shape["sample"]["query_id"]) == ("q005", "q005")
    assert Path(shape["picture"]).read_bytes().startswith(b"\x89PNG")


def test_text_for_people(capsys) -> None:
    assert main(["eval", "run", TOY, "--system", "localized", "--limit", "8", "--text"]) == 0
    out = capsys.readouterr().out
    assert "runs/toy/localized-seed0" in out
    assert "rag eval report runs/toy/localized-seed0" in out
    assert main(["eval", "show", "runs/toy", "q", "--text"]) == 2
    assert "'q' is none of its 8 queries: q000, q001" in capsys.readouterr().err
    assert main(["eval", "show", "runs/toy", "q003", "--text", "--out", "q.png"]) == 0
    out = capsys.readouterr().out
    assert "? What is the object of event 3?" in out
    assert out.count("*") >= 2
    assert "picture: q.png" in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["run", "nothing"], "no benchmark 'nothing'"),
        (["run", TOY, "--system", "localised"], "no system 'localised'; there are no-localization"),
        (["report", "nowhere"], "no such folder, so no run of 'rag eval run'; name a folder that it made"),
        (["show", "nowhere", "q001"], "no run of 'rag eval run'"),
    ],
)
def test_wrong_words_are_one_line(capsys, words: list[str], line: str) -> None:
    assert main(["eval", *words]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_list_names_benchmarks_and_systems(capsys, monkeypatch) -> None:
    toy = EntryPoint("toy", TOY, tasks.GROUP)
    monkeypatch.setattr(tasks, "all_entry_points", lambda group: {"toy": toy} if group == tasks.GROUP else {})
    monkeypatch.setattr(tasks, "find_entry_point", lambda *_: toy)
    assert main(["eval", "list"]) == 0
    shape = printed(capsys)
    assert shape["schema"] == "rag.eval.list/1"
    assert shape["benchmarks"][0]["systems"]["localized"] == "right in 60% of cases"
    assert main(["eval", "list", "--text"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"toy  \d systems  random numbers", line)
    assert main(["eval", "list", TOY, "--text"]) == 0
    assert re.search(r"(?m)^localized +right in 60% of cases$", capsys.readouterr().out)
