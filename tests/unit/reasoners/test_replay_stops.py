"""A replay that meets an unknown exchange stops the agent, whichever role it was in."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import BrowserSettings
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import TUNED
from rag.errors import ReplayUnknown
from tests.fakes import detective_world
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web


class Forgetful(RuleReasoner):
    """Has every role recorded but one."""

    def __init__(self, role: str) -> None:
        super().__init__()
        setattr(self, role, self._unknown)

    def _unknown(self, _: object) -> None:
        raise ReplayUnknown("run.jsonl: it does not hold what is asked")


@pytest.mark.parametrize("role", ["plan", "select_candidates", "locate", "answer_open"])
def test_video_browser_stops(tmp_path: Path, role: str) -> None:
    with make_web(tmp_path) as web, pytest.raises(ReplayUnknown, match="does not hold"):
        run_video_browser(ASKED, web, Forgetful(role), frame_source(), BrowserSettings(max_steps=1))


@pytest.mark.parametrize("role", ["timeline", "decompose_facets", "observe", "answer_choice"])
def test_video_detective_stops(tmp_path: Path, role: str) -> None:
    reasoner = detective_world.RuleReasoner(fails=(role,), error=ReplayUnknown)
    with detective_world.open_world(tmp_path) as library:
        detective = VideoDetective(library, TUNED, reasoner=reasoner)
        with pytest.raises(ReplayUnknown, match=f"no {role} today"):
            detective.investigate("workshop", detective_world.question())
