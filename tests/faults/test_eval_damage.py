"""Run folders that were killed with several queries in flight, cut short, or changed by hand."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.reports.page import write_report
from eval.runs.runner import run_solver
from rag._cli.main import main
from rag.errors import ReasonerError, UsageError
from rag.settings import ReasonerSettings, Settings
from tests.fakes.asking_task import AskingTask, asked_server
from tests.fakes.chat_server import chat_server, status
from tests.fakes.sources import ROOT
from tests.fakes.toy_benchmark import ToyTask, run_task

SAME = ("samples.jsonl", "results.json", "queries.jsonl")


def read(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def run(folder: Path, concurrency: int, **reasoner: Path) -> dict[str, bytes]:
    task = AskingTask()
    prepared = task.prepare(Settings(reasoner=ReasonerSettings(**reasoner)))
    run_solver(task, prepared, "asks", 0, folder, concurrency=concurrency)
    return read(folder)


def lines(folder: Path) -> list[bytes]:
    return (folder / "samples.jsonl").read_bytes().splitlines()


def test_several_in_flight_give_the_same_files(tmp_path, monkeypatch):
    with asked_server(latency=0.03) as server:
        monkeypatch.setenv("ASKING_URL", server.base_url)
        alone = run(tmp_path / "alone", 1)
        assert run(tmp_path / "together", 8) == alone
    samples = [json.loads(line) for line in alone["samples.jsonl"].splitlines()]
    lost = [sample for sample in samples if sample["evidence"].get("failure") == "ReplyInvalid"]
    assert 0 < len(lost) < len(samples) / 2
    assert all(sample["choice"] is None and sample["parse_failure"] for sample in lost)
    results = json.loads(alone["results.json"])
    assert str(round(len(lost) / len(samples), 6)) in json.dumps(results["figures"]["parse failures"])
    replies = results["replies"]
    assert sum(row["unread"] for row in replies.values()) == len(lost)


def test_killed_and_taken_up_with_eight_in_flight_is_undisturbed(tmp_path, monkeypatch):
    torn = tmp_path / "torn" / "asks-seed0"
    command = [sys.executable, "-m", "rag._cli.main", "eval", "run", "tests.fakes.asking_task:open_asking"]
    command += ["--concurrency", "8", "--out", str(torn.parent)]
    with asked_server(latency=0.4) as server:
        monkeypatch.setenv("ASKING_URL", server.base_url)
        how = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}, "stdout": subprocess.DEVNULL, "cwd": tmp_path}
        process = subprocess.Popen(command, **how)
        deadline = time.monotonic() + 90
        while not (torn / "samples.jsonl").exists() or len(lines(torn)) < 10:
            assert process.poll() is None, "it was done before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert len(lines(torn)) < 40
    with asked_server() as server:
        monkeypatch.setenv("ASKING_URL", server.base_url)
        assert run(torn, 8) == run(tmp_path / "whole", 1)


def test_a_server_that_fails_stops_the_run_which_goes_on_later(tmp_path, monkeypatch):
    def stopping(handler, body):
        failing = len(server.requests) > 30
        (status(401) if failing else ordinary.acts[0])(handler, body)

    with asked_server() as ordinary, chat_server([stopping]) as server:
        monkeypatch.setenv("ASKING_URL", server.base_url)
        with pytest.raises(ReasonerError, match="answers 401"):
            run(tmp_path / "run", 4)
        # The second address is no part of what a run is made with.
        monkeypatch.setenv("ASKING_URL", ordinary.base_url)
        assert len(lines(tmp_path / "run")) < 40
        assert run(tmp_path / "run", 4) == run(tmp_path / "whole", 1)


TOY = "tests.fakes.toy_benchmark:open_toy"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "whole"
    run_task(ToyTask(count=8), "localized", 0, folder)
    return folder


def test_what_is_not_scored_is_not_reported(whole: Path, tmp_path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / "results.json").unlink()
    with pytest.raises(UsageError, match="answered but not scored yet"):
        write_report([run], tmp_path / "report")


def test_a_torn_last_sample_is_still_to_come(whole: Path, tmp_path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    path = run / "samples.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"7 of 8 queries are answered; continue with 'rag eval run'"):
        write_report([run], tmp_path / "report")


def test_only_the_runs_own_data_are_shown(tmp_path, monkeypatch, capsys) -> None:
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
