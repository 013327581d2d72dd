"""What solvers over long videos are opened on, and those that answer in one step or a few: baselines.

All show as many frames in the end as VideoDetective, 32, to the same reasoner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Frames
from eval.runs.records import Output, TaskInput, token_counts
from eval.tasks.videos import NamedVideos
from localization.belief import NODES
from localization.lexical import Source
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import best_words, read_packs, uniform_frames
from rag.agents.video_detective.features import (
    SOURCES,
    Scorer,
    VideoFeatures,
    evenly,
    evidence_items,
    facets_of,
)
from rag.agents.video_detective.records import PAPER, TUNED, Pack, Words
from rag.reasoners.roles.answers import ANSWER_CHOICE, ChosenOption
from rag.reasoners.roles.questions import DECOMPOSE_FACETS
from rag.reasoners.roles.reading import Reading
from rag.reasoners.wrappers import ReasonerWithCounts, with_token_counts
from rag.records import Question, Usage

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LongVideoEnvironment(NamedVideos):
    """What solvers over long videos are opened on."""

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Name of the video of each clip."""
        clips = self.library.engine.reader.clips
        return {clip.clip_id: name for name, video_id in self.ids.items() for clip in clips(video_id)}

    @cached_property
    def counted(self) -> ReasonerWithCounts:
        """The library's reasoner, counting tokens where no language model does, and how it counts."""
        return with_token_counts(self.library.engine.reasoner)


@dataclass(frozen=True)
class VideoSolver(ABC):
    """Base class: a reasoner answers from one video."""

    environment: LongVideoEnvironment
    frames: int = TUNED.frames
    """Shown to the answering reasoner, at most."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        counted = self.environment.counted
        return {"frames": self.frames, "tokens": counted.method, "reasoner": counted.reasoner.name}

    def solve(self, asked: TaskInput) -> Output:
        """Answer one input; see `eval.task.Solver`. Raises `ReasonerError` where no reasoner answers."""
        return self._solve(asked, Question(asked.query_id, asked.text, asked.options))

    @abstractmethod
    def _solve(self, asked: TaskInput, question: Question) -> Output: ...


def output_of_reply(
    asked: TaskInput, reply: ChosenOption, packs: Sequence[Pack], usage: Usage, **evidence: Any
) -> Output:
    """`packs`: what the answer was given from. `evidence`: more of it, small and JSON."""
    times = sorted({round(time, 6) for pack in packs for time in pack.times})
    words = [pack.words for pack in packs if pack.words is not None]
    return Output(
        choice=reply.choice,
        scores=tuple(reply.scores),
        confidence=reply.confidence,
        frames_read={asked.video: tuple(times)},
        tokens=token_counts(usage),
        evidence={
            "explanation": reply.explanation,
            "calls": usage.calls,
            "tokens_by_role": usage.spent_by_role,
            "packs": [[round(pack.start, 3), round(pack.end, 3)] for pack in packs if pack.chosen],
            "words": [[text.start, text.end] for text in words],
            **evidence,
        },
    )


_Answered = tuple[ChosenOption, Sequence[Pack], dict[str, Any]]
"""The reply, what it was given from, and further evidence."""


class _Baseline(VideoSolver):
    """Features, pixels and reading of the agent, without its search."""

    def _solve(self, asked: TaskInput, question: Question) -> Output:
        environment = self.environment
        agent = VideoDetective(environment.library, reasoner=environment.counted.reasoner, must_choose=True)
        features = agent.features(environment.ids[asked.video])
        agent.reasoner.usage()
        reply, packs, evidence = self._answer(agent, features, question)
        return output_of_reply(asked, reply, packs, agent.reasoner.usage(), **evidence)

    @abstractmethod
    def _answer(self, agent: VideoDetective, features: VideoFeatures, question: Question) -> _Answered: ...

    def _reading(
        self,
        agent: VideoDetective,
        features: VideoFeatures,
        question: Question,
        packs: Sequence[Pack],
        event: str = "",
    ) -> Reading:
        def decoded(_: str, times: NDArray[np.float64]) -> Frames | None:
            return agent.pixels(features, times)

        event = event or question.text
        return read_packs(question, features, packs, event, decoded, must_choose=True)


class Uniform(_Baseline):
    """Direct inference: frames spread evenly over the video, without words (the paper's baseline)."""

    def _answer(self, agent: VideoDetective, features: VideoFeatures, question: Question) -> _Answered:
        packs = _grouped(features, uniform_frames(features, self.frames))
        reply = agent.reasoner.run(ANSWER_CHOICE, self._reading(agent, features, question, packs))
        return reply, packs, {}


class Retrieval(_Baseline):
    """The eight segments that fit the facets best, by stored embeddings and all stored words, in one step.

    Our own: nothing is observed before the answer. A segment counts with the best of its prior (equation 5
    without a timeline) and its words (equation 10), each scaled to [0, 1] over the video.
    """

    def _answer(self, agent: VideoDetective, features: VideoFeatures, question: Question) -> _Answered:
        reply = agent.reasoner.run(DECOMPOSE_FACETS, question)
        tower = self.environment.library.engine.tower
        scorer = Scorer(features, facets_of(reply, question), tower, TUNED)
        words = [scorer.stored(node) for node in range(len(features.segments))]
        textual = np.array([max((found.score for found in held), default=0.0) for held in words])
        visual = np.max(scorer.priors([""] * len(features.segments)), axis=0)
        fit = np.round(_scaled(textual) + _scaled(visual), 6)
        nodes = sorted(np.argsort(-fit, kind="stable")[:NODES].tolist())
        each = max(1, self.frames // NODES)
        packs = [
            _pack(features, node, _times(features, node, each), best_words(words[node]), fit[node] / 2, True)
            for node in nodes
        ]
        reading = self._reading(agent, features, question, packs, reply.general_semantic_query)
        return agent.reasoner.run(ANSWER_CHOICE, reading), packs, {}


class RetrievedTexts(_Baseline):
    """Even frames, and the speech and screen text that fit the question, in one step.

    Video-RAG (Luo et al., 2024) without its object detector, and with our encoder and facets: texts are
    those of a source in a clip of 30 s, and are shown where their cosine with the mean of the question
    and the request is at least 0.3. The request is the facets' events for speech, their keywords for text.
    """

    threshold = 0.3

    def _answer(self, agent: VideoDetective, features: VideoFeatures, question: Question) -> _Answered:
        facets = facets_of(agent.reasoner.run(DECOMPOSE_FACETS, question), question)
        asked = " ".join([question.text, *question.options])
        requests: Mapping[Source, str] = {
            "asr": " ".join(event for facet in facets for event in facet.queries),
            "ocr": " ".join(word for facet in facets for word in facet.keywords),
        }
        encode = self.environment.library.engine.text_encoder.encode_text
        wanted = {source: encode([asked, text]).sum(axis=0) for source, text in requests.items()}
        times = features.times[uniform_frames(features, self.frames)]
        packs, texts = [], []
        for clip in features.clips:
            said = [text for text in features.texts if clip.start <= text.start < clip.end]
            joined = [text for text in evidence_items(said, PAPER) if SOURCES[text.kind] in wanted]
            fit = (
                text
                for text in joined
                if _cosine(encode([text.text])[0], wanted[SOURCES[text.kind]]) >= self.threshold
            )
            texts.append(tuple(fit))
            inside = times[(times >= clip.start) & (times < clip.end)]
            node = features.segments.at(clip.start)
            packs.append(Pack(node, clip.start, clip.end, tuple(inside.tolist()), None, 0.0, bool(texts[-1])))
        shown = [place for place, pack in enumerate(packs) if pack.times or pack.chosen]
        reading = self._reading(agent, features, question, [packs[place] for place in shown])
        windows = (
            replace(window, texts=texts[place]) for window, place in zip(reading.windows, shown, strict=True)
        )
        reply = agent.reasoner.run(ANSWER_CHOICE, replace(reading, windows=tuple(windows)))
        words = [[text.start, text.end] for place in shown for text in texts[place]]
        return reply, [packs[place] for place in shown], {"words": words}


def _cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The cosine to 6 decimals; 0 where a vector is 0."""
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return round(float(one @ other) / length, 6) if length else 0.0


def _grouped(features: VideoFeatures, frames: Sequence[int]) -> tuple[Pack, ...]:
    """Frames in packs by the segment that contains them."""
    held: dict[int, list[float]] = {}
    for index in frames:
        time = float(features.times[index])
        held.setdefault(features.segments.at(time), []).append(time)
    return tuple(_pack(features, node, sorted(times)) for node, times in sorted(held.items()))


def _pack(
    features: VideoFeatures,
    node: int,
    times: Sequence[float],
    words: Words | None = None,
    belief: float = 0.0,
    chosen: bool = False,
) -> Pack:
    start, end = float(features.segments.starts[node]), float(features.segments.ends[node])
    return Pack(node, start, end, tuple(times), words, float(belief), chosen)


def _times(features: VideoFeatures, node: int, count: int) -> tuple[float, ...]:
    start, end = float(features.segments.starts[node]), float(features.segments.ends[node])
    chosen = evenly(features.times, start, end, count)
    return tuple(float(features.times[index]) for index in chosen)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) scaled to [0, 1]; all 0 where they are equal."""
    spread = float(values.max() - values.min())
    return np.asarray((values - values.min()) / spread if spread > 0 else np.zeros_like(values), np.float64)
