"""A web that fails three times in ten, in every way it knows: every run of the agent ends."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from rag import errors
from rag.agents.runtime.frame_source import FrameSource
from rag.agents.video_browser.agent import NO_ANSWER, run_video_browser
from rag.agents.video_browser.records import MAIN, BrowserSettings, BrowseRun
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable, ReplyInvalid, WebError
from rag.reasoners.protocol import Reasoner
from rag.records import Question
from rag.web import FAULTS, Faults, Web
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web

LONGEST = 5 * (3 * 3 + 3 * 30 * 6)
"""Calls that five loops can make at most: three queries and thirty results, each tried three times."""
LIMIT = 60.0
"""Seconds of one test; each takes a few. What does not end by itself ends here, as a failure."""
PASSING = ("RateLimited", "WebTimeout", "DownloadTruncated")


class Hung(BaseException):
    """Not an `Exception`, so that nothing under test can swallow it."""


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    def ring(_: int, __: FrameType | None) -> None:
        raise Hung(f"still going after {LIMIT:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def given_up(web: Web, attempts: int) -> Counter[str]:
    """Errors of the calls that were not answered in the end, from the web's own trace."""
    found: Counter[str] = Counter()
    before, tries = None, 0
    for event in web.trace.events:
        call = (event.operation, event.asked)
        tries = tries + 1 if call == before else 1
        before = call
        if event.outcome != "ok" and (event.outcome not in PASSING or tries == attempts):
            found[event.outcome] += 1
            before = None
        elif event.outcome == "ok":
            before = None
    return found


def kinds(base: type[Exception]) -> set[str]:
    return {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, base)}


def check(run: BrowseRun, web: Web, settings: BrowserSettings) -> None:
    """It ended in bounds, with an answer or a typed failure, and kept nothing that went wrong to itself."""
    assert len(web.trace.events) <= LONGEST
    assert run.loops <= settings.max_steps
    of_web = Counter(name for name in run.failures if name in kinds(WebError))
    assert of_web == given_up(web, settings.attempts)
    assert [step.data["error"] for step in run.steps if step.kind == "failure"] == list(run.failures)
    if run.failure:
        assert run.failure in kinds(ReasonerError)
        assert run.failures[-1] == run.failure
        assert (run.answer.matched, run.answer.text) == (False, NO_ANSWER)
    else:
        assert run.steps[-1].kind == "answer"
    watched = {step.data["url"] for step in run.steps if step.kind in ("watch", "reject") and step.data}
    assert {citation.path for citation in run.answer.citations} <= watched | {"https://pages.example/kettles"}


def browsed(
    tmp_path: Path,
    faults: Faults,
    settings: BrowserSettings = MAIN,
    *,
    reasoner: Reasoner | None = None,
    asked: Question = ASKED,
    look: FrameSource | None = None,
) -> BrowseRun:
    web = make_web(tmp_path / "web", 30, faults=faults)
    found = run_video_browser(asked, web, reasoner or RuleReasoner(), look or frame_source(), settings)
    check(found, web, settings)
    return found


class Flaky(RuleReasoner):
    """Fails at any role, once in ten, in each way that a reasoner can."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)
        self.name = "embedded"

    def _ask(self, role: str) -> None:
        super()._ask(role)
        if self._chance.random() < 0.1:
            raise self._chance.choice((ReplyInvalid, ReplyInvalid, ReasonerUnreachable, BudgetSpent))(role)


def test_failing_reasoner_on_a_failing_web(tmp_path: Path) -> None:
    """Both ends come about: answers, and runs whose failure has the name of what the reasoner raised."""
    ends = set()
    for seed in range(12):
        reasoner = Flaky(seed)
        run = browsed(tmp_path / str(seed), Faults.parse("0.3", seed), reasoner=reasoner)
        after = reasoner.asked[reasoner.asked.index("rewrite_question") :]
        assert set(after) <= {"rewrite_question", "anchor_event", "answer_open"}
        ends.add(run.failure or run.answer.text)
    assert "PLUM" in ends
    assert ends & {"ReplyInvalid", "ReasonerUnreachable", "BudgetSpent"}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_alone_even_where_it_always_strikes(tmp_path: Path, fault: str) -> None:
    found = browsed(tmp_path, Faults(**{fault: 1.0}))
    known = {"PageGone", "WebTimeout", "DownloadTruncated", "RateLimited"}
    assert set(found.failures) <= known


def test_waits_are_asked_for_where_time_is_real(tmp_path: Path) -> None:
    waited: list[float] = []
    web = make_web(tmp_path / "web", 30, faults=Faults(rate_limit=0.3, seed=2))
    run_video_browser(ASKED, web, RuleReasoner(), frame_source(), MAIN, wait=waited.append)
    assert waited
    assert all(0 < seconds <= 30 for seconds in waited)
