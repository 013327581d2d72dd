"""What VideoDetective is held against: evenly spread frames, retrieval, and VideoAgent's way.

All show at most 32 frames in the end, to the same reasoner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Frames
from eval.runs.records import Query, Sample
from eval.tasks.longvideo.systems.corpus import Corpus, question_of, sampled
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.answering import read_packs
from rag.agents.video_detective.features import VideoFeatures, evenly
from rag.agents.video_detective.packing import best_words, uniform_frames
from rag.agents.video_detective.records import Pack
from rag.agents.video_detective.scoring import Scorer, facets_of
from rag.agents.video_detective.settings import PAPER
from rag.reasoners.roles import ANSWER_CHOICE, DECOMPOSE_FACETS, ChosenOption, Facet, Reading, Reasoner
from rag.records import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class _Baseline(ABC):
    name: str
    corpus: Corpus

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"frames": PAPER.frames, "tokens": self.corpus.token_count_method}

    @abstractmethod
    def answer(self, query: Query) -> Sample: ...

    def _ground(self) -> VideoDetective:
        """For its material, its pixels and its counter."""
        return VideoDetective(self.corpus.library, reasoner=self.corpus.reasoner, must_choose=True)

    def _read(
        self,
        ground: VideoDetective,
        material: VideoFeatures,
        question: Question,
        packs: Sequence[Pack],
        event: str,
    ) -> Reading:
        def decoded(_: str, times: NDArray[np.float64]) -> Frames | None:
            return ground.pixels(material, times)

        return read_packs(question, material, packs, event, decoded, must_choose=True)


class Uniform(_Baseline):
    """Direct inference: frames spread evenly over the film, and no words (the paper's baseline)."""

    def answer(self, query: Query) -> Sample:
        ground = self._ground()
        material = ground.material(self.corpus.video_id(query))
        question, reasoner = question_of(query), ground.reasoner
        reasoner.usage()
        packs = _grouped(material, uniform_frames(material, PAPER.frames))
        reply = reasoner.run(ANSWER_CHOICE, self._read(ground, material, question, packs, question.text))
        return sampled(query, reply, packs, reasoner.usage())


class Retrieval(_Baseline):
    """The eight segments that fit the facets best, by stored vectors and all stored words, in one step.

    In the manner of Video-RAG (Luo et al., 2024): everything is searched, nothing is looked at
    before the answer. A segment counts with the best of its prior (equation 5 without a timeline)
    and its words (equation 10), each scaled to [0, 1] over the film.
    """

    def answer(self, query: Query) -> Sample:
        ground = self._ground()
        material = ground.material(self.corpus.video_id(query))
        question, reasoner = question_of(query), ground.reasoner
        reasoner.usage()
        reply = reasoner.run(DECOMPOSE_FACETS, question)
        library = self.corpus.library
        facets = facets_of(reply, question)
        scorer = Scorer(material, facets, library.engine.text_encoder, library.engine.tower, PAPER)
        words = [scorer.stored(node) for node in range(len(material.segments))]
        told = np.array([max((found.score for found in held), default=0.0) for held in words])
        seen = np.max(scorer.priors([""] * len(material.segments)), axis=0)
        fit = np.round(_scaled(told) + _scaled(seen), 6)
        nodes = sorted(np.argsort(-fit, kind="stable")[: PAPER.nodes].tolist())
        packs = [
            Pack(
                node=node,
                start=float(material.segments.starts[node]),
                end=float(material.segments.ends[node]),
                times=_times(material, node),
                words=best_words(words[node]),
                belief=float(fit[node]) / 2,
                chosen=True,
            )
            for node in nodes
        ]
        event = reply.general_semantic_query
        chosen = reasoner.run(ANSWER_CHOICE, self._read(ground, material, question, packs, event))
        return sampled(query, chosen, tuple(packs), reasoner.usage())


class VideoAgent(_Baseline):
    """In the manner of VideoAgent (Wang et al., 2024): a few even frames, then frames for what is missing.

    Eight frames are spread evenly; while the answer's confidence is below `sure` and places are free,
    each facet brings the frames, among those not yet seen, that fit it best, and the answer is
    given anew: at most four rounds and 32 frames. No words, no segments, no graph.
    """

    first, rounds, sure = 8, 4, 0.8

    def answer(self, query: Query) -> Sample:
        ground = self._ground()
        material = ground.material(self.corpus.video_id(query))
        question, reasoner = question_of(query), ground.reasoner
        reasoner.usage()
        taken = uniform_frames(material, self.first)
        reply, packs = self._asked(ground, material, question, reasoner, taken)
        rounds = 1
        facets: tuple[Facet, ...] = ()
        while rounds < self.rounds and reply.confidence < self.sure and len(taken) < PAPER.frames:
            # Asked once: the reply depends on the question alone.
            facets = facets or facets_of(reasoner.run(DECOMPOSE_FACETS, question), question)
            library = self.corpus.library
            scorer = Scorer(material, facets, library.engine.text_encoder, library.engine.tower, PAPER)
            for facet in facets:
                fit = scorer.fit([facet], material.vectors)
                fit[taken] = -np.inf
                more = np.argsort(-fit, kind="stable")[: max(1, self.first // len(facets))].tolist()
                taken = (taken + [index for index in more if index not in taken])[: PAPER.frames]
            reply, packs = self._asked(ground, material, question, reasoner, sorted(taken))
            rounds += 1
        return sampled(query, reply, packs, reasoner.usage(), rounds=rounds)

    def _asked(
        self,
        ground: VideoDetective,
        material: VideoFeatures,
        question: Question,
        reasoner: Reasoner,
        frames: Sequence[int],
    ) -> tuple[ChosenOption, tuple[Pack, ...]]:
        packs = _grouped(material, sorted(frames))
        return reasoner.run(
            ANSWER_CHOICE, self._read(ground, material, question, packs, question.text)
        ), packs


def _grouped(material: VideoFeatures, frames: Sequence[int]) -> tuple[Pack, ...]:
    """Frames in packs by the segment they lie in."""
    held: dict[int, list[float]] = {}
    for index in frames:
        time = float(material.times[index])
        held.setdefault(material.segments.at(time), []).append(time)
    return tuple(
        Pack(
            node=node,
            start=float(material.segments.starts[node]),
            end=float(material.segments.ends[node]),
            times=tuple(sorted(times)),
            words=None,
            belief=0.0,
            chosen=False,
        )
        for node, times in sorted(held.items())
    )


def _times(material: VideoFeatures, node: int) -> tuple[float, ...]:
    start, end = float(material.segments.starts[node]), float(material.segments.ends[node])
    chosen = evenly(material.times, start, end, PAPER.frames_per_node)
    return tuple(float(material.times[index]) for index in chosen)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) between 0 and 1: the least is 0 and the greatest 1; all 0 where they are the same."""
    spread = float(values.max() - values.min())
    return np.asarray((values - values.min()) / spread if spread > 0 else np.zeros_like(values), np.float64)
