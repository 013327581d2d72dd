"""The roles a reasoner plays: typed in, typed out.

What a role takes is a frozen dataclass of ours; what it gives is a pydantic
model, because a language model's reply is outside data. Two families implement
all of them: `rag.reasoners.embedded` (deterministic, no language model) and
`rag.reasoners.llm`. One file a family of roles: `road` (a question's own way),
`searching`, `watching`, `judging`; `views` is what is shown, `protocol` the whole.
"""

from __future__ import annotations

from rag.reasoners.roles.judging import JudgeRequest, Verdict
from rag.reasoners.roles.protocol import PARTS, ROLES, Part, Reasoner
from rag.reasoners.roles.replies import Reply
from rag.reasoners.roles.road import (
    AnchorEvent,
    ChosenOption,
    OpenAnswer,
    Position,
    Reading,
    ReadPassage,
    ReadWindow,
    RewrittenQuestion,
)
from rag.reasoners.roles.searching import (
    Candidate,
    ConstraintKind,
    Facet,
    Facets,
    Hypothesis,
    ImaginedQueries,
    ImagineRequest,
    KnownVideo,
    Memory,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
    SubQuestion,
    TriedQuery,
)
from rag.reasoners.roles.views import VideoView
from rag.reasoners.roles.watching import (
    Consensus,
    FrameMatch,
    Located,
    LocatedWindow,
    LocateRequest,
    MatchRequest,
    Observation,
    ObserveRequest,
    Timeline,
    TimelineEvent,
    TimelineRequest,
    VerifyRequest,
    VideoVerdict,
)

__all__ = [
    "PARTS",
    "ROLES",
    "AnchorEvent",
    "Candidate",
    "ChosenOption",
    "Consensus",
    "ConstraintKind",
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
