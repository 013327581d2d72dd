"""The films of a benchmark, indexed, as the systems use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.runs.records import Query, Sample
from eval.tasks.adapter import sample_of
from eval.tasks.longvideo.videos import LabelledVideo
from rag.agents.video_detective.records import Pack
from rag.library import Library
from rag.reasoners.roles import ChosenOption, Reasoner
from rag.reasoners.token_counting import with_token_counts
from rag.records import Question, Usage

SHORTEST_SHOWN = 1e-6


@dataclass
class Corpus:
    """`paths`: file of each video by its name in the questions. `videos`: the truth, where it is known."""

    library: Library
    paths: Mapping[str, str]
    videos: Mapping[str, LabelledVideo]

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Video id by name."""
        return {name: self.library.video_id(path) for name, path in self.paths.items()}

    @cached_property
    def _counted(self) -> tuple[Reasoner, str]:
        return with_token_counts(self.library.engine.reasoner)

    @property
    def reasoner(self) -> Reasoner:
        """The library's reasoner, counted where no language model counts its tokens."""
        return self._counted[0]

    @property
    def token_count_method(self) -> str:
        return self._counted[1]

    def video_id(self, query: Query) -> str:
        return self.ids[query.video]


def question_of(query: Query) -> Question:
    return Question(query.query_id, query.text, query.options)


def sampled(query: Query, reply: ChosenOption, packs: tuple[Pack, ...], usage: Usage, **told: Any) -> Sample:
    """What a system saw and said. `told`: further evidence, small and JSON."""
    times = sorted({round(time, 6) for pack in packs for time in pack.times})
    start, end = query.window
    words = [pack.words for pack in packs if pack.words is not None]
    return sample_of(
        query,
        reply.choice,
        scores=reply.scores,
        confidence=reply.confidence,
        gold_frames=tuple(times),
        tokens={
            "prompt": usage.prompt_tokens - usage.image_tokens,
            "image": usage.image_tokens,
            "completion": usage.completion_tokens,
        },
        evidence={
            "explanation": reply.explanation,
            "calls": usage.calls,
            "tokens_by_role": usage.spent_by_role,
            "gold_shown": any(start - SHORTEST_SHOWN <= time < end for time in times),
            "gold_read": any(found.start < end and found.end > start for found in words),
            "packs": [[round(pack.start, 3), round(pack.end, 3)] for pack in packs if pack.chosen],
            **told,
        },
    )
