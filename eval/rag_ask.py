"""The product as a solver of any task with questions over one library: `Library.ask`, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.runs.records import ClipScore, ClipWindow, Output, PassageScore, TaskInput, token_counts
from rag.library import Library
from rag.records import SearchFilter
from rag.settings import Settings


def answer_settings(library: Library, settings: Settings) -> dict[str, Any]:
    """What an answer under `settings` depends on, as facts of a run: events as long as the image encoder of
    `library` asks for."""
    tower, how = library.engine.tower, settings.reasoner.answer_from
    localize = settings.localize.averaged_over(tower.steady_seconds if tower is not None else 0.0)
    return {
        "search": settings.search.model_dump(),
        "localize": localize.model_dump(),
        **({} if how == "frames" else {"answer_from": how}),
    }


@dataclass(frozen=True)
class RagAsk:
    """A question to which nothing matches has no choice, and counts as answered wrong."""

    library: Library
    names: Mapping[str, str] = field(default_factory=dict)
    """The library's clip ids to the task's; one that is missing stays as it is."""
    where: Callable[[Any], SearchFilter | None] = lambda _: None
    """From a task's input to the videos that it is asked of."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Facts that belong to the identity of a run."""
        return answer_settings(self.library, self.library.settings)

    def solve(self, asked: TaskInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        answer = self.library.ask(
            asked.text, options=asked.options, question_id=asked.query_id, where=self.where(asked)
        )
        usage, details = answer.usage, answer.details
        clips = [(self.names.get(clip_id, clip_id), score) for clip_id, score in details["clips"]]
        windows = [
            ClipWindow(name, start, end, score)
            for (name, _), (_, start, end, score) in zip(clips, details.get("windows", ()), strict=False)
        ]
        return Output(
            choice=answer.choice,
            scores=tuple(option.score for option in answer.options),
            confidence=answer.confidence,
            clips=tuple(ClipScore(name, score) for name, score in clips),
            passages=tuple(
                PassageScore(doc_id, score, option) for _, doc_id, score, option in details["passages"]
            ),
            windows=tuple(windows),
            evidence={"explanation": answer.explanation, "answer": answer.text, "matched": answer.matched},
            tokens=token_counts(usage),
        )
