"""The concrete keywords of a question, which guide the captions of its windows (EgoFact, D.2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, listed_options
from rag.reasoners.roles.samples import CHOICE, EMPTY, OPEN
from rag.records import Question


class Keywords(Reply):
    """Short and concrete, in the order of the question."""

    keywords: tuple[str, ...] = ()


def _prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text, "options": listed_options(question)})


def _sanitize(_: Question, reply: Keywords) -> Keywords:
    return reply.model_copy(update={"keywords": distinct(reply.keywords)})


def _examples() -> Iterator[Example[Question, Keywords]]:
    found = Keywords(keywords=("telescope workshop", "woman", "part"))
    yield Example("choice", CHOICE, found)
    yield Example("open", OPEN, Keywords(keywords=("mirror", "telescope")))
    yield Example("nothing", EMPTY, Keywords())


EXTRACT_KEYWORDS = Role(
    "extract_keywords", "planner", Question, Keywords, _prompt, _sanitize, examples=_examples
)
