"""Looking at one segment of a video after another, until facets, looks or the budget are spent.

VideoDetective, algorithm 1, lines 12 to 24: `SearchState` picks the segment, `Scorer` scores observations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Evidence
from rag.agents.video_detective.features import SOURCES, VideoFeatures
from rag.agents.video_detective.packing import best_words
from rag.agents.video_detective.records import Look
from rag.agents.video_detective.scoring import Scorer
from rag.agents.video_detective.search_state import SearchState, Target
from rag.errors import BudgetSpent, ReasonerError, ReasonerUnreachable
from rag.reasoners.roles import OBSERVE, Facet, Observation, ObserveRequest
from rag.records import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.agents.video_detective.agent import VideoDetective


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
