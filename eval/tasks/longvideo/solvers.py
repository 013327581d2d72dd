"""VideoDetective, its ablations (table 3), the baselines of table 1, `rag ask`, and controls.

All that read a video show at most 32 frames in the end, to the same reasoner. An unusable reply or a spent
budget is a wrong answer; an unreachable reasoner stops the run, which is resumed at that question.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from corpora.records import Frames
from eval.rag_ask import RagAsk
from eval.runs.records import Output, TaskInput
from eval.task import Solver, SolverSpec
from eval.tasks.controls import Blind, Chance
from eval.tasks.longvideo.construction import VideoTruth
from eval.tasks.longvideo.dataset import LongInput
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.evidence import best_words, read_packs, uniform_frames
from rag.agents.video_detective.features import Scorer, VideoFeatures, evenly, facets_of
from rag.agents.video_detective.records import PAPER, DetectiveResult, DetectiveSettings, Pack
from rag.errors import BudgetSpent, ReplyInvalid
from rag.library import Library
from rag.reasoners.protocol import Reasoner, ReplyT, RequestT, Role
from rag.reasoners.roles.answer_choice import ANSWER_CHOICE, ChosenOption
from rag.reasoners.roles.decompose_facets import DECOMPOSE_FACETS, Facet
from rag.reasoners.roles.observe import Observation, ObserveRequest
from rag.reasoners.wrappers import TokenCountingReasoner, with_token_counts
from rag.records import Question, SearchFilter, Usage
from rag.relevance import content_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

LITERAL: Mapping[str, Any] = {
    "likeness": "plain",
    "prior": "literal",
    "evidence": "literal",
    "carried": "all",
}
NO_PROPAGATION = {"propagation": False}


@dataclass(frozen=True)
class LongVideoEnvironment:
    """What solvers over long videos are opened on."""

    library: Library
    paths: Mapping[str, str]
    """File of each video by its name in the questions."""

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Content id by name."""
        return {name: self.library.video_id(path) for name, path in self.paths.items()}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Name of the video of each clip."""
        clips = self.library.engine.reader.clips
        return {clip.clip_id: name for name, video_id in self.ids.items() for clip in clips(video_id)}

    @cached_property
    def counted(self) -> tuple[Reasoner, str]:
        """The library's reasoner, counting tokens where no language model does, and how it counts."""
        return with_token_counts(self.library.engine.reasoner)


@dataclass(frozen=True)
class _VideoSolver(ABC):
    """Of one video, by a reasoner."""

    environment: LongVideoEnvironment

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"frames": PAPER.frames, "tokens": self.environment.counted[1]}

    def solve(self, asked: LongInput) -> Output:
        try:
            return self._solve(asked, Question(asked.query_id, asked.text, asked.options))
        except (ReplyInvalid, BudgetSpent) as error:
            reply = ChosenOption(choice=None, confidence=0.0, explanation=str(error))
            usage = self.environment.counted[0].usage()
            output = output_of_reply(asked, reply, (), usage, failure=type(error).__name__)
            return dataclasses.replace(output, parse_failure=isinstance(error, ReplyInvalid))

    @abstractmethod
    def _solve(self, asked: LongInput, question: Question) -> Output: ...


def output_of_reply(
    asked: LongInput, reply: ChosenOption, packs: Sequence[Pack], usage: Usage, **evidence: Any
) -> Output:
    """`packs`: what the answer was given from. `evidence`: more of it, small and JSON."""
    times = sorted({round(time, 6) for pack in packs for time in pack.times})
    words = [pack.words for pack in packs if pack.words is not None]
    return Output(
        choice=reply.choice,
        scores=tuple(reply.scores),
        confidence=reply.confidence,
        frames_read={asked.video: tuple(times)},
        tokens={
            "prompt": usage.prompt_tokens - usage.image_tokens,
            "image": usage.image_tokens,
            "completion": usage.completion_tokens,
        },
        evidence={
            "explanation": reply.explanation,
            "calls": usage.calls,
            "tokens_by_role": usage.spent_by_role,
            "packs": [[round(pack.start, 3), round(pack.end, 3)] for pack in packs if pack.chosen],
            "words": [[text.start, text.end] for text in words],
            **evidence,
        },
    )


@dataclass(frozen=True)
class Detective(_VideoSolver):
    """VideoDetective with the paper's settings, or an ablation of them."""

    chosen: DetectiveSettings = PAPER
    truthful: bool = False
    """The watcher's captions state what happens in the frames' interval."""
    _agents: dict[str, VideoDetective] = field(default_factory=dict, compare=False)

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        return {
            **dataclasses.asdict(self.chosen),
            "truthful_watcher": self.truthful,
            "tokens": self.environment.counted[1],
        }

    def _solve(self, asked: LongInput, question: Question) -> Output:
        found = self._agent(asked).investigate(self.environment.ids[asked.video], question)
        answer = found.answer
        reply = ChosenOption(
            choice=answer.choice,
            scores=tuple(option.score for option in answer.options),
            confidence=answer.confidence,
            explanation=answer.explanation,
        )
        output = output_of_reply(asked, reply, found.selected.packs, answer.usage, **_as_json(found))
        return dataclasses.replace(output, timings=dict(answer.timings))

    def _agent(self, asked: LongInput) -> VideoDetective:
        key = asked.video if self.truthful else ""
        if key not in self._agents:
            reasoner = self._reasoner(asked)
            library = self.environment.library
            self._agents[key] = VideoDetective(library, self.chosen, reasoner=reasoner, must_choose=True)
        return self._agents[key]

    def _reasoner(self, asked: LongInput) -> Reasoner:
        reasoner = self.environment.counted[0]
        if not self.truthful:
            return reasoner
        assert asked.truth is not None, "an oracle is given the truth"
        if isinstance(reasoner, TokenCountingReasoner):
            # Inside the count, so that its observations cost what any other watcher's would.
            return TokenCountingReasoner(
                TruthfulWatcher(self.environment.library.engine.reasoner, asked.truth)
            )
        return TruthfulWatcher(reasoner, asked.truth)


class TruthfulWatcher:
    """A reasoner whose observations state exactly what happens: an upper bound for any watcher."""

    def __init__(self, reasoner: Reasoner, truth: VideoTruth) -> None:
        self._reasoner, self._truth = reasoner, truth
        self.name = reasoner.name

    @property
    def fingerprint(self) -> str:
        """The wrapped reasoner's."""
        return self._reasoner.fingerprint

    @property
    def reads_pixels(self) -> bool:
        """The wrapped reasoner's."""
        return self._reasoner.reads_pixels

    def run(self, role: Role[RequestT, ReplyT], request: RequestT) -> ReplyT:
        """Run a role; observations are stated from the truth."""
        if isinstance(request, ObserveRequest):
            return cast(ReplyT, self._observation(request))
        return self._reasoner.run(role, request)

    def usage(self) -> Usage:
        """The wrapped reasoner's."""
        return self._reasoner.usage()

    def _observation(self, request: ObserveRequest) -> Observation:
        view = request.view
        times = view.times or (view.start, view.end)
        start, end = times[0], times[-1]
        events = [one.sentence for one in self._truth.events if one.start <= end and one.end > start]
        cards = [card.text for card in self._truth.cards if card.start <= end and card.end > start]
        caption = ". ".join([*events, *cards]) or "nothing happens"
        known = set(content_words(caption)) | {w for text in view.texts for w in content_words(text.text)}
        keywords = [word for facet in request.facets for word in facet.keywords]
        missing = tuple(dict.fromkeys(word for word in keywords if not set(content_words(word)) <= known))
        return Observation(caption=caption, missing=missing, needs_more_info=bool(missing))


def _as_json(found: DetectiveResult) -> dict[str, Any]:
    return {
        "looks": [
            {
                "policy": look.policy,
                "facets": list(look.facets),
                "span": [round(look.start, 3), round(look.end, 3)],
                "score": look.score,
                "confirmed": list(look.confirmed),
            }
            for look in found.looks
        ],
        "fallback": found.selected.fallback,
        "problems": list(found.plan.problems),
    }


class _Baseline(_VideoSolver):
    """Features, pixels and reading of the agent, without its search."""

    def _solve(self, asked: LongInput, question: Question) -> Output:
        environment = self.environment
        agent = VideoDetective(environment.library, reasoner=environment.counted[0], must_choose=True)
        features = agent.features(environment.ids[asked.video])
        agent.reasoner.usage()
        reply, packs, evidence = self._answer(agent, features, question)
        return output_of_reply(asked, reply, packs, agent.reasoner.usage(), **evidence)

    @abstractmethod
    def _answer(
        self, agent: VideoDetective, features: VideoFeatures, question: Question
    ) -> tuple[ChosenOption, Sequence[Pack], dict[str, Any]]:
        """The reply, what it was given from, and further evidence."""

    def _read(
        self,
        agent: VideoDetective,
        features: VideoFeatures,
        question: Question,
        packs: Sequence[Pack],
        event: str = "",
    ) -> ChosenOption:
        def decoded(_: str, times: NDArray[np.float64]) -> Frames | None:
            return agent.pixels(features, times)

        event = event or question.text
        reading = read_packs(question, features, packs, event, decoded, must_choose=True)
        return agent.reasoner.run(ANSWER_CHOICE, reading)

    def _scorer(self, features: VideoFeatures, facets: Sequence[Facet]) -> Scorer:
        library = self.environment.library
        return Scorer(features, tuple(facets), library.engine.text_encoder, library.engine.tower, PAPER)


class Uniform(_Baseline):
    """Direct inference: frames spread evenly over the video, without words (the paper's baseline)."""

    def _answer(
        self, agent: VideoDetective, features: VideoFeatures, question: Question
    ) -> tuple[ChosenOption, Sequence[Pack], dict[str, Any]]:
        packs = _grouped(features, uniform_frames(features, PAPER.frames))
        return self._read(agent, features, question, packs), packs, {}


class Retrieval(_Baseline):
    """The eight segments that fit the facets best, by stored embeddings and all stored words, in one step.

    In the manner of Video-RAG (Luo et al., 2024): everything is searched, nothing is observed before the
    answer. A segment counts with the best of its prior (equation 5 without a timeline) and its words
    (equation 10), each scaled to [0, 1] over the video.
    """

    def _answer(
        self, agent: VideoDetective, features: VideoFeatures, question: Question
    ) -> tuple[ChosenOption, Sequence[Pack], dict[str, Any]]:
        reply = agent.reasoner.run(DECOMPOSE_FACETS, question)
        scorer = self._scorer(features, facets_of(reply, question))
        words = [scorer.stored(node) for node in range(len(features.segments))]
        textual = np.array([max((found.score for found in held), default=0.0) for held in words])
        visual = np.max(scorer.priors([""] * len(features.segments)), axis=0)
        fit = np.round(_scaled(textual) + _scaled(visual), 6)
        nodes = sorted(np.argsort(-fit, kind="stable")[: PAPER.nodes].tolist())
        packs = [
            Pack(
                node=node,
                start=float(features.segments.starts[node]),
                end=float(features.segments.ends[node]),
                times=_times(features, node),
                words=best_words(words[node]),
                belief=float(fit[node]) / 2,
                chosen=True,
            )
            for node in nodes
        ]
        event = reply.general_semantic_query
        return self._read(agent, features, question, packs, event), packs, {}


class VideoAgent(_Baseline):
    """In the manner of VideoAgent (Wang et al., 2024): a few even frames, then frames for what is missing.

    Eight frames are spread evenly; while the answer's confidence is below `sure` and frames are left, each
    facet adds the unseen frames that fit it best, and the question is answered again: at most four rounds
    and 32 frames. No words, no segments, no graph.
    """

    first, rounds, sure = 8, 4, 0.8

    def _answer(
        self, agent: VideoDetective, features: VideoFeatures, question: Question
    ) -> tuple[ChosenOption, Sequence[Pack], dict[str, Any]]:
        taken = uniform_frames(features, self.first)
        packs = _grouped(features, sorted(taken))
        reply = self._read(agent, features, question, packs)
        rounds = 1
        facets: tuple[Facet, ...] = ()
        while rounds < self.rounds and reply.confidence < self.sure and len(taken) < PAPER.frames:
            # Asked once: the reply depends on the question alone.
            facets = facets or facets_of(agent.reasoner.run(DECOMPOSE_FACETS, question), question)
            scorer = self._scorer(features, facets)
            for facet in facets:
                fit = scorer.fit([facet], features.vectors)
                fit[taken] = -np.inf
                more = np.argsort(-fit, kind="stable")[: max(1, self.first // len(facets))].tolist()
                taken = (taken + [index for index in more if index not in taken])[: PAPER.frames]
            packs = _grouped(features, sorted(taken))
            reply = self._read(agent, features, question, packs)
            rounds += 1
        return reply, packs, {"rounds": rounds}


def _grouped(features: VideoFeatures, frames: Sequence[int]) -> tuple[Pack, ...]:
    """Frames in packs by the segment that contains them."""
    held: dict[int, list[float]] = {}
    for index in frames:
        time = float(features.times[index])
        held.setdefault(features.segments.at(time), []).append(time)
    return tuple(
        Pack(
            node=node,
            start=float(features.segments.starts[node]),
            end=float(features.segments.ends[node]),
            times=tuple(sorted(times)),
            words=None,
            belief=0.0,
            chosen=False,
        )
        for node, times in sorted(held.items())
    )


def _times(features: VideoFeatures, node: int) -> tuple[float, ...]:
    start, end = float(features.segments.starts[node]), float(features.segments.ends[node])
    chosen = evenly(features.times, start, end, PAPER.frames_per_node)
    return tuple(float(features.times[index]) for index in chosen)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) scaled to [0, 1]; all 0 where they are equal."""
    spread = float(values.max() - values.min())
    return np.asarray((values - values.min()) / spread if spread > 0 else np.zeros_like(values), np.float64)


def _detective(
    environment: LongVideoEnvironment,
    seed: int,  # noqa: ARG001 (nothing is random)
    changes: Mapping[str, Any],
    truthful: bool = False,
) -> Solver:
    return Detective(environment, dataclasses.replace(PAPER, **changes), truthful)


def _rag_ask(environment: LongVideoEnvironment, seed: int) -> Solver:  # noqa: ARG001 (as above)
    def where(asked: LongInput) -> SearchFilter:
        return SearchFilter(videos=frozenset((environment.ids[asked.video],)))

    return RagAsk(environment.library, environment.names, where=where)


SOLVERS: Mapping[str, SolverSpec[LongVideoEnvironment]] = {
    **{
        name: SolverSpec(about, partial(_detective, changes=changes))
        for name, about, changes in (
            ("video-detective", "the whole method", {}),
            (
                "literal-prior",
                "equations 1, 5, 9 and 13 to the letter: plain cosines, and the prior propagated as well",
                LITERAL,
            ),
            ("literal-no-propagation", "literal-prior without diffusion", {**LITERAL, **NO_PROPAGATION}),
            (
                "no-propagation",
                "without diffusion: an observation of a segment does not change other segments",
                NO_PROPAGATION,
            ),
            (
                "no-facets",
                "the question as one facet, observed once (table 3 removes both together)",
                {"facets": False, "refinement": False},
            ),
            ("no-refinement", "one observation a facet, at its anchor", {"refinement": False}),
            ("no-texts", "the answer is given without words", {"texts": False}),
            (
                "uniform-texts",
                "observations as in the whole method, but frames and words from uniform places",
                {"sampling": "uniform"},
            ),
        )
    },
    "uniform": SolverSpec(
        "32 uniform frames, without words: direct inference", lambda environment, _: Uniform(environment)
    ),
    "retrieval-only": SolverSpec(
        "the eight best segments by stored embeddings and words, in one step",
        lambda environment, _: Retrieval(environment),
    ),
    "video-agent": SolverSpec(
        "uniform frames, then the best frames for what is missing, while unsure",
        lambda environment, _: VideoAgent(environment),
    ),
    "rag-ask": SolverSpec("the product: `rag ask` over the video", _rag_ask),
    "blind": SolverSpec(
        "question and options only, by the model that is tested",
        lambda environment, _: Blind(environment.library),
    ),
    "random": SolverSpec("chance", lambda _, seed: Chance(seed, ("longvideo chance",))),
}
TRUTHFUL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "truthful-watcher": ("the whole method, with a watcher that states what happens", {}),
    "truthful-no-propagation": ("truthful-watcher without diffusion", NO_PROPAGATION),
}
"""Oracles, for videos with known truth."""


def truthful_solvers(given: Callable[..., TaskInput]) -> dict[str, SolverSpec[LongVideoEnvironment]]:
    """`given`: adds the truth of a query's video to an input."""
    return {
        name: SolverSpec(about, partial(_detective, changes=changes, truthful=True), given)
        for name, (about, changes) in TRUTHFUL.items()
    }
