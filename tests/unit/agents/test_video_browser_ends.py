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
from rag.reasoners.roles.answer_open import OpenAnswer
from rag.reasoners.roles.summarize import VideoSummary
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web


@pytest.mark.parametrize("error", [BudgetSpent, ReplyInvalid])
@pytest.mark.parametrize("fails", [("rewrite_question",), ("anchor_event",)])
def test_the_answer_needs_no_rewording(tmp_path: Path, fails: tuple[str], error: type) -> None:
    reasoner = RuleReasoner(fails=fails, error=error)
    reasoner.name = "embedded"
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), EFFICIENCY)
    assert (run.answer.text, run.failure) == ("PLUM", "")
    assert run.failures == (error.__name__,)
    assert reasoner.readings[-1].anchor.description == ASKED.text


def test_who_is_gone_is_not_asked_three_times(tmp_path: Path) -> None:
    reasoner = RuleReasoner(fails=("plan", "rewrite_question", "answer_open"), error=ReasonerUnreachable)
    reasoner.name = "embedded"
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), EFFICIENCY)
    assert run.failure == "ReasonerUnreachable"
    assert reasoner.asked == ["plan", "rewrite_question"]


class Speechless(RuleReasoner):
    """Watches and has nothing to say."""

    def summarize(self, request):
        super().summarize(request)
        return VideoSummary(relevant=False, summary=" ")


def test_a_summary_of_nothing_is_none(tmp_path: Path) -> None:
    reasoner = Speechless()
    run = run_video_browser(
        ASKED, make_web(tmp_path), reasoner, frame_source(), replace(EFFICIENCY, paradigm="summarization")
    )
    assert "summarize" in reasoner.asked
    assert reasoner.readings[-1].passages == ()
    assert not run.answer.matched


def test_a_language_model_is_not_asked_what_it_never_reads(tmp_path: Path) -> None:
    reasoner = RuleReasoner()
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), EFFICIENCY)
    assert run.answer.text == "PLUM"
    assert not {"rewrite_question", "anchor_event"} & {*reasoner.asked}
    assert reasoner.readings[-1].anchor.description == ASKED.text


@pytest.mark.parametrize("paradigm", ["tool-free", "text-search"])
def test_without_a_video_the_model_may_use_what_it_knows(tmp_path: Path, paradigm) -> None:
    reasoner = Knowing()
    settings = replace(EFFICIENCY, paradigm=paradigm)
    run = run_video_browser(ASKED, make_web(tmp_path), reasoner, frame_source(), settings)
    assert (run.answer.text, run.answer.matched) == ("DAMSON", True)
    assert "answer_open" not in reasoner.asked


class Knowing(RuleReasoner):
    def answer_unaided(self, reading):
        assert not reading.windows
        return OpenAnswer(text="DAMSON", confidence=0.4, explanation="I know.")


class Sure(RuleReasoner):
    """Finds nothing, and is sure of that."""

    def answer_open(self, reading):
        return OpenAnswer(text="", confidence=0.9, explanation=f"none of {len(reading.windows)} shows it")


def test_not_found_keeps_the_confidence_of_the_model(tmp_path: Path) -> None:
    run = run_video_browser(ASKED, make_web(tmp_path), Sure(), frame_source(), EFFICIENCY)
    assert (run.answer.matched, run.answer.confidence, run.failure) == (False, 0.9, "")


def test_the_windows_of_stage_three_are_decoded_larger(tmp_path: Path) -> None:
    reasoner = RuleReasoner()
    run_video_browser(ASKED, make_web(tmp_path / "a"), reasoner, frame_source(), EFFICIENCY)
    (window,) = reasoner.readings[-1].windows
    assert (window.zoomed, window.frames.images.shape[1]) == (True, 8)
    unzoomed = replace(EFFICIENCY, zoom=False)
    run_video_browser(ASKED, make_web(tmp_path / "b"), reasoner, frame_source(), unzoomed)
    (window,) = reasoner.readings[-1].windows
    assert (window.zoomed, window.frames.images.shape[1]) == (False, 4)


def deaf_and_blind(_path: str, _times: np.ndarray, *, zoomed: bool = False) -> None:
    raise UnsupportedFile(f"sound.mp4: no frames in it, {zoomed=}")


def test_a_video_without_frames_is_read_by_its_transcript(tmp_path: Path) -> None:
    run = run_video_browser(
        ASKED, make_web(tmp_path), RuleReasoner(), FrameSource(None, deaf_and_blind), EFFICIENCY
    )
    assert (run.answer.text, run.failures) == ("PLUM", ())


def test_a_short_video_is_as_long_as_it_is(tmp_path: Path) -> None:
    web = make_web(tmp_path)
    result = replace(web.search_videos("kettle").results[0], duration=0.1)
    assert fetch_video(web, result, frame_source(), RetryPolicy(1, None), transcript=False).duration == 0.1
