"""A system on a benchmark of browsing: one agent run a question, judged, and told as a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipScore, Query, Sample
from eval.tasks.browsecomp.records import BrowseQuestion, Source
from rag.agents.runtime.frame_source import FrameSource
from rag.agents.video_browser.agent import run_video_browser
from rag.errors import ReasonerError, ReasonerUnreachable
from rag.reasoners.roles import JUDGE, JudgeRequest, Reasoner, Verdict
from rag.reasoners.token_counting import with_token_counts
from rag.records import Question
from rag.web.catalogue import address

if TYPE_CHECKING:
    from rag.agents.video_browser.records import BrowseRun
    from rag.agents.video_browser.settings import BrowserSettings
    from rag.web import MockWeb


def query_of(question: BrowseQuestion) -> Query:
    """As the evaluation asks it: open, so without letters; the gold video is the last of the chain."""
    last = question.evidence[-1] if question.evidence else Source(())
    gold = last.video_id or (last.urls[0] if last.urls else "")
    window = (last.start or 0.0, last.end or 0.0)
    return Query(
        query_id=question.question_id,
        text=question.text,
        options=(),
        answer=question.answers[0],
        family=question.level,
        video=gold,
        cluster=gold or question.question_id,
        window=window,
        order=(),
    )


@dataclass
class VideoBrowserSolver:
    """A `System`. Every question meets the web as its first visitor.

    `answer` raises `ReasonerUnreachable` where the reasoner, or its judge, is gone: an outage is no wrong
    answer, and a run of the evaluation goes on where it stopped.
    """

    name: str
    chosen: BrowserSettings
    questions: Mapping[str, BrowseQuestion]
    web: MockWeb
    reasoner: Reasoner
    frame_source: FrameSource

    def __post_init__(self) -> None:
        self._mind, self._counted_as = with_token_counts(self.reasoner)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            **asdict(self.chosen),
            "web": self.web.fingerprint,
            "faults": str(self.web.faults),
            "fault_seed": self.web.faults.seed,
            "reasoner": self.reasoner.fingerprint,
            "tokens": self._counted_as,
        }

    def answer(self, query: Query) -> Sample:
        question = self.questions[query.query_id]
        asked = Question(question.question_id, question.text, question.options)
        run = run_video_browser(asked, self.web.session(), self._mind, self.frame_source, self.chosen)
        if run.failure == ReasonerUnreachable.__name__:
            raise ReasonerUnreachable(
                f"{query.query_id}: the reasoner went silent, so this question is not answered wrongly but "
                "not at all; the same command goes on here"
            )
        verdict = self._judged(question, run)
        chain = evidence_recall(question, _watched(run))
        videos = list(dict.fromkeys(window.window.video_id for window in run.evidence))
        return Sample(
            query_id=query.query_id,
            family=query.family,
            video=query.video,
            cluster=query.cluster,
            choice=None,
            correct=verdict.is_correct,
            unshuffled_choice=None,
            confidence=run.answer.confidence,
            clips=tuple(ClipScore(video, 1.0 / rank) for rank, video in enumerate(videos, start=1)),
            gold_window_found=_found(query, run),
            evidence={
                "answer": run.answer.text if run.answer.matched else "",
                "explanation": run.answer.explanation,
                "judge": {"rule": verdict.rule, "by_match": verdict.by_match, "reason": verdict.reason},
                "failure": run.failure,
                "failures": list(run.failures),
                "level": question.level,
                "genre": question.genre,
                "kind": question.kind,
                "options": len(question.options),
                "loops": run.loops,
                "searches": run.searches,
                "context": run.context,
                "tokens_by_role": run.answer.usage.spent_by_role,
                "sparse_image_tokens": run.sparse_image_tokens,
                "evidence_recall": None if not chain else sum(chain) / len(chain),
                "watched": [video.url for video in run.watched],
                "queries": [step.data["query"] for step in run.steps if step.kind == "search"],
            },
            tokens={"all": run.tokens},
            parse_failure=run.failure == "ReplyInvalid",
            timings=dict(run.answer.timings),
        )

    def _judged(self, question: BrowseQuestion, run: BrowseRun) -> Verdict:
        """By match, then by the reasoner's judge; of given options only the right one itself is right."""
        prediction = run.answer.text if run.answer.matched else ""
        request = JudgeRequest(question.text, question.answers, prediction)
        if question.options:
            from rag.reasoners.roles.judge import matched_verdict

            verdict = matched_verdict(request)
            return verdict or Verdict(is_correct=False, rule="none", score=0.0, reason="another option")
        try:
            return self.reasoner.run(JUDGE, request)
        except ReasonerUnreachable:
            raise
        except ReasonerError as error:
            return Verdict(is_correct=False, rule="none", score=0.0, reason=f"not judged: {error}")


def evidence_recall(question: BrowseQuestion, watched: Sequence[str]) -> list[bool]:
    """For each video of the evidence chain, whether one of its uploads was among the addresses."""
    seen = {address(url) for url in watched}
    return [any(address(url) in seen for url in source.urls) for source in question.evidence]


def _watched(run: BrowseRun) -> list[str]:
    """Addresses of all videos that were looked at, whatever was made of them."""
    kinds = ("watch", "reject", "summary")
    told = [str(step.data["url"]) for step in run.steps if step.kind in kinds and "url" in step.data]
    return list(dict.fromkeys(told))


def _found(query: Query, run: BrowseRun) -> tuple[float, float] | None:
    """The window that was read of the gold video; of several the surest, of equal ones the first."""
    if query.window[1] <= query.window[0]:
        return None
    inside = [read.window for read in run.evidence if read.window.video_id == query.video]
    best = max(inside, key=lambda window: (window.score, -window.start), default=None)
    return None if best is None else (best.start, best.end)
