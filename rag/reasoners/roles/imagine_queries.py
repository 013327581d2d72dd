"""From fragments of a memory to search queries, by abduction (RACLO, appendix D; ShotFinder, appendix E)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Memory, distinct, memory_text
from rag.reasoners.roles.samples import MEMORY


@dataclass(frozen=True, slots=True)
class ImagineRequest:
    """A memory, and the number of queries to make of it."""

    memory: Memory
    count: int = 2
    """Queries wanted (RACLO, appendix D, and ShotFinder, appendix E: 2)."""


class Hypothesis(Reply):
    """What the whole video may be (RACLO and ShotFinder: the "container")."""

    kind: Literal["literal", "metaphor", "format", "source"]
    """A recording of the very event; footage that stands for an idea; a trend, meme or format; a named
    film, series, game or channel."""
    guess: str = Field(min_length=1)


class ImaginedQueries(Reply):
    """Abductive reasoning from fragments of memory to searches."""

    thought: str = ""
    anchors: tuple[str, ...] = ()
    """Entities, events and sounds that set this video apart."""
    hypotheses: tuple[Hypothesis, ...] = ()
    chosen: int | None = None
    """Index of the likeliest hypothesis; None where there is none."""
    queries: tuple[str, ...] = Field(min_length=1)
    """The best first; nouns and names rather than adjectives."""


def _prompt(request: ImagineRequest) -> RoleCall:
    return RoleCall({"memory": memory_text(request.memory), "!count": str(request.count)})


def _sanitize(request: ImagineRequest, reply: ImaginedQueries) -> ImaginedQueries:
    queries = distinct(reply.queries)[: request.count]
    if not queries:
        raise BadReply("queries holds only blank ones")
    known = reply.chosen is not None and 0 <= reply.chosen < len(reply.hypotheses)
    return reply.model_copy(update={"queries": queries, "chosen": reply.chosen if known else None})


def _examples() -> Iterator[Example[ImagineRequest, ImaginedQueries]]:
    guess = Hypothesis(kind="literal", guess="a workshop video")
    queries = ("telescope workshop", "mirror polishing", "woman cuts bread")
    other = Memory(key_moment="a man cuts bread with a spoon")
    for name, memory, count in (("two", MEMORY, 2), ("three", other, 3), ("nothing remembered", Memory(), 2)):
        reply = ImaginedQueries(thought="A workshop.", hypotheses=(guess,), chosen=0, queries=queries[:count])
        yield Example(name, ImagineRequest(memory, count), reply)


IMAGINE_QUERIES = Role(
    "imagine_queries", "planner", ImagineRequest, ImaginedQueries, _prompt, _sanitize, examples=_examples
)
