"""What a language model does for a build (EgoFact, appendix C): one role a step, its prompt beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from pydantic import Field

from corpora.records import Frames
from eval.tasks.egofact.construction.records import EventFields, FactPassage
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, label_of, labels, listed_options
from rag.reasoners.roles.samples import CHOICE, VIEW
from rag.records import Question


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One frame of a clip (C.1)."""

    frame: Frames
    """Of one image."""
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


_LINES = "[00:01:30.00] (Scene) A bench with tools.\n[00:01:32.82] (Sound) #C C picks up a mirror."
_PASSAGE = FactPassage("p", "Mirrors", "A mirror is stored dry, at 4 degrees.", "mirror", "")


def _screenshots() -> Iterator[Example[Screenshot, Description]]:
    assert VIEW.frames is not None
    one = Frames(VIEW.frames.times[:1], VIEW.frames.images[:1])
    yield Example("one", Screenshot(one, ("Workshop",)), Description(description="A bench with tools."))


def _narrations() -> Iterator[Example[Timeline, Narration]]:
    both = Narration(concise="the video that shows work at a bench", detailed="the video that shows a bench.")
    yield Example("two lines", Timeline(_LINES, ("Workshop",)), both)


def _keywords() -> Iterator[Example[Timeline, KeywordsReply]]:
    yield Example("two lines", Timeline(_LINES), KeywordsReply(keywords={"bench": 8, "mirror": 6}))


def _events() -> Iterator[Example[str, EventReply]]:
    found = EventReply(
        rewritten="the camera wearer picks up the mirror",
        agent="camera wearer",
        action="pick",
        patient="mirror",
        patient_canonical="mirror",
    )
    yield Example("an event", "#C C picks up a mirror", found)


def _distractors() -> Iterator[Example[AnsweredQuestion, Distractors]]:
    wrong = Distractors(distractors=("drill", "lamp", "cup", "brush", "lens"), score=8)
    yield Example("an object", AnsweredQuestion("What is the object that she polishes?", "mirror"), wrong)


def _statements() -> Iterator[Example[FactPassage, StatementsReply]]:
    written = StatementsReply(
        activity="storing parts",
        fact="It is stored at 4 degrees.",
        counterfacts=("It is stored at 9 degrees.", "It is stored wet.", "It is never stored."),
    )
    yield Example("a passage", _PASSAGE, written)


def _checks() -> Iterator[Example[CheckRequest, CheckReply]]:
    yield Example("a text", CheckRequest(CHOICE, ("It is made of glass.",)), CheckReply(choice="A"))
    yield Example("no text", CheckRequest(CHOICE, ()), CheckReply(choice="B"))


_role = partial(Role, package="eval.tasks.egofact.construction", reply_tokens=4096)

DESCRIBE_SCREENSHOT: Role[Screenshot, Description] = _role(
    "describe_screenshot", "watcher", Screenshot, Description, _screenshot_prompt, examples=_screenshots
)
NARRATE_TIMELINE: Role[Timeline, Narration] = _role(
    "narrate_timeline", "analyst", Timeline, Narration, _timeline_prompt, examples=_narrations
)
TIMELINE_KEYWORDS: Role[Timeline, KeywordsReply] = _role(
    "timeline_keywords",
    "analyst",
    Timeline,
    KeywordsReply,
    _timeline_prompt,
    _known_keywords,
    examples=_keywords,
)
EVENT_STRUCTURE: Role[str, EventReply] = _role(
    "event_structure",
    "analyst",
    str,
    EventReply,
    lambda narration: RoleCall({"narration": narration}),
    examples=_events,
)
WRITE_DISTRACTORS: Role[AnsweredQuestion, Distractors] = _role(
    "write_distractors", "analyst", AnsweredQuestion, Distractors, _distractors_prompt, examples=_distractors
)
WRITE_STATEMENTS: Role[FactPassage, StatementsReply] = _role(
    "write_statements",
    "analyst",
    FactPassage,
    StatementsReply,
    lambda passage: RoleCall({"object": passage.object, "title": passage.title, "passage": passage.text}),
    _four_statements,
    examples=_statements,
)
CHECK_CHOICE: Role[CheckRequest, CheckReply] = _role(
    "check_choice", "analyst", CheckRequest, CheckReply, _check_prompt, _known_choice, examples=_checks
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
