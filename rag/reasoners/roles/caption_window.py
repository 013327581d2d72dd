"""The actions that the frames of a window show, for the keywords of a question (EgoFact, 3.1 and D.2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import VideoView, distinct, listed_options, view_item
from rag.reasoners.roles.samples import BARE, CHOICE, EMPTY, OPEN, VIEW
from rag.records import Question


@dataclass(frozen=True, slots=True)
class CaptionRequest:
    """Frames of one window, and what a question asks about."""

    view: VideoView
    keywords: tuple[str, ...] = ()
    """Empty: a caption for no question in particular."""


class WindowCaption(Reply):
    """The main actions, one sentence each, in their order; empty where none can be seen."""

    actions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The numbered list in one line; empty without an action."""
        sentences = [" ".join(action.split()) for action in self.actions if action.strip()]
        return " ".join(f"{number}. {action}" for number, action in enumerate(sentences, 1))


def _prompt(request: CaptionRequest) -> RoleCall:
    return RoleCall({"keywords": ", ".join(request.keywords) or "(none)"}, [view_item("video", request.view)])


def _examples() -> Iterator[Example[CaptionRequest, WindowCaption]]:
    seen = WindowCaption(actions=("The woman lifts the mirror.", "She polishes the mirror."))
    yield Example("keywords", CaptionRequest(VIEW, ("mirror", "woman")), seen)
    yield Example("no question", CaptionRequest(VIEW), seen)
    yield Example("nothing", CaptionRequest(BARE), WindowCaption())


CAPTION_WINDOW = Role(
    "caption_window", "watcher", CaptionRequest, WindowCaption, _prompt, reply_tokens=2048, examples=_examples
)


class Keywords(Reply):
    """Short and concrete, in the order of the question."""

    keywords: tuple[str, ...] = ()


def _keywords_prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text, "options": listed_options(question)})


def _sanitized_keywords(_: Question, reply: Keywords) -> Keywords:
    return reply.model_copy(update={"keywords": distinct(reply.keywords)})


def _keywords_examples() -> Iterator[Example[Question, Keywords]]:
    found = Keywords(keywords=("telescope workshop", "woman", "part"))
    yield Example("choice", CHOICE, found)
    yield Example("open", OPEN, Keywords(keywords=("mirror", "telescope")))
    yield Example("nothing", EMPTY, Keywords())


EXTRACT_KEYWORDS = Role(
    "extract_keywords",
    "planner",
    Question,
    Keywords,
    _keywords_prompt,
    _sanitized_keywords,
    examples=_keywords_examples,
)
