"""One option of a multiple-choice question, with citations."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import label_of, labels, listed_options
from rag.reasoners.roles.reading import Reading, known_citations, passage_items, sample_readings, window_items

OR_NONE = "or null if the material supports none of them"


NEVER_NONE = (
    "never null. Where the material supports none, take the likeliest one, and say so by a low confidence"
)


NONE_OF_THEM = frozenset({"", "null", "none", "n/a", "none of them", "none of the above"})
"""Texts that stand for null."""
MOST_SCORE = 100
"""The largest score that can be a share: percentages come too."""


class ChosenOption(Reply):
    """The option taken, with its citations."""

    choice: str | None
    """A label of the question's options; None where the evidence supports none."""
    scores: tuple[float, ...] = ()
    """Probability per option, summing to 1; empty where the reasoner gives none."""
    confidence: float = Field(ge=0, le=1)
    explanation: str = ""
    windows: tuple[int, ...] = ()
    """Indices into `Reading.windows` that the answer rests on."""
    passages: tuple[int, ...] = ()
    """Indices into `Reading.passages` that the answer rests on."""


def _prompt(reading: Reading) -> RoleCall:
    return RoleCall(
        {
            "question": reading.question.text,
            "options": listed_options(reading.question),
            "anchor": reading.anchor.description,
            "passages": passage_items(reading),
            "!labels": ", ".join(labels(len(reading.question.options))),
            "!otherwise": NEVER_NONE if reading.must_choose else OR_NONE,
        },
        window_items(reading),
    )


def _sanitize(reading: Reading, reply: ChosenOption) -> ChosenOption:
    options = reading.question.options
    known = ", ".join(labels(len(options)))
    choice = None if reply.choice is None else label_of(reply.choice, options)
    if choice is None and reply.choice is not None and reply.choice.strip().casefold() not in NONE_OF_THEM:
        raise BadReply(f"choice {reply.choice[:40]!r} is no label; it must be one of {known} or null")
    if choice is None and reading.must_choose:
        raise BadReply(f"choice must not be null here; it must be one of {known}")
    cited = known_citations(reply.windows, reply.passages, reading)
    return reply.model_copy(
        update={"choice": choice, "scores": _probabilities(reply.scores, len(options)), **cited}
    )


def _probabilities(scores: tuple[float, ...], count: int) -> tuple[float, ...]:
    """The scores, in proportion where they do not sum to 1; empty unless there is one an option."""
    if len(scores) != count or min(scores) < 0 or max(scores) > MOST_SCORE or not any(scores):
        return ()
    whole = math.fsum(scores)
    return scores if abs(whole - 1) <= 0.01 else tuple(score / whole for score in scores)


def _examples() -> Iterator[Example[Reading, ChosenOption]]:
    for name, read in sample_readings(options=True):
        reply = ChosenOption(choice=None, confidence=0.0, explanation="There is nothing to go by.")
        if read.windows:
            reply = ChosenOption(choice="B", confidence=0.9, explanation="As shown.", windows=(0,))
        yield Example(name, read, reply)


ANSWER_CHOICE = Role(
    "answer_choice", "analyst", Reading, ChosenOption, _prompt, _sanitize, examples=_examples
)
