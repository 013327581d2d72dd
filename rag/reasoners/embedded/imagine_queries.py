"""Searches out of fragments of memory: what the whole is about, then the moment, then what is beside it."""

from __future__ import annotations

from rag.reasoners.embedded.phrases import entities, query_words, statements
from rag.reasoners.roles.imagine_queries import ImaginedQueries, ImagineRequest

SHORT_QUERY, HALF_QUERY, ABOUT = 8, 5, 12
"""Most words of a search, of each half of one for two things, and of one for what a video is about."""
MOST_ANCHORS = 6


def imagine_queries(request: ImagineRequest) -> ImaginedQueries:
    """At most `count` different queries: the memory's own words. What the whole may be is not guessed."""
    memory = request.memory
    impression, moment = statements(memory.global_impression), statements(memory.key_moment)
    beside = " ".join((memory.before, memory.after, memory.auditory_memory))
    whole = " ".join((*impression, *moment, beside, memory.constraint))
    anchors, doing = entities(whole, MOST_ANCHORS), " ".join(moment[:1])
    found = [
        # A video is listed by what it is as a whole, and by what is done in it with what.
        query_words(" ".join(impression), ABOUT),
        query_words(" ".join(impression[1:]), SHORT_QUERY),
        query_words(doing, SHORT_QUERY),
        f"{query_words(doing, HALF_QUERY)} {query_words(beside, HALF_QUERY)}".strip(),
        query_words(" ".join(moment), SHORT_QUERY),
        query_words(beside, SHORT_QUERY),
        *anchors,
        query_words(whole, SHORT_QUERY),
    ]
    queries = tuple(dict.fromkeys(filter(None, found))) or (whole.strip() or "video",)
    return ImaginedQueries(
        thought=f"The memory's own words that set it apart: {', '.join(anchors) or 'none'}.",
        anchors=anchors,
        queries=queries[: max(1, request.count)],
    )
