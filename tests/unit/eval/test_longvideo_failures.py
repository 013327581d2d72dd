"""A reasoner that fails while long videos are asked about: a wrong answer, or a run that goes on later."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval.runs.records import Output, Query, Sample, check_sample, make_sample
from eval.tasks.longvideo.dataset import LongInput
from eval.tasks.longvideo.solvers import Uniform, output_of_reply
from eval.tasks.longvideo.task import LongVideoScorer
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import TUNED
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable, ReplyInvalid
from rag.reasoners.roles.answer_choice import ChosenOption
from rag.records import Question, Usage
from tests.fakes.detective_world import RuleReasoner, open_world, question

QUERY = Query(
    query_id="q1",
    text="What?",
    options=("red", "green"),
    answer="B",
    family="all",
    video="workshop",
    cluster="workshop",
    window=(0.0, 1.0),
    order=(0, 1),
)
ENVIRONMENT: Any = SimpleNamespace(
    counted=SimpleNamespace(
        reasoner=SimpleNamespace(usage=lambda: Usage(calls=3, prompt_tokens=7)), method="counted"
    )
)


class Failing(Uniform):
    """Raises `error`, or chooses the right option."""

    error: ReasonerError | None = None

    def _solve(self, asked: LongInput, question: Question) -> Output:
        del question
        if self.error is not None:
            raise self.error
        return output_of_reply(asked, ChosenOption(choice="B", confidence=1.0, explanation=""), (), Usage())


def answered(error: ReasonerError | None) -> Sample:
    solver = type("Solver", (Failing,), {"error": error})(ENVIRONMENT)
    output = solver.solve(LongInput(QUERY.query_id, QUERY.text, QUERY.options, QUERY.video))
    sample = make_sample(QUERY, output, LongVideoScorer().score(QUERY, output))
    check_sample(QUERY, sample)
    return sample


@pytest.mark.parametrize(("error", "unusable"), [(ReplyInvalid, True), (BudgetSpent, False)])
def test_no_usable_reply_is_a_wrong_answer(error: type[ReasonerError], unusable: bool) -> None:
    sample = answered(error("no"))
    assert (sample.correct, sample.choice, sample.parse_failure) == (False, None, unusable)
    assert (sample.evidence["failure"], sample.tokens["prompt"]) == (error.__name__, 7)
    assert (sample.evidence["gold_shown"], sample.evidence["packs"]) == (False, [])


def test_an_outage_ends_the_run_and_an_answer_is_an_answer() -> None:
    with pytest.raises(ReasonerUnreachable):
        answered(ReasonerUnreachable("gone"))
    assert answered(None).correct


def test_who_is_gone_is_asked_for_the_answer_alone(tmp_path: Path) -> None:
    roles = ("timeline", "decompose_facets", "observe", "answer_choice")
    with open_world(tmp_path) as library:
        reasoner = RuleReasoner(fails=roles, error=ReasonerUnreachable)
        with pytest.raises(ReasonerUnreachable):
            VideoDetective(library, TUNED, reasoner=reasoner).investigate("workshop", question())
        assert reasoner.asked == ["timeline", "answer_choice"]
        late = RuleReasoner(fails=("observe",), error=ReasonerUnreachable)
        found = VideoDetective(library, TUNED, reasoner=late).investigate("workshop", question())
        assert late.asked.count("observe") == 1
        assert found.answer.choice is not None
