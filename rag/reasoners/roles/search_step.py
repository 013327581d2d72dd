"""One step of a search: think, then search again or choose what to open (RACLO, 3.1 and appendix D)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import Memory, distinct, known_numbers, memory_text
from rag.reasoners.roles.samples import MEMORY
from rag.reasoners.roles.select_candidates import Candidate, listed


@dataclass(frozen=True, slots=True)
class SearchObservation:
    """What one search returned."""

    query: str
    results: tuple[Candidate, ...]
    """Best first; empty where nothing was found."""
    failed: bool = False
    """Whether the search itself failed."""


@dataclass(frozen=True, slots=True)
class SearchStepRequest:
    """The state of a search: what is remembered, what was tried, what came of it.

    Results are numbered from 0 through all observations, in order.
    """

    memory: Memory
    observed: tuple[SearchObservation, ...] = ()
    closed: frozenset[str] = frozenset()
    """Addresses that could not be opened, or that hold what another one holds."""
    queries_left: int = 2
    """Searches that may still be made."""
    urls: int = 2
    """Videos opened of each search at most."""

    @property
    def results(self) -> tuple[tuple[str, Candidate], ...]:
        """Query and result, by number."""
        return tuple((one.query, result) for one in self.observed for result in one.results)


class SearchStep(Reply):
    """Thought, then an action: searches, or else results to open."""

    thought: str = ""
    queries: tuple[str, ...] = ()
    """Searches to make next; empty to open results."""
    open: tuple[int, ...] = ()
    """Numbers of results that may be the video, likeliest first; read where there are no `queries`."""


def _prompt(request: SearchStepRequest) -> RoleCall:
    shown, number = [], 0
    for at, one in enumerate(request.observed):
        lines = [f"Query: {one.query}"]
        if one.failed or not one.results:
            lines.append("The search failed." if one.failed else "No results.")
        for result in one.results:
            note = " (cannot be opened)" if result.url in request.closed else ""
            lines.append(f"Result {number}{note}:\n{listed(result)}")
            number += 1
        shown.append(PromptItem(f"search {at}", "\n".join(lines)))
    return RoleCall(
        {
            "memory": memory_text(request.memory),
            "observed": shown,
            "!count": str(request.queries_left),
            "!urls": str(request.urls),
        }
    )


def _sanitize(request: SearchStepRequest, reply: SearchStep) -> SearchStep:
    """Without searches that were made, or that are not left."""
    queries = distinct(reply.queries, [one.query for one in request.observed])[: request.queries_left]
    if not queries and request.queries_left and not request.observed:
        raise BadReply("queries is empty, and nothing was searched for yet")
    known = known_numbers(reply.open, len(request.results))
    if reply.open and not known and not queries:
        raise BadReply(f"open names {reply.open[:5]}; there are {len(request.results)} results, from 0")
    if reply.queries and not queries and not known and request.results:
        raise BadReply("queries holds no search that is new and still left; name results in open")
    return reply.model_copy(update={"queries": queries, "open": known})


def _examples() -> Iterator[Example[SearchStepRequest, SearchStep]]:
    first = SearchStep(thought="A workshop for telescopes.", queries=("telescope workshop",))
    yield Example("first", SearchStepRequest(MEMORY), first)
    yield Example("nothing remembered", SearchStepRequest(Memory()), first)
    results = (Candidate("u0", "Polishing a mirror", channel="Optics"), Candidate("u1", "A bakery"))
    observed = (SearchObservation("telescope workshop", results), SearchObservation("mirror", (), True))
    request = SearchStepRequest(MEMORY, observed, frozenset({"u1"}), 0)
    yield Example("last", request, SearchStep(thought="The first one.", open=(0,)))


SEARCH_STEP = Role(
    "search_step", "planner", SearchStepRequest, SearchStep, _prompt, _sanitize, examples=_examples
)
