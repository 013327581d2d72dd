"""The roles of a reasoner, one file each with its prompt beside it; `ROLES` is the registry."""

from __future__ import annotations

from typing import Any

from rag.reasoners.protocol import BadReply, Draft, Part, Reasoner, Reply, Role, RoleCall
from rag.reasoners.roles.anchor_event import ANCHOR_EVENT, AnchorEvent, Position
from rag.reasoners.roles.answer_choice import ANSWER_CHOICE, ChosenOption
from rag.reasoners.roles.answer_open import ANSWER_OPEN, OpenAnswer
from rag.reasoners.roles.decompose_facets import DECOMPOSE_FACETS, Facet, Facets
from rag.reasoners.roles.imagine_queries import IMAGINE_QUERIES, Hypothesis, ImaginedQueries, ImagineRequest
from rag.reasoners.roles.judge import JUDGE, JudgeRequest, Verdict
from rag.reasoners.roles.locate import LOCATE, Located, LocatedWindow, LocateRequest
from rag.reasoners.roles.match_frame import MATCH_FRAME, FrameMatch, MatchRequest
from rag.reasoners.roles.material import ConstraintKind, Memory, VideoView
from rag.reasoners.roles.observe import OBSERVE, Observation, ObserveRequest
from rag.reasoners.roles.plan import PLAN, KnownVideo, Plan, PlanRequest, SubQuestion, TriedQuery
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.reasoners.roles.rewrite_question import REWRITE_QUESTION, RewrittenQuestion
from rag.reasoners.roles.select_candidates import (
    SELECT_CANDIDATES,
    Candidate,
    SelectedCandidates,
    SelectRequest,
)
from rag.reasoners.roles.timeline import TIMELINE, Timeline, TimelineEvent, TimelineRequest
from rag.reasoners.roles.verify_video import VERIFY_VIDEO, Consensus, VerifyRequest, VideoVerdict

__all__ = [
    "ANCHOR_EVENT",
    "ANSWER_CHOICE",
    "ANSWER_OPEN",
    "DECOMPOSE_FACETS",
    "IMAGINE_QUERIES",
    "JUDGE",
    "LOCATE",
    "MATCH_FRAME",
    "OBSERVE",
    "PLAN",
    "REWRITE_QUESTION",
    "ROLES",
    "SELECT_CANDIDATES",
    "TIMELINE",
    "VERIFY_VIDEO",
    "AnchorEvent",
    "BadReply",
    "Candidate",
    "ChosenOption",
    "Consensus",
    "ConstraintKind",
    "Draft",
    "Facet",
    "Facets",
    "FrameMatch",
    "Hypothesis",
    "ImagineRequest",
    "ImaginedQueries",
    "JudgeRequest",
    "KnownVideo",
    "LocateRequest",
    "Located",
    "LocatedWindow",
    "MatchRequest",
    "Memory",
    "Observation",
    "ObserveRequest",
    "OpenAnswer",
    "Part",
    "Plan",
    "PlanRequest",
    "Position",
    "ReadPassage",
    "ReadWindow",
    "Reading",
    "Reasoner",
    "Reply",
    "RewrittenQuestion",
    "Role",
    "RoleCall",
    "SelectRequest",
    "SelectedCandidates",
    "SubQuestion",
    "Timeline",
    "TimelineEvent",
    "TimelineRequest",
    "TriedQuery",
    "Verdict",
    "VerifyRequest",
    "VideoVerdict",
    "VideoView",
]

ROLES: dict[str, Role[Any, Any]] = {
    role.name: role
    for role in (
        REWRITE_QUESTION,
        ANCHOR_EVENT,
        DECOMPOSE_FACETS,
        IMAGINE_QUERIES,
        PLAN,
        SELECT_CANDIDATES,
        LOCATE,
        OBSERVE,
        TIMELINE,
        VERIFY_VIDEO,
        MATCH_FRAME,
        ANSWER_CHOICE,
        ANSWER_OPEN,
        JUDGE,
    )
}
"""By name. A role of another package needs no place here: `run` takes any `Role`."""
