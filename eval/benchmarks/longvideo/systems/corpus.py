"""The films of a benchmark, indexed, as the systems use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.benchmarks.longvideo.films import Film
from eval.runs.records import Query, Sample, sample_of
from rag.agents.counting import Counted
from rag.agents.video_detective_records import Pack
from rag.library import Library
from rag.reasoners.roles import ChosenOption
from rag.records import Question, Usage

__all__ = ["Corpus", "question_of", "sampled"]

SHORTEST_SHOWN = 1e-6


@dataclass
class Corpus:
    """`paths`: file of each video by its name in the questions. `films`: the truth, where it is known."""

    library: Library
    paths: Mapping[str, str]
    films: Mapping[str, Film]

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Video id by name."""
        return {name: self.library.video_id(path) for name, path in self.paths.items()}

    def video_id(self, query: Query) -> str:
        return self.ids[query.video]


def question_of(query: Query) -> Question:
    return Question(query.query_id, query.text, query.options)


def sampled(
    query: Query,
    reply: ChosenOption,
    packs: tuple[Pack, ...],
    counted: Counted,
    usage: Usage,
    **told: Any,
) -> Sample:
    """What a system saw and said. `told`: further evidence, small and JSON.

    Tokens are the model's own count where one ran, else an estimate (`rag.agents.counting`).
    """
    times = sorted({round(time, 6) for pack in packs for time in pack.times})
    start, end = query.window
    words = [pack.words for pack in packs if pack.words is not None]
    read = any(found.start < end and found.end > start for found in words)
    measured = usage.calls > 0
    tokens = (
        {
            "prompt": usage.prompt_tokens,
            "completion": usage.completion_tokens,
        }
        if measured
        else {"prompt": counted.prompt, "image": counted.image}
    )
    return sample_of(
        query,
        reply.choice,
        scores=reply.scores,
        confidence=reply.confidence,
        gold_frames=tuple(times),
        tokens=tokens,
        evidence={
            "explanation": reply.explanation,
            "tokens": "measured" if measured else "estimated",
            "calls": usage.calls if measured else counted.calls,
            "images": counted.image // 200,
            "gold_shown": any(start - SHORTEST_SHOWN <= time < end for time in times),
            "gold_read": read,
            "packs": [[round(pack.start, 3), round(pack.end, 3)] for pack in packs if pack.chosen],
            **told,
        },
    )
