"""Every role by one road: a prompt file, a call, a reply checked against the role's schema."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from rag.errors import BudgetSpent, ReplyInvalid
from rag.reasoners.llm.ledger import Ledger
from rag.reasoners.llm.messages import ChatClient, Message, Shown
from rag.reasoners.llm.prompts import Material, load_prompt, render
from rag.reasoners.llm.reading import (
    check_chosen_option,
    check_open_answer,
    labels,
    listed_options,
    shown_passages,
    shown_windows,
)
from rag.reasoners.llm.replies import BadReply, parse_reply
from rag.reasoners.roles import AnchorEvent, ChosenOption, OpenAnswer, RewrittenQuestion

if TYPE_CHECKING:
    from rag.config import ReasonerSettings
    from rag.reasoners.roles import Reading
    from rag.records import Question, Usage

__all__ = ["LlmReasoner"]

Reply = TypeVar("Reply", bound=BaseModel)

SHOWN_BACK = 2000
"""Characters of a bad reply that are shown to the model again; a runaway reply is not fed back whole."""


class LlmReasoner:
    """The roles, played by a language model behind a `ChatClient`.

    `settings.max_calls` bounds the calls between two `usage()`: one question's,
    repairs included. Every role may raise `ReasonerUnreachable`, `ReplyInvalid`,
    `BudgetSpent` or another `ReasonerError`. `frame_budget`: frames sent of one window at most.
    """

    def __init__(self, client: ChatClient, settings: ReasonerSettings, frame_budget: int = 15) -> None:
        self.name = client.name
        self.reads_pixels = settings.images
        self._client = client
        self._settings = settings
        self._frame_budget = frame_budget if settings.images else 0
        self._ledger = Ledger()

    def call(
        self,
        role: str,
        variables: Mapping[str, Material],
        reply_model: type[Reply],
        images: Sequence[Shown] | None = None,
        check: Callable[[Reply], object] | None = None,
    ) -> Reply:
        """Play one role once: render its prompt, send it, parse the reply.

        `check` raises `BadReply` for what the schema alone cannot tell. A bad reply is
        sent back with its error at most `settings.repairs` times, then `ReplyInvalid`.
        """
        prompt = load_prompt(role)
        short_side = self._settings.image_short_side
        messages: tuple[Message, ...] = render(prompt, variables, images, short_side=short_side)
        fault, cut = "", False
        for repair in range(self._settings.repairs + 1):
            text, cut = self._send(role, messages, reply_model, repair=repair > 0)
            try:
                reply = parse_reply(text, reply_model)
                if check is not None:
                    check(reply)
                return reply
            except BadReply as error:
                fault = str(error)
                if cut:
                    fault += f" (the reply was cut at {self._settings.max_tokens} tokens; be shorter)"
                messages = (*messages[:2], *_correction(text, fault))
        advice = "raise reasoner.max_tokens" if cut else "use a more able model, or raise reasoner.repairs"
        attempts = self._settings.repairs + 1
        raise ReplyInvalid(
            f"{self.name}: no usable reply for {role} in {attempts} attempts: {fault}; {advice}"
        )

    def _send(
        self, role: str, messages: Sequence[Message], reply_model: type[BaseModel], *, repair: bool
    ) -> tuple[str, bool]:
        limit = self._settings.max_calls
        if self._ledger.calls >= limit:
            raise BudgetSpent(
                f"{self.name}: {limit} calls spent on one question (at {role}); raise reasoner.max_calls"
            )
        self._ledger.begin(role, repair=repair)
        started = time.perf_counter()
        try:
            sent = self._client.send(messages, reply_model.model_json_schema())
        finally:
            self._ledger.spend(role, time.perf_counter() - started)
        self._ledger.record(role, messages, sent)
        return sent.text, sent.cut

    def usage(self) -> Usage:
        """What the calls since the last `usage` cost (keys of `by_role`: `ledger.KEYS`); resets the count."""
        return self._ledger.usage()

    def rewrite_question(self, question: Question) -> RewrittenQuestion:
        count = len(question.options) or 1

        def check(reply: RewrittenQuestion) -> None:
            if len(reply.passage_queries) != count:
                raise BadReply(f"passage_queries has {len(reply.passage_queries)} entries, wanted {count}")
            if not all(query.strip() for query in (reply.visual_query, *reply.passage_queries)):
                raise BadReply("a query is blank")

        return self.call(
            "rewrite_question",
            {"question": question.text, "options": listed_options(question), "!count": str(count)},
            RewrittenQuestion,
            check=check,
        )

    def anchor_event(self, question: Question) -> AnchorEvent:
        def check(reply: AnchorEvent) -> None:
            if not reply.description.strip():
                raise BadReply("description is blank")

        return self.call("anchor_event", {"question": question.text}, AnchorEvent, check=check)

    def answer_choice(self, reading: Reading) -> ChosenOption:
        return self.call(
            "answer_choice",
            {
                "question": reading.question.text,
                "options": listed_options(reading.question),
                "anchor": reading.anchor.description,
                "passages": shown_passages(reading),
                "!labels": ", ".join(labels(len(reading.question.options))),
            },
            ChosenOption,
            images=shown_windows(reading, self._frame_budget),
            check=lambda reply: check_chosen_option(reply, reading),
        )

    def answer_open(self, reading: Reading) -> OpenAnswer:
        return self.call(
            "answer_open",
            {
                "question": reading.question.text,
                "anchor": reading.anchor.description,
                "passages": shown_passages(reading),
            },
            OpenAnswer,
            images=shown_windows(reading, self._frame_budget),
            check=lambda reply: check_open_answer(reply, reading),
        )


def _correction(text: str, fault: str) -> tuple[Message, Message]:
    shown = text[:SHOWN_BACK] if text.strip() else "(empty reply)"
    return (
        Message("assistant", (shown,)),
        Message(
            "user",
            (
                f"That reply cannot be used: {json.dumps(fault, ensure_ascii=False)}. "
                "Reply again with the corrected JSON object and nothing else.",
            ),
        ),
    )
