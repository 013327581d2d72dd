"""What RACLO depends on (sections 3 and 4.1, figure 4), its candidates, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass as validated

from rag.agents.runtime.frame_source import FrameBudget, fixed_budget
from rag.agents.runtime.trace import WebRun
from rag.errors import UsageError
from rag.reasoners.roles.material import Memory
from rag.reasoners.roles.watching import Consensus

Frames = Literal["sampled", "stored"]
FRAME_BUDGET = FrameBudget(((180.0, 32), (600.0, 64), (1800.0, 128)), 192)


@validated(frozen=True, slots=True)
class RacloSettings:
    """Defaults are the paper's, with text on the screen. Values out of range are refused."""

    queries: PositiveInt = 2
    """Queries generated in one turn."""
    urls: PositiveInt = 2
    """Videos taken of each query: the first, of those that are chosen, that can be had and that no search
    before it gave."""
    results: PositiveInt = 10
    """How far down a search is gone for them."""
    turns: PositiveInt = 3
    """Turns of query generation and search at most; a turn that finds a candidate is the last."""
    abduction: bool = True
    """False: the cues themselves are the queries."""
    react: bool = True
    """The model sees what its searches return, searches again, and chooses what to open (section 3.1.2).
    False, and for a reasoner without a rule for it: all queries at once, and the first videos of each."""

    # Verification, in parallel with localization
    verify: bool = True
    """False: the first candidate is taken for the video."""
    consensus: bool = True
    """False: the first judge alone decides."""
    verify_frames: PositiveInt = 64

    # Localization
    budget: FrameBudget = FRAME_BUDGET
    """Frames by duration; open-source models got 64 of every video."""
    frames: Frames = "sampled"
    """`stored`: the frame vectors of the library replace sampled frames (ours)."""
    context: bool = True
    """False: the key moment alone is localized, without temporal context and audio."""
    sound: bool = True
    """False: no speech or sound is shown to the reasoner."""
    screen: bool = True
    """Whether text on the screen, which the library read, is shown to the reasoner."""


PAPER = RacloSettings(screen=False)

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "search": ("1x1", "1x2", "1x3", "2x1", "2x2", "2x3", "3x1", "3x2", "3x3"),
    "frames": ("16", "32", "64", "128", "192"),
}
"""Figure 4: searches x videos of each; frames of every video, for both checks."""


def sweep(axis: str, value: str) -> RacloSettings:
    """`sweep("search", "2x3")`, `sweep("frames", "128")`. Raises `UsageError`."""
    if axis == "frames" and value.isdecimal() and int(value) > 0:
        return replace(PAPER, budget=fixed_budget(int(value)), verify_frames=int(value))
    counts = [int(part) if part.isdecimal() else 0 for part in value.split("x")]
    if axis == "search" and len(counts) == 2 and min(counts) > 0:
        return replace(PAPER, queries=counts[0], urls=counts[1])
    raise UsageError(f"no sweep {axis}@{value}; there are {', '.join(SWEEPS)}")


CUE_SETS = ("G", "K", "KT", "GK", "KA", "KTA", "GKA", "GKT", "GKTA")
"""Which cues may be given together (RACLO, section 2.1.1): global impression, key moment, temporal
context, auditory memory."""


def cues_of(memory: Memory) -> str:
    """The letters of the cues that are given, in the order G, K, T, A."""
    given = {
        "G": memory.global_impression,
        "K": memory.key_moment,
        "T": memory.before + memory.after,
        "A": memory.auditory_memory,
    }
    return "".join(letter for letter, text in given.items() if text.strip())


def only_cues(memory: Memory, cues: str) -> Memory:
    """The memory without the cues whose letter is not named. Raises `UsageError` for no such set of cues."""
    if cues not in CUE_SETS:
        raise UsageError(f"cues {cues or 'none'}: no such set; there are {', '.join(CUE_SETS)}")
    return Memory(
        global_impression=memory.global_impression if "G" in cues else "",
        key_moment=memory.key_moment if "K" in cues else "",
        before=memory.before if "T" in cues else "",
        after=memory.after if "T" in cues else "",
        auditory_memory=memory.auditory_memory if "A" in cues else "",
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """Where in a video the moment is, in seconds."""

    time: float
    """Of the frame that was named."""
    frame: int
    """Its index among the frames that were looked at."""
    frames: int
    """How many these were."""
    start: float
    """[start, end): the shot that holds the frame, where shots were measured; else what the frame
    represents, halfway to its neighbours."""
    end: float
    confidence: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CandidateVideo:
    """One video that was looked at."""

    url: str
    title: str
    video_id: str
    duration: float
    query: str
    """The search that returned it."""
    rank: int
    """The place in that search, from 1."""
    consensus: Consensus | None = None
    """None: not verified, by the settings or by a failure."""
    moment: Moment | None = None
    """None: no moment is asked for, or it failed."""

    @property
    def accepted(self) -> bool:
        """Both judges say that it is the video; the first alone where no second one is asked."""
        return self.consensus is not None and self.consensus.agreed

    @property
    def doubt(self) -> str:
        """Why it is but a guess; empty where it was accepted."""
        if self.accepted:
            return ""
        unverified = self.consensus is None
        return "it could not be verified" if unverified else "the judges did not take it for the video"

    @property
    def fit(self) -> float:
        """How well it fits as a whole, in [0, 1]: the mean over the judges; 0 without verdicts."""
        if self.consensus is None:
            return 0.0
        verdicts = [one for one in (self.consensus.first, self.consensus.second) if one is not None]
        fits = [one.confidence if one.video_match else 1 - one.confidence for one in verdicts]
        return round(sum(fits) / len(fits), 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class RacloRun(WebRun):
    """The result for one memory."""

    memory: Memory
    cues: str
    candidates: tuple[CandidateVideo, ...]
    """In the order in which they were found."""
    chosen: int | None
    """Index of the candidate that is given as the video; None where there is none at all."""
    matched: bool
    """Whether the judges took it for the video. False: it is the best guess, or there is none."""
    queries: tuple[str, ...]
    turns: int

    @property
    def answer(self) -> CandidateVideo | None:
        """The chosen candidate; None without one."""
        return None if self.chosen is None else self.candidates[self.chosen]

    @property
    def found(self) -> bool:
        """Whether a candidate matches the memory."""
        return self.matched
