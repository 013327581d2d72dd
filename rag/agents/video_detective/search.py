"""Looking at one segment of a video after another, until facets, looks or the budget are spent.

VideoDetective, algorithm 1, lines 12 to 24: `SearchState` picks the segment, `Scorer` scores observations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Evidence
from localization.belief import BeliefField, strongest
from rag.agents.video_detective.evidence import best_words
from rag.agents.video_detective.features import SOURCES, Scorer, VideoFeatures
from rag.agents.video_detective.records import DetectiveSettings, Look, Policy, Words
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable
from rag.reasoners.roles import OBSERVE, Facet, Observation, ObserveRequest
from rag.records import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.agents.video_detective.agent import VideoDetective


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
        """By facet: argmax of its prior."""
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
        if target.facets and self.unresolved and self.settings.turns == "round":
            # The facets that have had their turn go to the end of the queue.
            self.unresolved.sort(key=lambda r: r in target.facets)

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
        if score >= self.settings.retry_relevance:
            following = self.belief.next_neighbour(node)
            if following is not None:
                return Target(following, "neighbour", (facet,))
        following = strongest(self.priors[facet], ~self.belief.visited)
        return None if following is None else Target(following, "retry", (facet,))


@dataclass
class ErrorLog:
    """What went wrong on the way of one question."""

    problems: list[str] = field(default_factory=list)
    """Those that belong to no look, a line each."""
    spent: bool = False
    """Nothing is to be looked at any more."""
    gone: bool = False
    """The reasoner cannot be reached."""

    def note(self, what: str, error: ReasonerError) -> None:
        """Record a failed step."""
        self.problems.append(f"{what}: {error}")
        self.record(error)

    def record(self, error: ReasonerError) -> None:
        """Record whether the budget is spent or the server cannot be reached."""
        self.gone = self.gone or isinstance(error, ReasonerUnreachable)
        self.spent = self.spent or self.gone or isinstance(error, BudgetSpent)


@dataclass(frozen=True, kw_only=True)
class Search:
    """The looks of one question, from its plan on."""

    detective: VideoDetective
    features: VideoFeatures
    question: Question
    vlm_query: str
    """What the reasoner is asked to look for; empty where it made no facets."""
    scorer: Scorer
    state: SearchState
    errors: ErrorLog

    def looks(self, most: int, watch: Callable[[Look], None]) -> tuple[Look, ...]:
        """At most `most` looks; `watch` is called with each."""
        looks: list[Look] = []
        while len(looks) < most and not self.errors.spent:
            target = self.state.next()
            if target is None:
                break
            look = self._look(len(looks) + 1, target)
            looks.append(look)
            watch(look)
        return tuple(looks)

    def _look(self, step: int, target: Target) -> Look:
        """Verification and refinement of one segment (algorithm 1, lines 20 to 24)."""
        node, segments = target.node, self.features.segments
        facets = tuple(self.state.facets[r] for r in target.facets) or self.state.facets
        start, end = float(segments.starts[node]), float(segments.ends[node])
        chosen = self._window(node, facets)
        said = self.features.said(node)
        seen, problem = self._observed(chosen, start, end, said, facets)
        texts = [text for text in said if SOURCES[text.kind] == "caption" or self.detective.settings.texts]
        if seen is not None and seen.caption.strip():
            texts.append(Evidence(self.features.video.video_id, start, end, "caption", seen.caption))
        words = self.scorer.score(texts)
        by_facet = np.zeros(len(self.state.facets))
        for text in texts:
            by_facet = np.maximum(by_facet, self.scorer.by_facet(text.text, SOURCES[text.kind]))
        score = float(by_facet.max(initial=0.0))
        self.state.observe(target, words, by_facet.tolist(), score)
        confirmed = tuple(r for r in target.facets if seen is not None and self._confirms(seen, r))
        self.state.resolve(confirmed)
        return Look(
            step=step,
            node=node,
            start=start,
            end=end,
            policy=target.policy,
            facets=tuple(self.state.facets[r].name for r in target.facets),
            times=tuple(float(self.features.times[index]) for index in chosen),
            caption=seen.caption if seen is not None else "",
            missing=seen.missing if seen is not None else (),
            words=best_words(words),
            score=round(score, 6),
            confirmed=tuple(self.state.facets[r].name for r in confirmed),
            belief=plain(self.state.belief.belief),
            problem=problem,
        )

    def _observed(
        self,
        chosen: Sequence[int],
        start: float,
        end: float,
        said: tuple[Evidence, ...],
        facets: tuple[Facet, ...],
    ) -> tuple[Observation | None, str]:
        texts = said if self.detective.settings.texts else ()
        view = self.detective.view(self.features, chosen, start, end, texts)
        request = ObserveRequest(self.question, view, facets, self.vlm_query)
        try:
            return self.detective.reasoner.run(OBSERVE, request), ""
        except ReasonerError as error:
            self.errors.record(error)
            return None, str(error)

    def _confirms(self, seen: Observation, r: int) -> bool:
        """No keyword of the facet is missing; without keywords, the watcher needs no more."""
        keywords = {keyword.casefold() for keyword in self.state.facets[r].keywords}
        if not keywords:
            return not seen.needs_more_info
        return keywords.isdisjoint(word.casefold() for word in seen.missing)

    def _window(self, node: int, facets: Sequence[Facet]) -> list[int]:
        """Up to `window_frames` neighbouring frames around the moment that fits the facets best."""
        first, last = self.features.inside(node)
        count = min(self.detective.settings.window_frames, last - first)
        if count <= 0:
            return []
        fit = self.scorer.fit(facets, self.features.vectors[first:last])
        around = np.convolve(fit, np.ones(count) / count, "valid")
        at = first + int(np.argmax(np.round(around, 6)))
        return list(range(at, at + count))


def plain(belief: NDArray[np.float64]) -> tuple[float, ...]:
    """The values of `belief`, float64 (k,) over the segments, to 6 decimals."""
    return tuple(float(value) for value in np.round(belief, 6))
