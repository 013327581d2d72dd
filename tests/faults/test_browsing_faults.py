"""A web that fails up to three times in ten, in every way it knows: every run of the agent ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag.agents.video_browser import browse
from rag.agents.video_browser_records import BrowseRun
from rag.agents.video_browser_settings import EFFICIENCY, MAIN, BrowserSettings, Paradigm
from rag.web import FAULTS, Faults
from tests.browser_world import ASKED, RuleMind, eyes, make_web

LONGEST = 5 * (3 * 3 + 3 * 30 * 6)
"""Calls that five loops can make at most: three queries and thirty results, each tried three times."""


def browsed(tmp_path: Path, faults: Faults, settings: BrowserSettings = MAIN) -> BrowseRun:
    web = make_web(tmp_path / "web", 30, faults=faults)
    found = browse(ASKED, web, RuleMind(), eyes(), settings)
    assert len(web.trace.events) <= LONGEST
    assert found.answer.matched or found.answer.confidence == 0.0
    return found


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3])
def test_every_fault_at_once_ends_in_an_answer_or_without_one(tmp_path: Path, rate: float) -> None:
    found = [browsed(tmp_path / str(seed), Faults.everywhere(rate, seed)) for seed in range(6)]
    assert all(run.failure == "" for run in found)  # the web alone keeps nobody from saying what was found
    assert any(run.answer.text == "PLUM" for run in found)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_alone_even_where_it_always_strikes(tmp_path: Path, fault: str) -> None:
    found = browsed(tmp_path, Faults(**{fault: 1.0}))
    known = {"PageGone", "WebTimeout", "DownloadTruncated", "RateLimited"}
    assert set(found.failures) <= known


@pytest.mark.parametrize("paradigm", ["direct", "summarization", "text-search", "tool-free"])
def test_the_baselines_end_too(tmp_path: Path, paradigm: Paradigm) -> None:
    browsed(tmp_path, Faults.everywhere(0.3, 1), replace(EFFICIENCY, paradigm=paradigm))


def test_the_same_faults_give_the_same_run(tmp_path: Path) -> None:
    first, second = (browsed(tmp_path / name, Faults.everywhere(0.3, 4)) for name in ("first", "second"))
    assert [step.line() for step in first.steps] == [step.line() for step in second.steps]


def test_waits_are_asked_for_where_time_is_real(tmp_path: Path) -> None:
    waited: list[float] = []
    web = make_web(tmp_path / "web", 30, faults=Faults(rate_limit=0.3, seed=2))
    browse(ASKED, web, RuleMind(), eyes(), MAIN, wait=waited.append)
    assert waited
    assert all(0 < seconds <= 30 for seconds in waited)
