"""What a language model does for a build (EgoFact, appendix C): one role a step, its prompt beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pydantic import Field

from corpora.records import Frames
from eval.tasks.egofact.construction.records import EventFields, FactPassage
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, label_of, labels, listed_options
from rag.records import Question


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One frame of a clip (C.1)."""

    frame: Frames
    """Frames with one image."""
    scenarios: tuple[str, ...] = ()


class Description(Reply):
    """One paragraph."""

    description: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Screenshots as described and events as annotated, in time order (C.1)."""

    text: str
    """A line an entry: `[HH:MM:SS.ss] (Scene) ...` or `(Sound) ...`."""
    scenarios: tuple[str, ...] = ()


class Narration(Reply):
    """C.1: both begin with "the video that shows"."""

    concise: str = Field(min_length=1)
    detailed: str = Field(min_length=1)


class KeywordsReply(Reply):
    """C.1: keyword to relevance, 1 to 10."""

    keywords: dict[str, float] = Field(min_length=1)


class EventReply(EventFields):
    """C.2.1; an event without an object leaves `patient` empty, a line without an event `rewritten` too."""

    model_config = Reply.model_config


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A one-hop question with its right answer, before it has options (C.2.4)."""

    question: str
    answer: str
    context: str = ""
    """The detailed narration of the clip; empty where there is none."""


class Distractors(Reply):
    """C.2.4: five wrong options (of more, the first are taken), and the quality of the question."""

    distractors: tuple[str, ...] = Field(min_length=5, json_schema_extra={"maxItems": 5})
    reasoning: str = ""
    score: float = Field(ge=0, le=10)


class StatementsReply(Reply):
    """C.2.5, step 2: one fact, three counter-facts (of more, the first) and the activity they belong to."""

    activity: str = Field(min_length=1)
    fact: str = Field(min_length=1)
    counterfacts: tuple[str, ...] = Field(min_length=3, json_schema_extra={"maxItems": 3})


class CheckReply(Reply):
    """C.2.5, step 3: a single letter."""

    choice: str


@dataclass(frozen=True)
class CheckRequest:
    """What a language model is asked to check."""

    question: Question
    context_texts: tuple[str, ...]
    """Empty: the question is answered from its own words."""


def _screenshot_prompt(request: Screenshot) -> RoleCall:
    item = PromptItem("screenshot", "A frame of the video.", tuple(request.frame.images[:1]))
    return RoleCall({"scenarios": ", ".join(request.scenarios) or "(none)"}, [item])


def _timeline_prompt(request: Timeline) -> RoleCall:
    return RoleCall({"scenarios": ", ".join(request.scenarios) or "(none)", "timeline": request.text})


def _distractors_prompt(request: AnsweredQuestion) -> RoleCall:
    return RoleCall(
        {"question": request.question, "answer": request.answer, "context": request.context or "(none)"}
    )


def _check_prompt(request: CheckRequest) -> RoleCall:
    return RoleCall(
        {
            "question": request.question.text,
            "options": listed_options(request.question),
            "material": [PromptItem(f"text {at}", text) for at, text in enumerate(request.context_texts)],
            "!labels": ", ".join(labels(len(request.question.options))),
        }
    )


def _known_choice(request: CheckRequest, reply: CheckReply) -> CheckReply:
    choice = label_of(reply.choice, request.question.options)
    if choice is None:
        raise BadReply(f"choice must be one of {', '.join(labels(len(request.question.options)))}")
    return reply.model_copy(update={"choice": choice})


def _four_statements(_: FactPassage, reply: StatementsReply) -> StatementsReply:
    three = distinct(reply.counterfacts, [reply.fact])[:3]
    if len(three) < 3 or not reply.fact.strip():
        raise BadReply("the four statements are not four different ones")
    return reply.model_copy(update={"counterfacts": three})


def _known_keywords(_: Timeline, reply: KeywordsReply) -> KeywordsReply:
    kept = {word: min(max(value, 1.0), 10.0) for word, value in reply.keywords.items() if word.strip()}
    if not kept:
        raise BadReply("keywords holds only blank ones")
    return reply.model_copy(update={"keywords": kept})


_role = partial(Role, package="eval.tasks.egofact.construction", reply_tokens=4096)

DESCRIBE_SCREENSHOT: Role[Screenshot, Description] = _role(
    "describe_screenshot", "watcher", Screenshot, Description, _screenshot_prompt
)
NARRATE_TIMELINE: Role[Timeline, Narration] = _role(
    "narrate_timeline", "analyst", Timeline, Narration, _timeline_prompt
)
TIMELINE_KEYWORDS: Role[Timeline, KeywordsReply] = _role(
    "timeline_keywords", "analyst", Timeline, KeywordsReply, _timeline_prompt, _known_keywords
)
EVENT_STRUCTURE: Role[str, EventReply] = _role(
    "event_structure", "analyst", str, EventReply, lambda narration: RoleCall({"narration": narration})
)
WRITE_DISTRACTORS: Role[AnsweredQuestion, Distractors] = _role(
    "write_distractors", "analyst", AnsweredQuestion, Distractors, _distractors_prompt
)
WRITE_STATEMENTS: Role[FactPassage, StatementsReply] = _role(
    "write_statements",
    "analyst",
    FactPassage,
    StatementsReply,
    lambda passage: RoleCall({"object": passage.object, "title": passage.title, "passage": passage.text}),
    _four_statements,
)
CHECK_CHOICE: Role[CheckRequest, CheckReply] = _role(
    "check_choice", "analyst", CheckRequest, CheckReply, _check_prompt, _known_choice
)
BUILD_ROLES = (
    DESCRIBE_SCREENSHOT,
    NARRATE_TIMELINE,
    TIMELINE_KEYWORDS,
    EVENT_STRUCTURE,
    WRITE_DISTRACTORS,
    WRITE_STATEMENTS,
    CHECK_CHOICE,
)
"""In the order in which a build runs them."""
