"""What the prompts and checks of several roles share: option labels and cited numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag.questions import option_label
from rag.reasoners.protocol import BadReply

if TYPE_CHECKING:
    from rag.records import Question


def labels(count: int) -> tuple[str, ...]:
    """The first `count` option labels; `QuestionError` beyond Z."""
    return tuple(option_label(index) for index in range(count))


def listed_options(question: Question) -> str:
    """One line an option, `(A) ...`; a word that says so where there are none."""
    named = zip(labels(len(question.options)), question.options, strict=True)
    return "\n".join(f"({label}) {option}" for label, option in named) or "(no options: an open question)"


def check_numbers(kind: str, cited: Sequence[int], count: int) -> None:
    """Raise `BadReply` unless each number is one of 0 to `count` - 1, and none comes twice."""
    unknown = [number for number in cited if not 0 <= number < count]
    if unknown:
        there = f"there are only 0 to {count - 1}" if count else "there are none, so the list must be empty"
        raise BadReply(f"{kind} cites {unknown[:5]}; {there}")
    if len(set(cited)) != len(cited):
        raise BadReply(f"{kind} cites a number twice")


def check_queries(name: str, queries: Sequence[str]) -> None:
    """Raise `BadReply` for a blank query, or one that comes twice."""
    if not all(query.strip() for query in queries):
        raise BadReply(f"{name} holds a blank one")
    if len({query.strip().casefold() for query in queries}) != len(queries):
        raise BadReply(f"{name} repeats itself")
