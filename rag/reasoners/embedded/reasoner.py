"""The reasoner without a language model: rules, sentence vectors and stored picture vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rag.reasoners.embedded import (
    facets,
    imagining,
    judging,
    locating,
    observing,
    planning,
    rewriting,
    selecting,
    timelines,
    verifying,
)
from rag.reasoners.embedded.choices import answer_choice
from rag.reasoners.embedded.open_answers import answer_open
from rag.reasoners.embedded.vectors import SentenceVectors
from rag.reasoners.embedded.zero_shot import ZeroShotScorer
from rag.records import Usage
from rag.relevance import ImageScoreCalibrator

if TYPE_CHECKING:
    from indexers.protocol import TextEncoder, TextTower
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
        Plan,
        PlanRequest,
        Reading,
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

RULES = 12
"""Goes up whenever a rule changes what is said."""


class EmbeddedReasoner:
    """Same reading, same answer, to the bit; decodes nothing and costs no tokens.

    `tower`: words into the space of the stored frame vectors; None where the library has no pictures.
    """

    name = "embedded"
    reads_pixels = False

    def __init__(self, text_encoder: TextEncoder, tower: TextTower | None = None) -> None:
        self._vectors = SentenceVectors(text_encoder)
        self._scale = ImageScoreCalibrator(tower) if tower is not None else None
        self._sight = ZeroShotScorer(tower)
        self._text_encoder = text_encoder
        self._tower = tower

    @property
    def fingerprint(self) -> str:
        tower = self._tower.fingerprint if self._tower is not None else None
        made = {"family": "embedded", "rules": RULES, "text": self._text_encoder.fingerprint, "tower": tower}
        return json.dumps(made, sort_keys=True)

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        return rewriting.rewrite_question(question)

    def anchor_event(self, question: Question) -> AnchorEvent:
        return rewriting.anchor_event(question)

    def decompose_facets(self, question: Question) -> Facets:
        return facets.decompose_facets(question)

    def imagine_queries(self, request: ImagineRequest) -> ImaginedQueries:
        return imagining.imagine_queries(request)

    def plan(self, request: PlanRequest) -> Plan:
        return planning.plan(request, self._vectors)

    def select_candidates(self, request: SelectRequest) -> SelectedCandidates:
        return selecting.select_candidates(request, self._vectors)

    def locate(self, request: LocateRequest) -> Located:
        return locating.locate(request, self._sight, self._vectors)

    def observe(self, request: ObserveRequest) -> Observation:
        return observing.observe(request, self._sight, self._vectors)

    def timeline(self, request: TimelineRequest) -> Timeline:
        return timelines.timeline(request, self._sight)

    def verify_video(self, request: VerifyRequest) -> VideoVerdict:
        return verifying.verify_video(request, self._sight, self._vectors)

    def match_frame(self, request: MatchRequest) -> FrameMatch:
        return verifying.match_frame(request, self._sight, self._vectors)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return answer_choice(reading, self._vectors, self._scale)

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return answer_open(reading, self._vectors)

    def judge(self, request: JudgeRequest) -> Verdict:
        """By rules alone; each verdict names the rule that decided."""
        return judging.judge(request, self._vectors)

    def usage(self) -> Usage:
        return Usage()
