"""`rag eval build egofact` over an Ego4D release and a raw WikiHow table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from eval.tasks.egofact.construction import model_build
from eval.tasks.egofact.files import load_egofact
from rag._cli.main import main
from tests.fakes.egofact_model import BuildModel
from tests.fakes.egofact_sources import OBJECTS, write_sources


def test_the_command_builds_a_benchmark_stops_at_its_bound_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sources(tmp_path)
    monkeypatch.chdir(tmp_path)
    command = ["eval", "build", "egofact", "--ego4d", "ego4d", "--ego4dsounds", "sounds.csv"]
    command += ["--wikihow", "wikihow.csv", "--out", "out", "--clips", "2", "--json"]
    assert main(command) == 2
    assert "language model" in capsys.readouterr().err
    model = BuildModel()
    monkeypatch.setattr(model_build, "open_reasoner", lambda *_: model)
    for name, value in {"KIND": "openai", "MODEL": "scripted", "BASE_URL": "http://127.0.0.1:1/v1"}.items():
        monkeypatch.setenv(f"RAG_REASONER__{name}", value)
    assert main([*command, "--max-calls", "15"]) == 1
    assert "15 calls of 15 are spent" in capsys.readouterr().err
    assert len(model.requests) == 15
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert [len(asked.frame.images) for asked in model.asked("describe_screenshot")] == [1] * 20
    assert report["calls"] == len(model.requests) - 15
    assert report["tokens"] == 10 * report["calls"]
    assert report["steps"]["annotated videos"] == {"clips": 3}
    assert report["steps"]["videos that are there"] == {"clips": 2}
    read = load_egofact(tmp_path / "out")
    assert {clip.path for clip in read.clips} == {f"../ego4d/v2/full_scale/{uid}.mp4" for uid in OBJECTS}
    families = {query.family for query in read.queries}
    assert {"local-1hop", "local-2hop"} <= families
    two = next(query for query in read.queries if query.family == "local-2hop")
    right = two.options["ABCDEF".index(two.answer)]
    passage = next(each for each in read.passages if each.passage_id == two.passage)
    degrees = re.search(r"at \d+ degrees", right)
    assert degrees is not None
    assert degrees[0] in passage.text
    command[command.index("out")] = "ego4d"
    monkeypatch.setenv("RAG_REASONER__KIND", "openai")
    assert main(command) == 2
    assert "is not empty" in capsys.readouterr().err
