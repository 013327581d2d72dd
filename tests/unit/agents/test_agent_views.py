"""How runs over a web are shown, of each agent alike: lines of every step, JSON, and a page of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.agents.raclo import view as raclo_view
from rag.agents.raclo.agent import run_raclo
from rag.agents.raclo.records import PAPER
from rag.agents.runtime.trace import Step
from rag.agents.runtime.view import render_page
from rag.agents.shotfinder import view as shotfinder_view
from rag.agents.shotfinder.agent import find_shot
from rag.agents.shotfinder.constraints import Constraints
from rag.agents.shotfinder.records import ShotRequest
from rag.agents.video_browser import view as browser_view
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import MAIN
from rag.reasoners.roles.material import Memory
from rag.records import Question
from rag.web import Web
from tests.fakes.browser_world import ASKED, RuleReasoner, any_frames, frame_source, make_web
from tests.fakes.raclo_world import RecallingReasoner
from tests.fakes.shotfinder_world import ShotReasoner

ODD = "a <kettle> boils"
Watch = Callable[[Step], None]


def browse(web: Web, watch: Watch) -> Any:
    asked = Question("q", f"{ASKED.text} {ODD}")
    return run_video_browser(asked, web, RuleReasoner(), frame_source(), MAIN, watch=watch)


def recall(web: Web, watch: Watch) -> Any:
    memory, reasoner = Memory(ODD, "a hand lifts the lid"), RecallingReasoner()
    return run_raclo(memory, web, reasoner, frame_source(), PAPER, watch=watch)  # type: ignore[arg-type]  # three roles


def shots(web: Web, watch: Watch) -> Any:
    asked = ShotRequest(ODD, Constraints(color="warm", resolution=1080))
    return find_shot(asked, web, ShotReasoner(), frame_source(), watch=watch)


AGENTS: dict[str, tuple[Callable[[Web, Watch], Any], Any]] = {
    "video-browser": (browse, browser_view),
    "raclo": (recall, raclo_view),
    "shotfinder": (shots, shotfinder_view),
}


@pytest.mark.parametrize("name", AGENTS)
def test_a_run_is_shown_as_lines_json_and_a_page(name: str, tmp_path: Path) -> None:
    run, view = AGENTS[name]
    steps: list[Step] = []
    with make_web(tmp_path / "web", video01="dead", video03="dead", video06="dead") as web:
        found = run(web, steps.append)
    lines = [line for step in steps for line in view.step_lines(step, 60)]
    problems = [line for line in lines if line.startswith("  problem:")]
    assert problems
    assert not any(line.endswith("…") for line in problems), "what to do next is at the end"
    assert max(len(line) for line in lines if line not in problems) <= 80
    shape = view.result_json(found)
    assert shape["schema"] == f"rag.agent.{name}/1"
    json.dumps(shape, allow_nan=False)
    page = render_page(view.result_page(found), any_frames)
    assert "<kettle>" not in page
    assert "data:image/jpeg;base64," in page
    assert "http" not in page.replace("https://videos.example", "")
    assert not re.findall(r"<script|<link", page)
    assert render_page(view.result_page(found), any_frames) == page
