"""How runs are shown, of each agent alike: lines of every step, and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

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
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.material import Memory
from rag.records import Question
from rag.rendering.shapes import to_json
from rag.web import Web
from tests.fakes import detective_world
from tests.fakes.browser_world import ASKED, RecallingReasoner, RuleReasoner, frame_source, make_web
from tests.fakes.shotfinder_world import ShotReasoner

ODD = "a <kettle> boils"
Watch = Callable[[Step], None]


def web_of(folder: Path) -> Web:
    return make_web(folder / "web", video01="dead", video03="dead", video06="dead")


def browse(folder: Path, watch: Watch) -> Any:
    asked = Question("q", f"{ASKED.text} {ODD}")
    return run_video_browser(asked, web_of(folder), RuleReasoner(), frame_source(), MAIN, watch=watch)


def recall(folder: Path, watch: Watch) -> Any:
    memory, reasoner = Memory(ODD, "a hand lifts the lid"), RecallingReasoner()
    return run_raclo(memory, web_of(folder), reasoner, frame_source(), PAPER, watch=watch)  # type: ignore[arg-type]  # three roles


def shots(folder: Path, watch: Watch) -> Any:
    asked = ShotRequest(ODD, Constraints(color="warm", resolution=1080))
    return find_shot(asked, web_of(folder), ShotReasoner(), frame_source(), watch=watch)


def investigate(folder: Path, watch: Watch) -> Any:
    reasoner = cast("Reasoner", detective_world.RuleReasoner(fails=["observe"]))
    with detective_world.open_world(folder) as library:
        asked = detective_world.question(f"Which thing is of part 9, {ODD}?")
        return VideoDetective(library, reasoner=reasoner).investigate("workshop", asked, watch)


AGENTS: dict[str, tuple[Callable[[Path, Watch], Any], Any]] = {
    "video-browser": (browse, browser_agent),
    "raclo": (recall, raclo_agent),
    "shotfinder": (shots, shotfinder_agent),
    "video-detective": (investigate, detective_agent),
}


@pytest.mark.parametrize("name", AGENTS)
def test_a_run_is_shown_as_lines_and_json(name: str, tmp_path: Path) -> None:
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
