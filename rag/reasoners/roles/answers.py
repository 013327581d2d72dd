"""Roles that answer: an option, words from what was read, or words without a video; with citations.

`answer_unaided` is that of Video-Browser's tool-free and search-augmented baselines (section 5.2, prompt of
figure 6): from what the model knows, and from passages where a search gave some.
"""

from __future__ import annotations

import math

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from rag.reasoners.protocol import BadReply, Reply, Role, RoleCall
from rag.reasoners.roles.material import label_of, labels, listed_options
from rag.reasoners.roles.reading import Reading, known_citations, passage_items, window_items

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


def _choice_prompt(reading: Reading) -> RoleCall:
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


def _choice_sanitize(reading: Reading, reply: ChosenOption) -> ChosenOption:
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


ANSWER_CHOICE = Role("answer_choice", "analyst", Reading, ChosenOption, _choice_prompt, _choice_sanitize)


class OpenAnswer(Reply):
    """A short answer in words, with its citations."""

    text: str
    """Empty where the evidence holds no answer."""
    confidence: float = Field(ge=0, le=1)
    explanation: str = ""
    windows: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()
    nearest: SkipJsonSchema[tuple[str, ...]] = ()
    """Texts of the evidence to look at where it is no answer, the best first; no language model is asked."""


def _open_prompt(reading: Reading) -> RoleCall:
    return RoleCall(
        {
            "question": reading.question.text,
            "anchor": reading.anchor.description,
            "passages": passage_items(reading),
        },
        window_items(reading),
    )


def _open_sanitize(reading: Reading, reply: OpenAnswer) -> OpenAnswer:
    return reply.model_copy(update=known_citations(reply.windows, reply.passages, reading))


ANSWER_OPEN = Role("answer_open", "analyst", Reading, OpenAnswer, _open_prompt, _open_sanitize)


def _unaided_prompt(reading: Reading) -> RoleCall:
    return RoleCall({"question": reading.question.text, "passages": passage_items(reading)})


ANSWER_UNAIDED = Role("answer_unaided", "analyst", Reading, OpenAnswer, _unaided_prompt, _open_sanitize)
