"""How a run of VideoDetective is shown: belief bar, lines, trace, JSON and page."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from rag._cli.main import main
from rag.agents.runtime.trace import RunTrace
from rag.agents.runtime.view import render_page
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import DetectiveResult, Look, Planned, Selected
from rag.agents.video_detective.view import DetectiveView, record_json, record_step, result_json, result_page
from rag.engine import Engine
from rag.library import Library
from rag.reasoners.protocol import Reasoner
from rag.rendering.shapes import to_json
from tests.fakes.browser_world import any_frames, no_frames
from tests.fakes.detective_world import RuleReasoner, open_world, pixels, question


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> DetectiveResult:
    with open_world(tmp_path_factory.mktemp("view")) as library:
        return VideoDetective(library, reasoner=cast("Reasoner", RuleReasoner())).investigate(
            "workshop", question()
        )


def lines(found: DetectiveResult, *records: Planned | Look | Selected) -> list[str]:
    """The lines of the last of the records, at 80 columns."""
    trace, view = RunTrace(flat=True), DetectiveView()
    for record in records:
        record_step(trace, record, found.plan)
    return [list(view.step_lines(step, 80)) for step in trace.steps][-1]


def test_lines_say_what_was_looked_at_and_why(found: DetectiveResult) -> None:
    plan = lines(found, found.plan)
    assert plan[0].startswith("plan: 5 facets, ")
    assert plan[-1].startswith("  belief ")
    assert all(len(line) <= 80 for line in plan)
    look = lines(found, found.plan, found.looks[0])
    assert re.match(r"look 1/10 \d\d:\d\d-\d\d:\d\d, anchor of .*, score ", look[0])
    spread = dataclasses.replace(found.selected, fallback="weak evidence")
    assert "  sampled uniformly, weak evidence" in lines(found, spread)
    broken = dataclasses.replace(found.looks[0], problem="no\nanswer")
    assert "  problem: no\\nanswer" in lines(found, found.plan, broken)


def test_steps_and_answer_are_plain_json(found: DetectiveResult) -> None:
    steps = [record_json(step) for step in (found.plan, *found.looks, found.selected)]
    assert [step["step"] for step in steps] == ["plan", *["look"] * len(found.looks), "show"]
    whole = json.loads(to_json(result_json(found)))
    assert whole["schema"] == "rag.agent.video-detective/1"
    assert whole["answer"]["choice"] == found.answer.choice
    assert whole["looks"] == json.loads(json.dumps(steps[1:-1]))
    assert whole["tokens_counted_as"] == ""
    assert result_json(found, "counted")["tokens_counted_as"] == "counted"
    assert whole["settings"]["beta"] == 0.6


def test_the_page_needs_no_other_file_and_escapes(found: DetectiveResult) -> None:
    asked = dataclasses.replace(found.answer.question, text="<script>alert(1)</script>")
    odd = dataclasses.replace(found, answer=dataclasses.replace(found.answer, question=asked))

    text = render_page(result_page(odd), any_frames)
    assert "<script>" not in text
    links = re.findall(r"(?:src|href)=\"?([^\s\">]*)", text)
    assert all(link.startswith("data:image/jpeg;base64,") for link in links)
    assert text.count("data:image/jpeg;base64,") >= len(found.frame_times)
    assert text.count("class=bars") == len(found.looks) + 1
    assert render_page(result_page(odd), any_frames) == text
    assert "data:image" not in render_page(result_page(odd), no_frames)
    flat = dataclasses.replace(found, selected=Selected(found.selected.packs, "flat"))
    assert "Frames were sampled uniformly: flat" in render_page(result_page(flat), no_frames)


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuleReasoner:
    """The command's library is the made-up one, and its reasoner the rules."""
    reasoner = RuleReasoner()
    open_world(tmp_path).close()

    def opened(*_: Any, **__: Any) -> Library:
        library = open_world_again(tmp_path)
        library.engine.__dict__["reasoner"] = reasoner
        return library

    monkeypatch.setattr(Library, "open", opened)
    monkeypatch.setattr(Engine, "read_frames", lambda _, path, times: pixels(path, times))
    monkeypatch.chdir(tmp_path)
    return reasoner


def open_world_again(folder: Path) -> Library:
    from rag.settings import load_settings
    from rag.store.reading import Reader
    from tests.fakes.answer_world import BagOfWords, ImageWords

    library = Library(Reader.open(folder / "library"), load_settings())
    library.engine.__dict__.update(text_encoder=BagOfWords(), tower=ImageWords())
    return library


OPTIONS = [word for option in question().options for word in ("--option", option)]


def test_the_command_prints_steps_and_writes_trace_and_page(
    rules: RuleReasoner, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["agent", "video-detective", "workshop", question().text, *OPTIONS]
    assert main([*words, "--trace", "t.jsonl", "--html", "r.html", "--json"]) == 0
    out, err = capsys.readouterr()
    reported = json.loads(out)
    assert reported["answer"]["choice"] == "D"
    lines = [json.loads(line) for line in Path("t.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in lines] == ["plan", *["look"] * len(reported["looks"]), "show", "answer"]
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert err.startswith("plan: 5 facets")
    assert "look 1/10" in err
    assert "belief" in err
    first = Path("t.jsonl").read_bytes()
    again = ["--trace", "t.jsonl", "--force", "--text", "--looks", "3", "--frames", "8"]
    assert main([*words, *again]) == 0
    out, err = capsys.readouterr()
    assert "the hammer of part 9" in out
    assert "look 4/" not in err
    assert Path("t.jsonl").read_bytes() != first
    assert "observe" in rules.asked
