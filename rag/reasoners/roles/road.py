"""The roles on the road of a question: rewriting, the anchor event, and the two ways of answering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from corpora.records import (
    Clip,
    Evidence,
    Frames,
    Passage,
)
from localization.records import Window
from rag.reasoners.roles.replies import Reply
from rag.records import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Position = Literal["before", "after", "within"]


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """What was read of one localized window."""

    path: str
    title: str
    clip: Clip
    window: Window
    retrieval_score: float
    texts: tuple[Evidence, ...]
    """The words in and just around the window, and those of the clip that retrieval found."""
    frame_times: NDArray[np.float64] | None = None
    frame_vectors: NDArray[np.float32] | None = None
    """(m, d) stored unit vectors of the frames inside the window, at most the frame budget."""
    frames: Frames | None = None
    """Decoded pixels, only for a reasoner that says `reads_pixels`."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    passage: Passage
    path: str
    score: float
    option: int | None
    """Index of the option this passage was retrieved for; None for the open question."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything the answer may rest on."""

    question: Question
    rewritten: RewrittenQuestion
    anchor: AnchorEvent
    windows: tuple[ReadWindow, ...]
    passages: tuple[ReadPassage, ...]
    must_choose: bool = False
    """True: of the options one is taken even where the evidence supports none, as an examination asks."""
    sought_by_option: bool = False
    """Whether the windows were looked for by what each option asks for: then every option finds evidence
    that fits it, and how well it does tells less of which is right."""


class RewrittenQuestion(Reply):
    """EgoFact, D.2.3: one visual sentence, and one passage query per option."""

    visual_query: str = Field(min_length=1)
    passage_queries: tuple[str, ...] = ()
    """One per option, in order; one for an open question."""


class AnchorEvent(Reply):
    """EgoFact, D.2.4: the event to look for, and where the watched part lies from it."""

    description: str = Field(min_length=1)
    position: Position = "within"
    target: str = ""
    """The event asked for, where it is not the anchor itself; empty where the question does not say."""


class ChosenOption(Reply):
    choice: str | None
    """A label of the question's options; None where the evidence supports none."""
    scores: tuple[float, ...] = ()
    """Probability per option, summing to 1; empty where the reasoner gives none."""
    confidence: float = Field(ge=0, le=1)
    explanation: str
    windows: tuple[int, ...] = ()
    """Indices into `Reading.windows` that the answer rests on."""
    passages: tuple[int, ...] = ()
    """Indices into `Reading.passages` that the answer rests on."""


class OpenAnswer(Reply):
    text: str
    """Empty where the evidence holds no answer."""
    confidence: float = Field(ge=0, le=1)
    explanation: str
    windows: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()
