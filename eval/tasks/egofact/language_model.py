"""What a language model does for a build, where one is set: events, statements, checks (EgoFact, C.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from eval.tasks.egofact.records import EventStructure, FactPassage, Statement
from eval.tasks.egofact.schema import EventFields
from rag.questions import option_label
from rag.reasoners.llm.messages import Shown
from rag.reasoners.llm.reading import labels, listed_options
from rag.reasoners.llm.reasoner import LlmReasoner
from rag.reasoners.llm.replies import BadReply
from rag.records import Question


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EventReply(EventFields):
    """C.2.1; an event without an object leaves `patient` empty, a line without an event `rewritten` too."""

    model_config = _Reply.model_config


class StatementsReply(_Reply):
    """C.2.5, step 2: one fact and three counter-facts, and the activity that they belong to."""

    activity: str = Field(min_length=1)
    fact: str = Field(min_length=1)
    counterfacts: tuple[str, ...] = Field(min_length=3, max_length=3)


class CheckReply(_Reply):
    """C.2.5, step 3: a single letter."""

    choice: str


class LlmCheckReader:
    """A `CheckReader` that asks the model, with the texts or with none."""

    def __init__(self, reasoner: LlmReasoner) -> None:
        self.name = reasoner.name
        self._reasoner = reasoner

    def answer(self, question: Question, context_texts: Sequence[str]) -> int:
        known = labels(len(question.options))

        def check(reply: CheckReply) -> None:
            if reply.choice not in known:
                raise BadReply(f"choice must be one of {', '.join(known)}")

        reply = self._reasoner.call(
            "check_choice",
            {
                "question": question.text,
                "options": listed_options(question),
                "material": [Shown(f"text {at}", text) for at, text in enumerate(context_texts)],
                "!labels": ", ".join(known),
            },
            CheckReply,
            check=check,
        )
        self._reasoner.usage()
        return [option_label(at) for at in range(len(known))].index(reply.choice)


class BuilderRoles:
    """The three roles over one model; each call stands alone under `reasoner.max_calls`."""

    def __init__(self, reasoner: LlmReasoner) -> None:
        self._reasoner = reasoner
        self.reader = LlmCheckReader(reasoner)

    def parse(self, text: str, start: float, end: float) -> EventStructure | None:
        """A narration into its structure, as `narrations.parse_narration` does by rules."""
        reply = self._reasoner.call("event_structure", {"narration": text}, EventReply)
        self._reasoner.usage()
        if not reply.rewritten.strip() or not reply.action.strip():
            return None
        return EventStructure(**reply.model_dump(), start=start, end=end)

    def write(self, passage: FactPassage) -> FactPassage:
        """The passage with an activity, a fact and three counter-facts."""

        def check(reply: StatementsReply) -> None:
            told = {reply.fact.strip().lower(), *(wrong.strip().lower() for wrong in reply.counterfacts)}
            if len(told) < 4:
                raise BadReply("the four statements are not four different ones")

        reply = self._reasoner.call(
            "write_statements",
            {"object": passage.object, "title": passage.title, "passage": passage.text},
            StatementsReply,
            check=check,
        )
        self._reasoner.usage()
        told = (Statement(reply.fact, reply.counterfacts),)
        return replace(passage, activity=reply.activity, statements=told)
