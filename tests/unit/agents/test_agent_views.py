"""How runs are shown, of each agent alike: lines of every step, JSON, traces, and what the command prints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpora.outputs import OverwritePolicy
from rag._cli.agent_run import TraceFile
from rag._cli.main import main
from rag.agents.raclo import agent as raclo_agent
from rag.agents.raclo.agent import run_raclo
from rag.agents.raclo.records import PAPER
from rag.agents.runtime.trace import Step, result_step, step_lines
from rag.agents.shotfinder import agent as shotfinder_agent
from rag.agents.shotfinder.agent import find_shot
from rag.agents.shotfinder.constraints import Constraints
from rag.agents.shotfinder.records import ShotRequest
from rag.agents.video_browser import agent as browser_agent
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import MAIN
from rag.agents.video_detective import agent as detective_agent
from rag.agents.video_detective.agent import VideoDetective
from rag.engine import Engine
from rag.errors import RagError, UsageError
from rag.library import Library
from rag.reasoners.roles.material import Memory
from rag.records import Question
from rag.rendering.shapes import to_json
from rag.web import Web
from tests.fakes import browser_world
from tests.fakes.answer_world import blank_frames
from tests.fakes.browser_world import ASKED, RecallingReasoner, frame_source, make_web
from tests.fakes.detective_world import RuleReasoner, open_world, question
from tests.fakes.shotfinder_world import ShotReasoner

ODD = "a <kettle> boils"
POLICY = OverwritePolicy()
Watch = Callable[[Step], None]


def web_of(folder: Path) -> Web:
    return make_web(folder / "web", video01="dead", video03="dead", video06="dead")


def browse(folder: Path, watch: Watch) -> Any:
    asked = Question("q", f"{ASKED.text} {ODD}")
    return run_video_browser(
        asked, web_of(folder), browser_world.RuleReasoner(), frame_source(), MAIN, watch=watch
    )


def recall(folder: Path, watch: Watch) -> Any:
    memory, reasoner = Memory(ODD, "a hand lifts the lid"), RecallingReasoner()
    return run_raclo(memory, web_of(folder), reasoner, frame_source(), PAPER, watch=watch)


def shots(folder: Path, watch: Watch) -> Any:
    asked = ShotRequest(ODD, Constraints(color="warm", resolution=1080))
    return find_shot(asked, web_of(folder), ShotReasoner(), frame_source(), watch=watch)


def investigate(folder: Path, watch: Watch) -> Any:
    reasoner = RuleReasoner(fails=["observe"])
    with open_world(folder) as library:
        asked = question(f"Which thing is of part 9, {ODD}?")
        return VideoDetective(library, reasoner=reasoner).investigate("workshop", asked, watch)


AGENTS: dict[str, tuple[Callable[[Path, Watch], Any], Any]] = {
    "video-browser": (browse, browser_agent),
    "raclo": (recall, raclo_agent),
    "shotfinder": (shots, shotfinder_agent),
    "video-detective": (investigate, detective_agent),
}


@pytest.mark.parametrize("name", AGENTS)
def test_a_run_is_shown_as_lines_and_json(name: str, tmp_path) -> None:
    run, view = AGENTS[name]
    steps: list[Step] = []
    found = run(tmp_path, steps.append)
    lines = [line for step in steps for line in step_lines(step, 60)]
    problems = [line for line in lines if line.lstrip().startswith("problem:")]
    assert problems
    assert not any(line.endswith("…") for line in problems), "what to do next is at the end"
    assert max(len(line) for line in lines if line not in problems) <= 60
    shape = view.result_json(found)
    assert shape["schema"] == f"rag.agent.{name}/1"
    json.loads(to_json(shape))
    last = result_step(steps, shape)
    assert (last.number, last.kind, "timings" in last.data) == (len(steps) + 1, "result", False)


def test_a_step_is_cut_but_for_advice_and_one_of_the_trace_alone_is_not_shown() -> None:
    long = "word " * 30
    step = Step(1, "look", "near", details=[f"seen: {long}", f"problem: no\n{long}"])
    first, seen, problem = step_lines(step, 40)
    assert (first, len(seen), seen[-1]) == ("look: near", 40, "…")
    assert problem.startswith("  problem: no\\nword")
    assert problem.endswith("word ")
    assert not [*step_lines(Step(2, "web", "search: ok", details=None), 40)]


@pytest.fixture
def rules(tmp_path, monkeypatch) -> RuleReasoner:
    """The command's library is the made-up one, and its reasoner the rules."""
    reasoner = RuleReasoner()

    def opened(*_: Any, **__: Any) -> Library:
        library = open_world(tmp_path)
        library.engine.__dict__["reasoner"] = reasoner
        return library

    monkeypatch.setattr(Library, "open", opened)
    monkeypatch.setattr(Engine, "read_frames", lambda _, path, times: blank_frames(path, times))
    monkeypatch.chdir(tmp_path)
    return reasoner


OPTIONS = [word for option in question().options for word in ("--option", option)]


def test_the_command_prints_steps_and_writes_a_trace(rules: RuleReasoner, capsys) -> None:
    words = ["agent", "video-detective", "workshop", question().text, *OPTIONS]
    assert main([*words, "--trace", "t.jsonl", "--json"]) == 0
    out, err = capsys.readouterr()
    reported = json.loads(out)
    assert reported["answer"]["choice"] == "D"
    lines = [json.loads(line) for line in Path("t.jsonl").read_text(encoding="utf-8").splitlines()]
    looked = ["look"] * len(reported["looks"])
    assert [line["kind"] for line in lines] == ["plan", *looked, "show", "answer", "result"]
    assert [line["data"] for line in lines[1:-3]] == reported["looks"]
    assert reported["settings"]["base_steps"] == 10
    assert err.startswith("plan: 5 facets")
    assert "look: 1/10" in err
    first = Path("t.jsonl").read_bytes()
    again = ["--trace", "t.jsonl", "--force", "--text", "--looks", "3", "--frames", "8"]
    assert main([*words, *again]) == 0
    out, err = capsys.readouterr()
    assert "the hammer of part 9" in out
    assert "look: 4/" not in err
    assert Path("t.jsonl").read_bytes() != first
    assert "observe" in rules.asked


def test_a_trace_that_is_never_written_leaves_an_old_one(tmp_path) -> None:
    old = tmp_path / "old.jsonl"
    TraceFile(old, POLICY).write(Step(1, "plan", "one query").line())
    held = old.read_bytes()
    with pytest.raises(UsageError, match="exists"):
        TraceFile(old, POLICY)
    TraceFile(old, OverwritePolicy(force=True))
    assert old.read_bytes() == held
    TraceFile(tmp_path / "new.jsonl", POLICY)
    assert not (tmp_path / "new.jsonl").exists()


def test_a_full_disk_is_one_line() -> None:
    with pytest.raises(RagError, match="/dev/full: cannot be written: no space"):
        TraceFile(Path("/dev/full"), POLICY).write({"kind": "plan"})
