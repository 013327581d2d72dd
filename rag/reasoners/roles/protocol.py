"""The protocol that every family of reasoners implements, and who plays which part."""

from __future__ import annotations

from typing import Literal, Protocol

from rag.reasoners.roles.judging import JudgeRequest, Verdict
from rag.reasoners.roles.road import AnchorEvent, ChosenOption, OpenAnswer, Reading, RewrittenQuestion
from rag.reasoners.roles.searching import (
    Facets,
    ImaginedQueries,
    ImagineRequest,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
)
from rag.reasoners.roles.watching import (
    FrameMatch,
    Located,
    LocateRequest,
    MatchRequest,
    Observation,
    ObserveRequest,
    Timeline,
    TimelineRequest,
    VerifyRequest,
    VideoVerdict,
)
from rag.records import Question, Usage

Part = Literal["planner", "watcher", "analyst", "judge"]

PARTS: dict[str, Part] = {
    "rewrite_question": "planner",
    "anchor_event": "planner",
    "decompose_facets": "planner",
    "imagine_queries": "planner",
    "plan": "planner",
    "select_candidates": "planner",
    "locate": "watcher",
    "observe": "watcher",
    "timeline": "watcher",
    "verify_video": "watcher",
    "match_frame": "watcher",
    "answer_choice": "analyst",
    "answer_open": "analyst",
    "judge": "judge",
}
"""Which model plays a role, where the settings name several; the analyst is that of `[reasoner]` itself."""
ROLES = tuple(PARTS)


class Reasoner(Protocol):
    """Every role may raise `ReasonerError` (or one of its kinds); the embedded reasoner never does."""

    name: str

    @property
    def fingerprint(self) -> str:
        """All that decides its replies, for the record of a run: model, settings, prompts, encoders."""
        ...

    @property
    def reads_pixels(self) -> bool:
        """True: give it decoded frames; False: stored vectors are enough."""
        ...

    def rewrite_question(self, question: Question) -> RewrittenQuestion: ...

    def anchor_event(self, question: Question) -> AnchorEvent: ...

    def decompose_facets(self, question: Question) -> Facets: ...

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries: ...

    def plan(self, request: PlanRequest) -> Plan: ...

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates: ...

    def locate(self, request: LocateRequest) -> Located: ...

    def observe(self, request: ObserveRequest) -> Observation: ...

    def timeline(self, request: TimelineRequest) -> Timeline: ...

    def verify_video(self, request: VerifyRequest) -> VideoVerdict: ...

    def match_frame(self, request: MatchRequest) -> FrameMatch: ...

    def answer_choice(self, reading: Reading) -> ChosenOption: ...

    def answer_open(self, reading: Reading) -> OpenAnswer: ...

    def judge(self, request: JudgeRequest) -> Verdict: ...

    def usage(self) -> Usage:
        """What the calls since the last `usage` cost; resets the count, and the budget with it."""
        ...
