"""A question as queries: one visual sentence, one passage query per option (EgoFact, D.2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import listed_options
from rag.reasoners.roles.samples import QUESTIONS
from rag.records import Question


class RewrittenQuestion(Reply):
    """EgoFact, D.2.3: one visual sentence, and one passage query per option."""

    visual_query: str = Field(min_length=1)
    passage_queries: tuple[str, ...] = ()
    """One per option, in order; one for an open question."""
    by_option: bool = False
    """Whether each option is an event to be found by itself, since the question names none ("Which of these
    happens first?")."""
    counted: str = ""
    """The event of a question how often it happens in a whole video; empty for any other question."""


def _prompt(question: Question) -> RoleCall:
    count = len(question.options) or 1
    return RoleCall({"question": question.text, "options": listed_options(question), "!count": str(count)})


def _sanitize(question: Question, reply: RewrittenQuestion) -> RewrittenQuestion:
    """A passage query that is blank or not there is the option itself, or the open question; one option alone
    is not looked for by itself."""
    if not reply.visual_query.strip():
        raise BadReply("visual_query is blank")
    pairs = zip_longest(question.options or (question.text,), reply.passage_queries)
    wanted = islice(pairs, len(question.options) or 1)
    queries = tuple(
        query if query and query.strip() else option if option.strip() else question.text
        for option, query in wanted
    )
    by_option = reply.by_option and len(question.options) > 1
    return reply.model_copy(update={"passage_queries": queries, "by_option": by_option})


def _examples() -> Iterator[Example[Question, RewrittenQuestion]]:
    for question in QUESTIONS:
        queries = tuple(f"A passage about this: {text}" for text in question.options or (question.text,))
        reply = RewrittenQuestion(visual_query="A video of a telescope workshop.", passage_queries=queries)
        yield Example(question.question_id, question, reply)


REWRITE_QUESTION = Role(
    "rewrite_question", "planner", Question, RewrittenQuestion, _prompt, _sanitize, examples=_examples
)
