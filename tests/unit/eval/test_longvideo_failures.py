"""A reasoner that fails while long films are asked about: a wrong answer, or a run that goes on later."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval.runs.records import Query, Sample
from eval.runs.samples import check_sample
from eval.tasks.longvideo.systems.corpus import sampled
from eval.tasks.longvideo.systems.surviving import Surviving
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.settings import PAPER
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable, ReplyInvalid
from rag.reasoners.roles import ChosenOption
from rag.records import Usage
from tests.fakes.detective_world import RuleReasoner, open_world, question

QUERY = Query(
    query_id="q1",
    text="What?",
    options=("red", "green"),
    answer="B",
    family="all",
    video="film",
    cluster="film",
    window=(0.0, 1.0),
    order=(0, 1),
)
CORPUS: Any = SimpleNamespace(reasoner=SimpleNamespace(usage=lambda: Usage(calls=3, prompt_tokens=7)))


class Failing:
    name = "failing"

    def __init__(self, error: ReasonerError | None) -> None:
        self.settings = {"a": 1}
        self.error = error

    def answer(self, query: Query) -> Sample:
        if self.error is not None:
            raise self.error
        return sampled(query, ChosenOption(choice="B", confidence=1.0, explanation=""), (), Usage())


@pytest.mark.parametrize(("error", "unusable"), [(ReplyInvalid, True), (BudgetSpent, False)])
def test_no_usable_reply_is_a_wrong_answer(error: type[ReasonerError], unusable: bool) -> None:
    system = Surviving(Failing(error("no")), CORPUS)
    assert (system.name, system.settings) == ("failing", {"a": 1})
    sample = system.answer(QUERY)
    check_sample(QUERY, sample)
    assert (sample.correct, sample.choice, sample.parse_failure) == (False, None, unusable)
    assert (sample.evidence["failure"], sample.tokens["prompt"]) == (error.__name__, 7)


def test_an_outage_ends_the_run_and_an_answer_is_an_answer() -> None:
    with pytest.raises(ReasonerUnreachable):
        Surviving(Failing(ReasonerUnreachable("gone")), CORPUS).answer(QUERY)
    assert Surviving(Failing(None), CORPUS).answer(QUERY).correct


def test_who_is_gone_is_asked_for_the_answer_alone(tmp_path: Path) -> None:
    roles = ("timeline", "decompose_facets", "observe", "answer_choice")
    with open_world(tmp_path) as library:
        reasoner = RuleReasoner(fails=roles, error=ReasonerUnreachable)
        with pytest.raises(ReasonerUnreachable):
            VideoDetective(library, PAPER, reasoner=reasoner).investigate("film", question())
        assert reasoner.asked == ["timeline", "answer_choice"]
        late = RuleReasoner(fails=("observe",), error=ReasonerUnreachable)
        found = VideoDetective(library, PAPER, reasoner=late).investigate("film", question())
        assert late.asked.count("observe") == 1
        assert found.answer.choice is not None
