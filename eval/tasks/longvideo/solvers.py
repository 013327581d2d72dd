"""VideoDetective by both presets, its ablations (table 3), the baselines, `rag ask`, and controls.

An unreachable reasoner stops the run, which is resumed at that question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.rag_ask import RagAsk
from eval.runs.records import Output, TaskInput
from eval.task import Solver, SolverSpec
from eval.tasks.controls import Blind, Chance
from eval.tasks.longvideo.baselines import (
    LongVideoEnvironment,
    Retrieval,
    RetrievedTexts,
    Uniform,
    VideoSolver,
    output_of_reply,
)
from rag.agents.video_detective.agent import VideoDetective
from rag.agents.video_detective.records import PRESETS, TUNED, DetectiveResult, DetectiveSettings, with_frames
from rag.reasoners.roles.answers import ChosenOption
from rag.records import Question, SearchFilter


@dataclass(frozen=True)
class Detective(VideoSolver):
    """VideoDetective under a preset, or an ablation of it."""

    chosen: DetectiveSettings = TUNED

    @property
    def settings(self) -> Mapping[str, Any]:
        """JSON: all that outputs depend on."""
        return {
            **dataclasses.asdict(self.chosen),
            **{name: value for name, value in super().settings.items() if name != "frames"},
        }

    def _solve(self, asked: TaskInput, question: Question) -> Output:
        found = self._agent.investigate(self.environment.ids[asked.video], question)
        answer = found.answer
        reply = ChosenOption(
            choice=answer.choice,
            scores=tuple(option.score for option in answer.options),
            confidence=answer.confidence,
            explanation=answer.explanation,
        )
        return output_of_reply(asked, reply, found.selected.packs, answer.usage, **_as_json(found))

    @cached_property
    def _agent(self) -> VideoDetective:
        library, reasoner = self.environment.library, self.environment.counted.reasoner
        return VideoDetective(library, self.chosen, reasoner=reasoner, must_choose=True)


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


def _rag_ask(environment: LongVideoEnvironment, seed: int) -> Solver:  # noqa: ARG001 (as above)
    def where(asked: TaskInput) -> SearchFilter:
        return SearchFilter(videos=frozenset((environment.ids[asked.video],)))

    return RagAsk(environment.library, environment.names, where=where)


ABLATIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "video-detective": ("the whole method", {}),
    "no-propagation": (
        "without diffusion: an observation of a segment does not change other segments",
        {"propagation": False},
    ),
    "no-facets": (
        "the question as one facet, observed once (table 3 removes both together)",
        {"facets": False, "refinement": False},
    ),
    "no-refinement": ("one observation a facet, at its anchor", {"refinement": False}),
    "no-texts": ("the answer is given without words", {"texts": False}),
    "uniform-texts": (
        "observations as in the whole method, but frames and words from uniform places",
        {"sampling": "uniform"},
    ),
}
"""What table 3 takes away, by preset."""
PAPER = "-paper"
"""Behind the names of those by the paper's preset."""
Opened = Callable[[LongVideoEnvironment, int], Solver]
"""From the environment, and how many frames an answer is given from."""


def _detective(preset: str, changes: Mapping[str, Any]) -> Opened:
    chosen = dataclasses.replace(PRESETS[preset], **changes)
    return lambda environment, frames: Detective(environment, chosen=with_frames(chosen, frames))


METHODS: Mapping[str, tuple[str, Opened]] = {
    **{name: (about, _detective("tuned", changes)) for name, (about, changes) in ABLATIONS.items()},
    **{
        name + PAPER: (f"{about}; as printed in the paper", _detective("paper", changes))
        for name, (about, changes) in ABLATIONS.items()
    },
    "uniform": ("32 uniform frames, without words: direct inference", Uniform),
    "retrieval-only": ("the eight best segments by stored embeddings and words, in one step", Retrieval),
    "retrieved-texts": (
        "32 uniform frames and the speech and screen text that fit the question: Video-RAG (Luo et al.) "
        "without its object detector",
        RetrievedTexts,
    ),
}
"""Systems that show the frames they answer from: of any `NAME@N` has N in place of 32."""


def at_frames(name: str) -> SolverSpec[LongVideoEnvironment] | None:
    """The system `NAME` or `NAME@N`; None for any other name."""
    base, at, count = name.partition("@")
    if base not in METHODS or (at and not (count.isdecimal() and int(count))):
        return None
    about, opened = METHODS[base]
    frames = int(count) if at else TUNED.frames
    shown = f"; with {count} frames" if at else ""
    return SolverSpec(f"{about}{shown}", lambda environment, _: opened(environment, frames))


FEWER = tuple(
    f"{name}@{count}" for name in ("video-detective", "video-detective-paper", "uniform") for count in (8, 16)
)
"""Figure 2: InternVL-2.5 takes 8 frames, VideoXL2 and Oryx-1.5 take 16 (E.1)."""
SOLVERS: Mapping[str, SolverSpec[LongVideoEnvironment]] = {
    **{name: found for name in (*METHODS, *FEWER) if (found := at_frames(name)) is not None},
    "rag-ask": SolverSpec("the product: `rag ask` over the video", _rag_ask),
    "blind": SolverSpec(
        "question and options only, by the model that is tested",
        lambda environment, _: Blind(environment.library),
    ),
    "random": SolverSpec("chance", lambda _, seed: Chance(seed, ("longvideo chance",))),
}
