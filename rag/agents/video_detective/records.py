"""What an investigation leaves behind: its plan, every look, the belief after it, and what was shown last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from corpora.records import EvidenceKind
from localization.lexical import Source
from rag.reasoners.roles import Facet, TimelineEvent
from rag.records import Answer, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Policy = Literal["anchor", "retry", "neighbour", "gap"]
"""Why a segment was looked at: best prior of a facet (policy I); the next best after a failed look;
equation 6; equation 7."""


@dataclass(frozen=True, slots=True)
class Words:
    """One piece of textual evidence with its relevance (equations 8 to 10)."""

    text: str
    source: Source
    """As the paper weighs it: subtitles are what was said, as speech recognition is."""
    kind: EvidenceKind
    """As it is stored."""
    score: float
    facet: str
    """The facet that it speaks to most."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Planned:
    """Before the first look."""

    facets: tuple[Facet, ...]
    timeline: tuple[TimelineEvent, ...]
    anchors: tuple[int, ...]
    """By facet: the segment of its greatest prior."""
    starts: tuple[float, ...]
    """Of the segments, seconds; segment i ends where i + 1 begins."""
    duration: float
    belief: tuple[float, ...]
    steps: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """One turn of hypothesis, verification and refinement."""

    step: int
    node: int
    start: float
    end: float
    policy: Policy
    facets: tuple[str, ...]
    """Those looked for; empty for gap filling."""
    times: tuple[float, ...]
    """Of the frames that were looked at."""
    caption: str
    missing: tuple[str, ...]
    words: Words | None
    """The best evidence, e_i^best of equation 14."""
    score: float
    """s_i of equation 11."""
    confirmed: tuple[str, ...]
    """Facets that left the unresolved set with this look."""
    belief: tuple[float, ...]
    """F after it, one a segment."""
    problem: str = ""
    """What went wrong, in one line; then the look counts on the stored words alone."""


@dataclass(frozen=True, slots=True)
class Pack:
    """What is shown of one segment (appendix C.2)."""

    node: int
    start: float
    end: float
    times: tuple[float, ...]
    """Of its frames, rising."""
    words: Words | None
    belief: float
    chosen: bool
    """Selected by Graph-NMS; False for frames that fill free places."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The frames that were selected for the answer."""

    packs: tuple[Pack, ...]
    """In time order."""
    fallback: str
    """Why frames were spread evenly after all; empty where they were not."""


@dataclass(frozen=True, slots=True)
class DetectiveResult:
    """One question about one video, from plan to answer."""

    video_id: str
    path: str
    plan: Planned
    looks: tuple[Look, ...]
    selected: Selected
    answer: Answer
    frame_times: NDArray[np.float64] = field(compare=False, repr=False)
    """All frames shown to the answering reasoner, rising."""

    @property
    def found(self) -> bool:
        """Whether the answer has evidence."""
        return self.answer.matched

    @property
    def usage(self) -> Usage:
        """Tokens and calls of the run."""
        return self.answer.usage
