"""The turns of a question's own road."""

from __future__ import annotations

from rag.reasoners.llm.reading import (
    check_chosen_option,
    check_open_answer,
    labels,
    listed_options,
    shown_passages,
    shown_windows,
)
from rag.reasoners.llm.replies import BadReply
from rag.reasoners.llm.turns import Turn
from rag.reasoners.roles import AnchorEvent, ChosenOption, OpenAnswer, Reading, RewrittenQuestion
from rag.records import Question

OR_NONE = "or null if the material supports none of them"
NEVER_NONE = (
    "never null. Where the material supports none, take the likeliest one, and say so by a low confidence"
)


def rewrite_question(question: Question) -> Turn[RewrittenQuestion]:
    count = len(question.options) or 1

    def check(reply: RewrittenQuestion) -> None:
        if len(reply.passage_queries) != count:
            raise BadReply(f"passage_queries has {len(reply.passage_queries)} entries, wanted {count}")
        if not all(query.strip() for query in (reply.visual_query, *reply.passage_queries)):
            raise BadReply("a query is blank")

    variables = {"question": question.text, "options": listed_options(question), "!count": str(count)}
    return Turn("rewrite_question", variables, RewrittenQuestion, check=check)


def anchor_event(question: Question) -> Turn[AnchorEvent]:
    def check(reply: AnchorEvent) -> None:
        if not reply.description.strip():
            raise BadReply("description is blank")

    return Turn("anchor_event", {"question": question.text}, AnchorEvent, check=check)


def answer_choice(reading: Reading, frame_budget: int | None) -> Turn[ChosenOption]:
    return Turn(
        "answer_choice",
        {
            "question": reading.question.text,
            "options": listed_options(reading.question),
            "anchor": reading.anchor.description,
            "passages": shown_passages(reading),
            "!labels": ", ".join(labels(len(reading.question.options))),
            "!otherwise": NEVER_NONE if reading.must_choose else OR_NONE,
        },
        ChosenOption,
        images=shown_windows(reading, frame_budget),
        check=lambda reply: check_chosen_option(reply, reading),
    )


def answer_open(reading: Reading, frame_budget: int | None) -> Turn[OpenAnswer]:
    return Turn(
        "answer_open",
        {
            "question": reading.question.text,
            "anchor": reading.anchor.description,
            "passages": shown_passages(reading),
        },
        OpenAnswer,
        images=shown_windows(reading, frame_budget),
        check=lambda reply: check_open_answer(reply, reading),
    )
