"""Recall: from cues to searches, by abduction (RACLO, section 3.1.1 and appendix D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.agents.raclo.settings import RacloSettings
from rag.reasoners.roles import IMAGINE_QUERIES, Hypothesis, ImagineRequest, Memory, Reasoner

LONGEST_SEARCH = 200
"""Characters of a cue that is searched for as it stands."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Search queries generated from a memory."""

    queries: tuple[str, ...]
    """Empty: nothing new comes to reasoner."""
    thought: str = ""
    anchors: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    chosen: int | None = None


def recall(reasoner: Reasoner, memory: Memory, tried: Sequence[str], settings: RacloSettings) -> Recalled:
    """At most `queries` searches, none of them tried. Raises `ReasonerError`.

    For another turn more of them are asked for, and what was tried is left out.
    """
    known = {query.casefold() for query in tried}
    if not settings.abduction:
        searches = [_search(cue) for cue in (memory.global_impression, memory.key_moment) if cue.strip()]
        searches += [_search(_all_cues(memory))] if len(searches) < settings.queries else []
        fresh = [query for query in dict.fromkeys(searches) if query.casefold() not in known]
        return Recalled(tuple(fresh[: settings.queries]), "the cues as they were told")
    reply = reasoner.run(IMAGINE_QUERIES, ImagineRequest(memory, settings.queries + len(known)))
    fresh = [query for query in dict.fromkeys(reply.queries) if query.casefold() not in known]
    return Recalled(
        tuple(fresh[: settings.queries]), reply.thought, reply.anchors, reply.hypotheses, reply.chosen
    )


def _search(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_SEARCH else plain[:LONGEST_SEARCH].rsplit(" ", 1)[0]


def _all_cues(memory: Memory) -> str:
    return " ".join(
        (memory.auditory_memory, memory.before, memory.after, memory.key_moment, memory.global_impression)
    )
