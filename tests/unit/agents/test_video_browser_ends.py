"""How a browsing run ends: an answer with what is left of a budget, nothing said where nothing is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.agents.runtime.frame_source import FrameSource, RetryPolicy, fetch_video
from rag.agents.video_browser.agent import run_video_browser
from rag.agents.video_browser.records import EFFICIENCY
from rag.errors import BudgetSpent, ReasonerUnreachable, ReplyInvalid, UnsupportedFile
from rag.reasoners.roles.observe import Observation
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web


@pytest.mark.parametrize("error", [BudgetSpent, ReplyInvalid])
@pytest.mark.parametrize("fails", [("rewrite_question",), ("anchor_event",)])
def test_the_answer_needs_no_rewording(tmp_path: Path, fails: tuple[str], error: type) -> None:
    reasoner = RuleReasoner(fails=fails, error=error)
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), EFFICIENCY)
    assert (run.answer.text, run.failure) == ("PLUM", "")
    assert run.failures == (error.__name__,)
    assert reasoner.readings[-1].anchor.description == ASKED.text


def test_who_is_gone_is_not_asked_three_times(tmp_path: Path) -> None:
    reasoner = RuleReasoner(fails=("plan", "rewrite_question", "answer_open"), error=ReasonerUnreachable)
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), EFFICIENCY)
    assert run.failure == "ReasonerUnreachable"
    assert reasoner.asked == ["plan", "rewrite_question"]


class Speechless(RuleReasoner):
    """Watches and has nothing to say."""

    def observe(self, request):
        super().observe(request)
        return Observation(caption=" ", needs_more_info=False)


def test_a_summary_of_nothing_is_none(tmp_path: Path) -> None:
    reasoner = Speechless()
    run = run_video_browser(
        ASKED, make_web(tmp_path), reasoner, frame_source(), replace(EFFICIENCY, paradigm="summarization")
    )
    assert "observe" in reasoner.asked
    assert reasoner.readings[-1].passages == ()
    assert not run.answer.matched


def deaf_and_blind(_path: str, _times: np.ndarray) -> None:
    raise UnsupportedFile("sound.mp4: no frames in it")


def test_a_video_without_frames_is_read_by_its_transcript(tmp_path: Path) -> None:
    run = run_video_browser(
        ASKED, make_web(tmp_path), RuleReasoner(), FrameSource(None, deaf_and_blind), EFFICIENCY
    )
    assert (run.answer.text, run.failures) == ("PLUM", ())


def test_a_short_video_is_as_long_as_it_is(tmp_path: Path) -> None:
    web = make_web(tmp_path)
    result = replace(web.search_videos("kettle").results[0], duration=0.1)
    assert fetch_video(web, result, frame_source(), RetryPolicy(1, None), transcript=False).duration == 0.1
