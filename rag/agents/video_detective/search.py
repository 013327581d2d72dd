"""The search over the segments of one video: what is believed, what is unresolved, and where to look next.

VideoDetective, algorithm 1. First each facet goes to its anchor (policy I), facets of one anchor together;
then an unresolved facet goes on from its last look, to the neighbour of equation 6, or, after a look that
failed, to the next best segment of its prior. With nothing unresolved the widest gap is next (equation 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from localization.belief import BeliefField, strongest
from rag.agents.video_detective.records import DetectiveSettings, Policy, Words
from rag.reasoners.roles.questions import Facet

if TYPE_CHECKING:
    from numpy.typing import NDArray


RETRY_RELEVANCE = 0.2
"""A look that scores less for its facet has failed (table 6): the facet goes on at the next best segment of
its prior, not at a neighbour."""


@dataclass(frozen=True, slots=True)
class Target:
    """The segment to observe next, and why."""

    node: int
    policy: Policy
    facets: tuple[int, ...]
    """Indices of the facets that are looked for; empty for gap filling."""


@dataclass
class SearchState:
    """The state of the search; `priors`: Y_r of each facet, (k,)."""

    facets: tuple[Facet, ...]
    priors: Sequence[NDArray[np.float64]]
    belief: BeliefField
    settings: DetectiveSettings
    unresolved: list[int] = field(default_factory=list)
    words: dict[int, list[Words]] = field(default_factory=dict)
    """Evidence of each segment that was looked at."""
    scores: dict[int, float] = field(default_factory=dict)
    _last: dict[int, tuple[int, float]] = field(default_factory=dict)
    """By facet: the segment looked at last for it, and what that scored for it."""

    def __post_init__(self) -> None:
        self.unresolved = list(range(len(self.facets)))

    @property
    def anchors(self) -> tuple[int, ...]:
        """Segment of each facet: the argmax of its prior."""
        found = [strongest(prior, np.ones(len(prior), np.bool_)) for prior in self.priors]
        return tuple(0 if node is None else node for node in found)

    def next(self) -> Target | None:
        """Where to look; None where every segment was seen, or, without refinement, every anchor."""
        fresh = [r for r in self.unresolved if r not in self._last]
        if fresh:
            return self._anchor(fresh)
        if not self.settings.refinement:
            return None
        if self.unresolved:
            return self._onward(self.unresolved[0])
        node = self.belief.widest_gap()
        return None if node is None else Target(node, "gap", ())

    def observe(
        self, target: Target, words: list[Words], facet_scores: Sequence[float], score: float
    ) -> None:
        """Take in a look. `facet_scores`: the best score of each facet there; `score`: s_i of equation 11."""
        self.words[target.node] = words
        self.scores[target.node] = score
        for r in target.facets:
            self._last[r] = (target.node, facet_scores[r])
        self.belief.observe(target.node, score)

    def resolve(self, facets: Sequence[int]) -> None:
        """A confirmed facet leaves at once (section 3.3.1)."""
        self.unresolved = [r for r in self.unresolved if r not in facets]

    def _anchor(self, fresh: Sequence[int]) -> Target | None:
        first = fresh[0]
        node = strongest(self.priors[first], ~self.belief.visited)
        if node is None:
            return None
        anchors = self.anchors
        together = [r for r in fresh if r == first or anchors[r] == node]
        return Target(node, "anchor", tuple(together))

    def _onward(self, facet: int) -> Target | None:
        node, score = self._last[facet]
        if score >= RETRY_RELEVANCE:
            following = self.belief.next_neighbour(node)
            if following is not None:
                return Target(following, "neighbour", (facet,))
        following = strongest(self.priors[facet], ~self.belief.visited)
        return None if following is None else Target(following, "retry", (facet,))
