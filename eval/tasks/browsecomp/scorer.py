"""Whether an answer is right: by match, then by a judge; and how much of the evidence chain was watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.runs.records import Output, Query, Score
from eval.tasks.browsecomp.dataset import BrowseQuestion
from eval.tasks.web_task import judge_settings
from rag.errors import ReasonerError, ReasonerUnreachable
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.judge import JUDGE, JudgeRequest, Verdict, matched_verdict
from rag.web.catalogue import address


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseScore(Score):
    """Verdict and evidence recall, with fields of the question that the report groups by."""

    judge: Mapping[str, Any]
    """`rule`, `by_match` and `reason` of the verdict."""
    evidence_recall: float | None
    """Share of the evidence chain's videos that were opened, in any upload; None where it is unknown."""
    level: str
    genre: str
    kind: str
    options: int
    gold_window_found: tuple[float, float] | None


@dataclass(frozen=True)
class BrowseScorer:
    """`score` raises `ReasonerUnreachable` where the reasoner is gone."""

    reasoner: Reasoner
    gold: Mapping[str, BrowseQuestion]

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON, for the identity of a run."""
        return judge_settings(self.reasoner)

    def score(self, query: Query, output: Output) -> BrowseScore:
        """Judge one output. Raises `ReasonerUnreachable`."""
        question, evidence = self.gold[query.query_id], output.evidence
        verdict = self._verdict(question, str(evidence["answer"]))
        chain = evidence_recall(question, evidence["opened"])
        return BrowseScore(
            correct=verdict.is_correct,
            judge={"rule": verdict.rule, "by_match": verdict.by_match, "reason": verdict.reason},
            evidence_recall=sum(chain) / len(chain) if chain else None,
            level=question.level,
            genre=question.genre,
            kind=question.kind,
            options=len(question.options),
            gold_window_found=_gold_window(query, evidence["read"]),
        )

    def _verdict(self, question: BrowseQuestion, prediction: str) -> Verdict:
        """The verdict; where options were given, only the right one itself is right."""
        request = JudgeRequest(question.text, question.answers, prediction)
        if question.options:
            wrong = Verdict(is_correct=False, rule="none", score=0.0, reason="another option")
            return matched_verdict(request) or wrong
        try:
            return self.reasoner.run(JUDGE, request)
        except ReasonerUnreachable:
            raise
        except ReasonerError as error:
            return Verdict(is_correct=False, rule="none", score=0.0, reason=f"not judged: {error}")


def evidence_recall(question: BrowseQuestion, opened: Sequence[str]) -> list[bool]:
    """Tell for each video of the evidence chain whether one of its uploads was opened."""
    seen = {address(url) for url in opened}
    return [any(address(url) in seen for url in source.urls) for source in question.evidence]


def _gold_window(query: Query, read: Sequence[tuple[str, float, float, float]]) -> tuple[float, float] | None:
    """The window that was read of the gold video: the one with the best score, then the earliest."""
    inside = [(score, -start, end) for video, start, end, score in read if video == query.video]
    if not query.has_window or not inside:
        return None
    _, start, end = max(inside, key=lambda window: window[:2])
    return -start, end
