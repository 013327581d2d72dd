"""`rag eval build egofact` over rendered videos and a raw WikiHow table, the model behind HTTP."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from eval.tasks.egofact.files import load_egofact
from rag._cli.main import main
from tests.fakes.chat_server import chat_server, say
from tests.fakes.egofact_sources import OBJECTS, play, write_sources


def test_the_command_builds_a_benchmark_stops_at_its_bound_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sources(tmp_path)
    monkeypatch.chdir(tmp_path)
    command = ["eval", "build", "egofact", "--ego4d", "ego4d", "--ego4dsounds", "sounds.csv"]
    command += ["--wikihow", "wikihow.csv", "--out", "out", "--clips", "2", "--json"]
    assert main(command) == 2
    assert "language model" in capsys.readouterr().err
    with chat_server([say(play, {"prompt_tokens": 7, "completion_tokens": 3})]) as server:
        settings = {"KIND": "openai", "MODEL": "scripted", "BASE_URL": server.base_url}
        for name, value in settings.items():
            monkeypatch.setenv(f"RAG_REASONER__{name}", value)
        assert main([*command, "--max-calls", "15"]) == 1
        assert "15 calls of 15 are spent" in capsys.readouterr().err
        assert len(server.requests) == 15
        assert main(command) == 0
        report = json.loads(capsys.readouterr().out)
        images = [
            sum(part["type"] == "image_url" for part in request["messages"][1]["content"])
            for request in server.requests
            if "Step: describe_screenshot" in str(request["messages"][0])
        ]
    assert images == [1] * 20
    assert all(len(request["messages"]) == 2 for request in server.requests), "a reply was refused"
    assert report["calls"] == len(server.requests) - 15
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
