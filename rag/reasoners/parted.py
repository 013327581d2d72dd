"""Several minds behind one face: planning, looking and judging may each have a model of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag.reasoners.llm.ledger import KEYS
from rag.records import Usage

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
    from rag.records import Question

__all__ = ["PartedReasoner"]


class PartedReasoner:
    """Each role is played by the mind of its part (`roles.PARTS`)."""

    def __init__(self, parts: Mapping[Part, Reasoner]) -> None:
        self._parts = dict(parts)
        self.name = "+".join(dict.fromkeys(mind.name for mind in self._parts.values()))

    @property
    def fingerprint(self) -> str:
        return json.dumps({part: mind.fingerprint for part, mind in self._parts.items()}, sort_keys=True)

    @property
    def reads_pixels(self) -> bool:
        """True where the one that looks or the one that answers reads pixels."""
        return self._parts["watcher"].reads_pixels or self._parts["analyst"].reads_pixels

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return self._parts["planner"].rewrite_question(question)

    def anchor_event(self, question: Question) -> AnchorEvent:
        return self._parts["planner"].anchor_event(question)

    def decompose_facets(self, question: Question) -> Facets:
        return self._parts["planner"].decompose_facets(question)

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        return self._parts["planner"].imagine_queries(request)

    def plan(self, request: PlanRequest) -> Plan:
        return self._parts["planner"].plan(request)

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        return self._parts["planner"].select_candidates(request)

    def locate(self, request: LocateRequest) -> Located:
        return self._parts["watcher"].locate(request)

    def observe(self, request: ObserveRequest) -> Observation:
        return self._parts["watcher"].observe(request)

    def timeline(self, request: TimelineRequest) -> Timeline:
        return self._parts["watcher"].timeline(request)

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        return self._parts["watcher"].verify_video(request)

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        return self._parts["watcher"].match_frame(request)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return self._parts["analyst"].answer_choice(reading)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return self._parts["analyst"].answer_open(reading)

    def judge(self, request: JudgeRequest) -> Verdict:
        return self._parts["judge"].judge(request)

    def usage(self) -> Usage:
        """Of all of them together. Minds that share a ledger give it once."""
        given = [mind.usage() for mind in self._parts.values()]
        roles: dict[str, dict[str, float]] = {}
        for usage in given:
            for role, row in usage.by_role.items():
                kept = roles.setdefault(role, dict.fromkeys(KEYS, 0.0))
                for key in KEYS:
                    kept[key] += row[key]
        return Usage(
            calls=sum(usage.calls for usage in given),
            prompt_tokens=sum(usage.prompt_tokens for usage in given),
            completion_tokens=sum(usage.completion_tokens for usage in given),
            image_tokens=sum(usage.image_tokens for usage in given),
            seconds=sum(usage.seconds for usage in given),
            by_role=roles,
        )
