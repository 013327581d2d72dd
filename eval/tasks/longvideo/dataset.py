"""Questions with options about long videos, with their gold: synthetic, or from published files."""

from __future__ import annotations

from dataclasses import dataclass

from eval.runs.records import LETTERS, Query, TaskInput


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """One question with its gold."""

    question_id: str
    kind: str
    """The file's own word, or `all`."""
    video: str
    """Its name in the data; of synthetic data, its file's."""
    text: str
    options: tuple[str, ...]
    """As they are shown."""
    answer: str
    """Letter of the right option."""
    order: tuple[int, ...]
    """Shuffled option i was at `order[i]`; the last place is the right one's."""
    window: tuple[float, float]
    """[start, end) seconds, the first where there are several; (0, 0) where it is unknown."""


@dataclass(frozen=True, slots=True)
class LongInput(TaskInput):
    """What a solver sees of a question, and of which video it is."""

    video: str = ""


def query_of(question: LongQuestion) -> Query:
    """One cluster a video. Raises `ValueError` for an answer that no option has."""
    if question.answer not in LETTERS[: len(question.options)]:
        raise ValueError(f"{question.question_id}: no option {question.answer!r}")
    return Query(
        query_id=question.question_id,
        text=question.text,
        options=question.options,
        answer=question.answer,
        family=question.kind,
        video=question.video,
        cluster=question.video,
        window=question.window,
        order=question.order,
    )


def input_of(question: LongQuestion) -> LongInput:
    """What a solver sees of a question."""
    return LongInput(question.question_id, question.text, question.options, question.video)
