"""Settings of an investigation with their presets, and its records: plan, looks, beliefs, frames shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from pydantic.dataclasses import dataclass as validated

from corpora.records import EvidenceKind
from localization.lexical import Source
from rag.reasoners.roles.questions import Facet
from rag.reasoners.roles.watching import TimelineEvent
from rag.records import Answer, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 1.0
"""Frames a second that are segmented (table 8)."""
WINDOW_FRAMES = 9
"""Frames of a look (table 6)."""
BASE_OPTIONS = 4
Share = Annotated[float, Field(ge=0, le=1)]


@validated(frozen=True, slots=True)
class DetectiveSettings:
    """What differs between presets and ablations, or is asked for; the other numbers of tables 5 to 8 are
    constants, of `localization` and here. Defaults are the preset `tuned`; `PRESETS` has the paper's too.

    Values out of range are refused.
    """

    # Table 5: graph and propagation
    likeness: Literal["centred", "plain"] = "centred"
    """`plain`: equation 1 on the segments' own vectors, which share what the whole video looks like.
    `centred`: on what is left of them without their mean."""
    carried: Literal["surprise", "all"] = "surprise"
    """What spreads over the graph. `all`: equation 13 to the letter, where the prior of every segment
    that was not looked at is spread as well. `surprise`: what the looks found beyond the prior."""

    # Table 6: observation
    prior: Literal["frames", "literal"] = "frames"
    """`literal`: equation 5 by plain cosines, keywords against the segment's mean alone. The cosines of
    some segments are higher than those of others whatever the words are, and an event of a second
    is lost in the mean of twenty. `frames`: standard scores over a fixed background
    (`ImageScoreCalibrator`), a tenth of them, so that what is surely seen counts about 1; and events are held
    against the segment's frames too, the better of frames and timeline counting."""
    evidence: Literal["level", "literal"] = "level"
    """`literal`: equation 9, whose cosine is well above 0 for any two sentences, so that every look
    raises a belief. `level`: how far it is above the mean of the video's own words."""
    semantic: Literal["sentences", "images"] = "sentences"
    """psi of equations 5 and 9. `sentences`: the library's text encoder. `images`: the text tower of its
    image encoder, as in table 8 (SigLIP's takes 64 tokens)."""
    idf: Literal["video", "library"] = "video"
    """`video`: ln((N + 1) / (n + 1)) over the N lines of the video. `library`: 1 more, over the lines of
    all videos of the library, in place of the "large corpus" that the paper does not name."""
    items: Literal["lines", "sources"] = "lines"
    """What is scored by itself: each line of speech and screen text, or all of a segment's speech as one
    text and all its screen text as another (section 3.3.2)."""
    base_steps: PositiveInt = 10
    """Looks at a question of four options; one more for each further option."""
    window: Literal["best", "middle"] = "best"
    """Which frames a look takes. `best`: neighbouring stored frames around the moment of the segment that
    fits the facet best. `middle`: those of `rate` around the middle of the segment, 9 s at one a second."""
    look: Literal["frames and texts", "frames"] = "frames and texts"
    """What the watcher is shown of a segment. `frames`: its frames alone, as in the paper's prompt (D.2);
    what is said and read there is scored all the same."""
    fallback_max_relevance: Share = 0.4
    fallback_mean_relevance: Share = 0.2
    flat_gap: Share = 0.15
    fallback: Literal["low best", "any"] = "low best"
    """When evidence is weak, so that the frames are spread evenly over the video. `any`: the best observed
    score is below `fallback_max_relevance`, or the mean below `fallback_mean_relevance`, or best minus
    mean below `flat_gap`. `low best`: the first and one of the others."""

    # Table 7: selection
    frames: PositiveInt = 32
    frames_per_node: PositiveInt = 4
    least_uniform: NonNegativeInt = 4
    """Frames spread over the whole video."""
    uniform: Literal["free", "reserved"] = "free"
    """Whether these get the places that the segments leave free, or their places before them."""

    # Table 3: what can be taken away
    propagation: bool = True
    facets: bool = True
    """False: the question with its options is one facet."""
    refinement: bool = True
    """False: one look a facet, at its anchor."""
    texts: bool = True
    """False: no words reach the answer, and only captions count as evidence."""
    sampling: Literal["belief", "uniform"] = "belief"
    """`uniform`: frames and words from evenly spread places, in the same packs."""

    def steps(self, options: int) -> int:
        """B: looks at one question of so many options."""
        return self.base_steps + max(0, options - BASE_OPTIONS)


TUNED = DetectiveSettings()
PAPER = DetectiveSettings(
    likeness="plain",
    carried="all",
    prior="literal",
    evidence="literal",
    semantic="images",
    idf="library",
    items="sources",
    window="middle",
    look="frames",
    fallback="any",
    uniform="reserved",
)
PRESETS: Mapping[str, DetectiveSettings] = {"tuned": TUNED, "paper": PAPER}
"""`paper`: equations 1 to 13 as printed. `tuned`: what was found better on the Workbench."""


def with_frames(settings: DetectiveSettings, count: int) -> DetectiveSettings:
    """The settings for a model that takes `count` frames (figure 2; E.5.1: timeline and answer have as many).

    What a segment gives and what is kept for even frames change in the same proportion.
    """
    share = count / settings.frames
    return replace(
        settings,
        frames=count,
        frames_per_node=max(1, round(settings.frames_per_node * share)),
        least_uniform=round(settings.least_uniform * share),
    )


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
    """The kind that is stored."""
    score: float
    facet: str
    """The facet that it speaks to most."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan that is made before the first look."""

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
    """Times of the frames that were looked at."""
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
    """Packs in order of time."""
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
