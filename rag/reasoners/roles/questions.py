"""What to look for, read from a question.

Queries, keywords and an anchor event (EgoFact, D.2.3 and D.2.4); entities and events (VideoDetective, D.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeVar

from pydantic import Field

from localization.methods import Position
from rag.reasoners.protocol import BadReply, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, label_of, labels, listed_options
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


def _rewrite_prompt(question: Question) -> RoleCall:
    count = len(question.options) or 1
    return RoleCall({"question": question.text, "options": listed_options(question), "!count": str(count)})


def _rewrite_sanitize(question: Question, reply: RewrittenQuestion) -> RewrittenQuestion:
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


REWRITE_QUESTION = Role(
    "rewrite_question", "planner", Question, RewrittenQuestion, _rewrite_prompt, _rewrite_sanitize
)


class AnchorEvent(Reply):
    """EgoFact, D.2.4: the event to look for, and where the watched part is relative to it."""

    description: str = Field(min_length=1)
    position: Position = "within"
    target: str = ""
    """The event asked for, where it is not the anchor itself; empty where the question does not say."""


def _anchor_prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text})


def _anchor_sanitize(_: Question, reply: AnchorEvent) -> AnchorEvent:
    if not reply.description.strip():
        raise BadReply("description is blank")
    return reply


ANCHOR_EVENT = Role(
    "anchor_event", "planner", Question, AnchorEvent, _anchor_prompt, _anchor_sanitize, reply_tokens=512
)


class Keywords(Reply):
    """Short and concrete, in the order of the question."""

    keywords: tuple[str, ...] = ()


def _keywords_prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text, "options": listed_options(question)})


def _keywords_sanitize(_: Question, reply: Keywords) -> Keywords:
    return reply.model_copy(update={"keywords": distinct(reply.keywords)})


EXTRACT_KEYWORDS = Role(
    "extract_keywords", "planner", Question, Keywords, _keywords_prompt, _keywords_sanitize
)


MOST_KEYWORDS = 5
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing to verify, f_r = (K_r, P_r) (VideoDetective, equation 4)."""

    name: str
    """`question`, or the label of an option."""
    keywords: tuple[str, ...]
    """K_r: names, objects, places, numbers, for exact matching."""
    queries: tuple[str, ...]
    """P_r: descriptions of events, for matching by sense."""


class Facets(Reply):
    """A question taken apart into entities and events (VideoDetective, D.1)."""

    query_keywords: tuple[str, ...] = ()
    option_keywords: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By option label, 2 to 5 each."""
    semantic_queries: dict[str, str] = Field(default_factory=dict)
    """By option label: the event that shows this option to be right."""
    general_semantic_query: str = Field(min_length=1)
    """The event that must happen to answer the question at all."""
    vlm_query: str = ""
    """The question for a model that looks at the frames."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """The question's own facet, then one per option, in the order of labels; none is empty."""
        named = [Facet("question", self.query_keywords, (self.general_semantic_query,))]
        for label in sorted({*self.option_keywords, *self.semantic_queries}):
            query = self.semantic_queries.get(label, "")
            keywords = self.option_keywords.get(label, ())
            if keywords or query:
                named.append(Facet(label, keywords, (query,) if query else ()))
        return tuple(named)


def _facets_prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text, "options": listed_options(question)})


def _facets_sanitize(question: Question, reply: Facets) -> Facets:
    """An option of which nothing is said is looked for by its own text."""
    if not reply.general_semantic_query.strip():
        raise BadReply("general_semantic_query is blank")
    words, queries = _by_label(reply.option_keywords, question), _by_label(reply.semantic_queries, question)
    keywords = {label: distinct(given)[:MOST_KEYWORDS] for label, given in words.items()}
    for label, option in zip(labels(len(question.options)), question.options, strict=True):
        if not keywords.get(label) and not queries.get(label, "").strip():
            queries[label] = option
    changed = {"option_keywords": keywords, "semantic_queries": queries}
    return reply.model_copy(update={"query_keywords": distinct(reply.query_keywords), **changed})


def _by_label(given: Mapping[str, ValueT], question: Question) -> dict[str, ValueT]:
    """The entries whose key names an option, by its label."""
    named = {label_of(key, question.options): value for key, value in given.items()}
    return {label: value for label, value in named.items() if label is not None}


DECOMPOSE_FACETS = Role("decompose_facets", "planner", Question, Facets, _facets_prompt, _facets_sanitize)
