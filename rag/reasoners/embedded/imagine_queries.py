"""Searches out of fragments of memory: what the whole is about, then the moment, then what is beside it.

No world knowledge: a title is guessed only where the memory itself names one.
"""

from __future__ import annotations

from rag.reasoners.embedded.phrases import entities, names, query_words, statements
from rag.reasoners.roles.imagine_queries import Hypothesis, ImaginedQueries, ImagineRequest
from rag.words import split_sentences

LONGEST_QUERY, HALF_QUERY, ABOUT = 8, 5, 12
"""Words of a search, of each half of one for two things, and of one for what a video is about."""
MOST_ANCHORS = 6


def imagine_queries(request: ImagineRequest) -> ImaginedQueries:
    """At most `count` different queries; the memory's own words, the most specific first."""
    memory = request.memory
    told = (memory.global_impression, memory.key_moment, memory.before, memory.after, memory.auditory_memory)
    impression, moment, before, after, sound = (" ".join(statements(part)) for part in told)
    beside = f"{before} {after} {sound}".strip()
    whole = " ".join([impression, moment, beside, *statements(memory.constraint)])
    anchors, named = entities(whole, MOST_ANCHORS), names(f"{impression} {moment}")[:2]
    doing = " ".join(split_sentences(moment)[:1])
    found = [
        # A video is listed by what it is as a whole, and by what is done in it with what.
        query_words(". ".join([*named, impression]), ABOUT) if impression else "",
        query_words(" ".join(split_sentences(impression)[1:]), LONGEST_QUERY),
        query_words(doing, LONGEST_QUERY),
        f"{query_words(doing, HALF_QUERY)} {query_words(beside, HALF_QUERY)}".strip(),
        query_words(moment, LONGEST_QUERY),
        query_words(beside, LONGEST_QUERY),
        *anchors,
        query_words(whole, LONGEST_QUERY),
    ]
    queries = tuple(dict.fromkeys(filter(None, found))) or (whole.strip() or "video",)
    guesses = [Hypothesis(kind="source", guess=f"something that is called {name}") for name in named[:1]]
    guesses += [Hypothesis(kind="literal", guess=f"a recording of {query}") for query in queries[:1]]
    return ImaginedQueries(
        thought=f"The memory's own words that set it apart: {', '.join(anchors) or 'none'}.",
        anchors=anchors,
        hypotheses=tuple(guesses),
        chosen=0,
        queries=queries[: max(1, request.count)],
    )
