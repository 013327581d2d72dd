"""Several minds behind one face: planning, looking and judging may each have a model of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag.reasoners.llm.usage import usage_together

if TYPE_CHECKING:
    from rag.reasoners.roles import (
        AnchorEvent,
        ChosenOption,
        Facets,
        FrameMatch,
        ImaginedQueries,
        ImagineRequest,
        JudgeRequest,
        Located,
        LocateRequest,
        MatchRequest,
        Observation,
        ObserveRequest,
        OpenAnswer,
        Part,
        Plan,
        PlanRequest,
        Reading,
        Reasoner,
        RewrittenQuestion,
        SelectedCandidates,
        SelectRequest,
        Timeline,
        TimelineRequest,
        Verdict,
        VerifyRequest,
        VideoVerdict,
    )
    from rag.records import Question, Usage


class RoutedReasoner:
    """Each role is played by the mind of its part (`roles.PARTS`)."""

    def __init__(self, parts: Mapping[Part, Reasoner]) -> None:
        self.parts = dict(parts)
        self.name = "+".join(dict.fromkeys(reasoner.name for reasoner in self.parts.values()))

    @property
    def fingerprint(self) -> str:
        return json.dumps(
            {part: reasoner.fingerprint for part, reasoner in self.parts.items()}, sort_keys=True
        )

    @property
    def reads_pixels(self) -> bool:
        """True where the one that looks or the one that answers reads pixels."""
        return self.parts["watcher"].reads_pixels or self.parts["analyst"].reads_pixels

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return self.parts["planner"].rewrite_question(question)

    def anchor_event(self, question: Question) -> AnchorEvent:
        return self.parts["planner"].anchor_event(question)

    def decompose_facets(self, question: Question) -> Facets:
        return self.parts["planner"].decompose_facets(question)

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        return self.parts["planner"].imagine_queries(request)

    def plan(self, request: PlanRequest) -> Plan:
        return self.parts["planner"].plan(request)

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        return self.parts["planner"].select_candidates(request)

    def locate(self, request: LocateRequest) -> Located:
        return self.parts["watcher"].locate(request)

    def observe(self, request: ObserveRequest) -> Observation:
        return self.parts["watcher"].observe(request)

    def timeline(self, request: TimelineRequest) -> Timeline:
        return self.parts["watcher"].timeline(request)

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        return self.parts["watcher"].verify_video(request)

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        return self.parts["watcher"].match_frame(request)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return self.parts["analyst"].answer_choice(reading)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return self.parts["analyst"].answer_open(reading)

    def judge(self, request: JudgeRequest) -> Verdict:
        return self.parts["judge"].judge(request)

    def usage(self) -> Usage:
        """Of all of them together. Minds that share a ledger give it once."""
        return usage_together(reasoner.usage() for reasoner in self.parts.values())
