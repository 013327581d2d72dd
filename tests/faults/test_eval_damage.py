"""Run folders that were cut short or changed by hand: one line each, and never a figure from them."""

import shutil
from pathlib import Path

import pytest

from eval.reports.page import write_report
from rag._cli.main import main
from rag.errors import UsageError
from tests.fakes.toy_benchmark import ToyTask, run_task

TOY = "tests.fakes.toy_benchmark:open_toy"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "whole"
    run_task(ToyTask(count=8), "localized", 0, folder)
    return folder


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [("results.json", None, "answered and not scored yet"), ("timings.jsonl", b"\xff\n", "no timing")],
)
def test_what_is_not_whole_is_not_reported(
    whole: Path, tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / name).unlink()
    if content is not None:
        (run / name).write_bytes(content)
    with pytest.raises(UsageError, match=why):
        write_report([run], tmp_path / "report")


def test_a_torn_last_timing_is_left_out(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    path = run / "timings.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert write_report([run], tmp_path / "report")


def test_a_torn_last_sample_is_still_to_come(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    path = run / "samples.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"7 of 8 queries are answered; 'rag eval run' goes on there"):
        write_report([run], tmp_path / "report")


def test_only_the_runs_own_data_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    (data / "queries.jsonl").write_text("1", encoding="utf-8")
    assert main(["eval", "run", TOY, "--system", "random", "--limit", "2", "--data", "data"]) == 0
    (data / "queries.jsonl").write_text("2", encoding="utf-8")
    assert main(["eval", "show", "runs/toy/random-seed0", "q001"]) == 2
    said = capsys.readouterr().err
    assert "made with other data; say where they are with --data DIR" in said
    assert said.count("\n") == 1
