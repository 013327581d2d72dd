"""A reasoner that fails once in ten, on a web whose videos are mostly gone: every run of the agent ends."""

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import pytest

from rag import errors
from rag.agents.video_browser.agent import NO_ANSWER, run_video_browser
from rag.agents.video_browser.records import MAIN, BrowserSettings, BrowseRun
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable, ReplyInvalid, WebError
from rag.web import Web
from tests.fakes.browser_world import ASKED, RuleReasoner, frame_source, make_web

LONGEST = 5 * (3 + 3 * 30 * 2)
"""Calls that five loops can make at most: three queries and thirty results."""
LIMIT = 60.0
"""Seconds of one test; each takes a few. What does not end by itself ends here, as a failure."""


FATES = ("ok", "dead", "private", "region-blocked", "age-gated")


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


def kinds(base: type[Exception]) -> set[str]:
    return {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, base)}


def recorded(web: Web) -> list[str]:
    """What comes of each call that an agent makes of a web: the name of its error, else nothing."""
    outcomes: list[str] = []

    def record(call: Callable[..., Any], *given: Any, **how: Any) -> Any:
        outcomes.append("")
        try:
            return call(*given, **how)
        except WebError as error:
            outcomes[-1] = type(error).__name__
            raise

    for name in ("search_videos", "search", "download", "transcript"):
        setattr(web, name, partial(record, getattr(web, name)))
    return outcomes


def check(run: BrowseRun, outcomes: list[str], settings: BrowserSettings) -> None:
    """It ended in bounds, with an answer or a typed failure, and kept nothing that went wrong to itself."""
    assert len(outcomes) <= LONGEST
    assert run.loops <= settings.max_steps
    of_web = Counter(name for name in run.failures if name in kinds(WebError))
    assert of_web == Counter(filter(None, outcomes))
    assert [step.data["error"] for step in run.steps if step.kind == "failure"] == list(run.failures)
    if run.failure:
        assert run.failure in kinds(ReasonerError)
        assert run.failures[-1] == run.failure
        assert (run.answer.matched, run.answer.text) == (False, NO_ANSWER)
    else:
        assert run.steps[-1].kind == "answer"
    watched = {step.data["url"] for step in run.steps if step.kind in ("watch", "reject") and step.data}
    assert {citation.path for citation in run.answer.citations} <= watched | {"https://pages.example/kettles"}


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


def test_failing_reasoner_on_a_failing_web(tmp_path) -> None:
    """Both ends come about: answers, and runs whose failure has the name of what the reasoner raised."""
    ends = set()
    for seed in range(12):
        reasoner, chance = Flaky(seed), random.Random(seed)
        gone = {f"video{number:02d}": chance.choice(FATES) for number in range(30)}
        web = make_web(tmp_path / str(seed), 30, **gone)
        outcomes = recorded(web)
        run = run_video_browser(ASKED, web, reasoner, frame_source(), MAIN)
        check(run, outcomes, MAIN)
        after = reasoner.asked[reasoner.asked.index("rewrite_question") :]
        assert set(after) <= {"rewrite_question", "anchor_event", "answer_open"}
        ends.add(run.failure or run.answer.text)
    assert "PLUM" in ends
    assert ends & {"ReplyInvalid", "ReasonerUnreachable", "BudgetSpent"}
