"""What a language model does for a build, where one is set: events, statements, checks (EgoFact, C.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from eval.tasks.egofact.construction.records import EventFields, EventStructure, FactPassage, Statement
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Reasoner, Reply, Role, RoleCall
from rag.reasoners.roles.material import labels, listed_options
from rag.records import Question


class EventReply(EventFields):
    """C.2.1; an event without an object leaves `patient` empty, a line without an event `rewritten` too."""

    model_config = Reply.model_config


class StatementsReply(Reply):
    """C.2.5, step 2: one fact and three counter-facts, and the activity that they belong to."""

    activity: str = Field(min_length=1)
    fact: str = Field(min_length=1)
    counterfacts: tuple[str, ...] = Field(min_length=3, max_length=3)


class CheckReply(Reply):
    """C.2.5, step 3: a single letter."""

    choice: str


@dataclass(frozen=True)
class CheckRequest:
    """What a language model is asked to check."""

    question: Question
    context_texts: tuple[str, ...]
    """Empty: the question is answered from its own words."""


def _check_prompt(request: CheckRequest) -> RoleCall:
    return RoleCall(
        {
            "question": request.question.text,
            "options": listed_options(request.question),
            "material": [PromptItem(f"text {at}", text) for at, text in enumerate(request.context_texts)],
            "!labels": ", ".join(labels(len(request.question.options))),
        }
    )


def _check_choice(request: CheckRequest, reply: CheckReply) -> None:
    known = labels(len(request.question.options))
    if reply.choice not in known:
        raise BadReply(f"choice must be one of {', '.join(known)}")


def _check_statements(_: FactPassage, reply: StatementsReply) -> None:
    statements = {reply.fact.strip().lower(), *(wrong.strip().lower() for wrong in reply.counterfacts)}
    if len(statements) < 4:
        raise BadReply("the four statements are not four different ones")


PACKAGE = "eval.tasks.egofact.construction"
CHECK_CHOICE = Role(
    "check_choice", "analyst", CheckRequest, CheckReply, _check_prompt, _check_choice, package=PACKAGE
)
EVENT_STRUCTURE = Role(
    "event_structure",
    "analyst",
    str,
    EventReply,
    lambda narration: RoleCall({"narration": narration}),
    package=PACKAGE,
)
WRITE_STATEMENTS = Role(
    "write_statements",
    "analyst",
    FactPassage,
    StatementsReply,
    lambda passage: RoleCall({"object": passage.object, "title": passage.title, "passage": passage.text}),
    _check_statements,
    package=PACKAGE,
)


class LlmCheckReader:
    """A `CheckReader` that asks the model, with the texts or with none."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.name = reasoner.name
        self._reasoner = reasoner

    def answer(self, question: Question, context_texts: Sequence[str]) -> int:
        """The label of the option it chooses."""
        reply = self._reasoner.run(CHECK_CHOICE, CheckRequest(question, tuple(context_texts)))
        self._reasoner.usage()
        return labels(len(question.options)).index(reply.choice)


class BuilderRoles:
    """The three roles over one model; each call counts alone under `reasoner.max_calls`."""

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner
        self.reader = LlmCheckReader(reasoner)

    def parse(self, text: str, start: float, end: float) -> EventStructure | None:
        """A narration into its structure, as `narrations.parse_narration` does by rules."""
        reply = self._reasoner.run(EVENT_STRUCTURE, text)
        self._reasoner.usage()
        if not reply.rewritten.strip() or not reply.action.strip():
            return None
        return EventStructure(**reply.model_dump(), start=start, end=end)

    def write(self, passage: FactPassage) -> FactPassage:
        """The passage with an activity, a fact and three counter-facts."""
        reply = self._reasoner.run(WRITE_STATEMENTS, passage)
        self._reasoner.usage()
        return replace(
            passage, activity=reply.activity, statements=(Statement(reply.fact, reply.counterfacts),)
        )
