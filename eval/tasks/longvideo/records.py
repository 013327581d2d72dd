"""A question about a long film, as it is built, kept and asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from eval.runs.records import LETTERS, Query

Kind = Literal["needle", "order", "count", "cause", "text", "spoken"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""A short event among hundreds; which of four comes first or last; how often; why something is as it is;
what can be read; what is said."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its options are shuffled."""

    kind: Kind
    text: str
    right: str
    wrong: tuple[str, ...]
    window: tuple[float, float]
    """[start, end) seconds of the film that decide it; for a count, the whole film."""


@dataclass(frozen=True, slots=True)
class LongQuestion:
    question_id: str
    kind: str
    """One of `KINDS` in the drawn benchmark; the file's own word, or `all`, in a table from elsewhere."""
    video: str
    """File name, relative to the folder of videos."""
    text: str
    options: tuple[str, ...]
    """As they are shown."""
    answer: str
    """Letter of the right option."""
    order: tuple[int, ...]
    """Shuffled option i stood at `order[i]`; the last place is the right one's."""
    window: tuple[float, float]
    """[start, end) seconds; (0, 0) where it is not known."""


def as_query(question: LongQuestion) -> Query:
    """For the run folders: one cluster a film."""
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
