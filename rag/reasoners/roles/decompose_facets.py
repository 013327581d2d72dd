"""A question taken apart into entities and events (VideoDetective, D.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, label_of, labels, listed_options
from rag.reasoners.roles.samples import CHOICE, EMPTY, OPEN
from rag.records import Question

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


def _prompt(question: Question) -> RoleCall:
    return RoleCall({"question": question.text, "options": listed_options(question)})


def _sanitize(question: Question, reply: Facets) -> Facets:
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


def _examples() -> Iterator[Example[Question, Facets]]:
    for name, question in (("choice", CHOICE), ("open", OPEN), ("nothing asked", EMPTY)):
        known = labels(len(question.options))
        reply = Facets(
            query_keywords=("mirror",),
            option_keywords=dict.fromkeys(known, ("glass",)),
            semantic_queries=dict.fromkeys(known, "the mirror is polished"),
            general_semantic_query="a person polishes a mirror",
        )
        yield Example(name, question, reply)


DECOMPOSE_FACETS = Role(
    "decompose_facets", "planner", Question, Facets, _prompt, _sanitize, examples=_examples
)
