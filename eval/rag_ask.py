"""The product as a solver of any task with questions over one library: `Library.ask`, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.runs.records import ClipScore, ClipWindow, Output, PassageScore, TaskInput
from rag.records import PassageCitation, VideoCitation

if TYPE_CHECKING:
    from rag.library import Library
    from rag.records import SearchFilter


def _by_video(citation: VideoCitation) -> str:
    return citation.video_id


def _by_passage(citation: PassageCitation) -> str:
    return citation.passage_id


def _everywhere(asked: TaskInput) -> SearchFilter | None:  # noqa: ARG001 (one shape)
    return None


@dataclass(frozen=True)
class RagAsk:
    """Clips, windows and passages of its output are those that the answer cites.

    A question to which nothing matches has no choice, and counts as answered wrong.
    """

    library: Library
    clip_of: Callable[[VideoCitation], str] = _by_video
    """The task's id of the clip that is cited."""
    passage_of: Callable[[PassageCitation], str] = _by_passage
    where: Callable[[Any], SearchFilter | None] = _everywhere
    """From a task's input to the videos that it is asked of."""

    @property
    def settings(self) -> Mapping[str, Any]:
        chosen = self.library.settings
        return {"search": chosen.search.model_dump(), "localize": chosen.localize.model_dump()}

    def solve(self, asked: TaskInput) -> Output:
        answer = self.library.ask(
            asked.text, options=asked.options, question_id=asked.query_id, where=self.where(asked)
        )
        usage = answer.usage
        videos = [cited for cited in answer.citations if isinstance(cited, VideoCitation)]
        passages = [cited for cited in answer.citations if isinstance(cited, PassageCitation)]
        clips: dict[str, float] = {}
        for cited in videos:
            clips.setdefault(self.clip_of(cited), cited.score)
        return Output(
            choice=answer.choice,
            scores=tuple(option.score for option in answer.options),
            confidence=answer.confidence,
            clips=tuple(ClipScore(name, score) for name, score in clips.items()),
            passages=tuple(PassageScore(self.passage_of(cited), cited.score) for cited in passages),
            windows=tuple(
                ClipWindow(self.clip_of(cited), cited.start, cited.end, cited.score) for cited in videos
            ),
            evidence={"explanation": answer.explanation, "answer": answer.text, "matched": answer.matched},
            tokens={
                "prompt": usage.prompt_tokens,
                "completion": usage.completion_tokens,
                "image": usage.image_tokens,
            },
            timings=dict(answer.timings),
        )
