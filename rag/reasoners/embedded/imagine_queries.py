"""Searches out of fragments of memory, by rules: what is named goes first, then what the whole is about.

No world knowledge: a title is guessed only where the memory itself names one.
"""

from __future__ import annotations

import re

from rag.reasoners.embedded.phrases import entities, names, query_words, sentences_of, statements
from rag.reasoners.roles.imagine_queries import Hypothesis, ImaginedQueries, ImagineRequest

LONGEST_QUERY = 8
HALF_QUERY = 5
"""Words of each half of a search for two things."""
MOST_ANCHORS = 6
ABOUT = 12
"""Words of the search for what a video is about."""
CLAUSE = 4
"""Words of each further sentence of an impression: its first words matter most."""
_MEDIUM = re.compile(
    r"\b(?:(?:first|third)[- ]person|films?|filmed|videos?|clips?|footage|movies?|recorded|"
    r"uploaded|camera)\b",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"\b(?:meme|trend|challenge|tutorial|how[- ]to|review|unboxing|vlog|compilation|trailer|advert\w*|"
    r"commercial|music video|dance|gameplay|documentary|news|interview|time[- ]?lapse|animation|cartoon)\b",
    re.IGNORECASE,
)


def imagine_queries(request: ImagineRequest) -> ImaginedQueries:
    """At most `count` different queries; the memory's own words, the most specific first."""
    memory = request.memory
    parts = [memory.global_impression, memory.key_moment, memory.before, memory.after, memory.auditory_memory]
    plain = [" ".join(statements(part)) for part in (*parts, memory.constraint)]
    whole = ". ".join(part.rstrip(".") for part in plain if part)
    anchors = entities(whole, MOST_ANCHORS)
    hypotheses = _hypotheses(whole, plain[0] or plain[1])
    found = [
        *_of_both(plain[0], plain[1], " ".join(plain[2:5]).strip()),
        *(f"{form.lower()} {query_words(whole, 5)}" for form in _FORMAT.findall(whole)[:1]),
        query_words(f"{plain[2]} {plain[3]}", LONGEST_QUERY),
        query_words(plain[4], LONGEST_QUERY),
        *anchors,
        query_words(whole, LONGEST_QUERY),
    ]
    return ImaginedQueries(
        thought=f"The memory's own words that set it apart: {', '.join(anchors) or 'none'}.",
        anchors=anchors,
        hypotheses=hypotheses,
        chosen=0 if hypotheses else None,
        queries=_different(found, request.count, whole),
    )


def _of_both(impression: str, moment: str, beside: str) -> list[str]:
    """What the video is about with its names, then its course; what is done in a moment, and where.

    A video is listed by what it is as a whole: a moment goes into a search only where no impression is
    given or both of its searches are spent. Titles say what is done with what, hardly ever what stands
    around.
    """
    # What was said names nothing that the video is listed by.
    parts = names(f"{impression} {moment}")[:2]
    doing = " ".join(sentences_of(moment)[:1])
    if impression:
        about = query_words(". ".join([*parts, _topic(impression)]), ABOUT)
        course = " ".join(
            query_words(_topic(part.split(",")[0]), CLAUSE) for part in sentences_of(impression)[1:]
        )
        return [about, query_words(course, LONGEST_QUERY), query_words(doing, LONGEST_QUERY)]
    about = query_words(". ".join([*parts, moment]), LONGEST_QUERY)
    if beside:
        return [about, f"{query_words(doing, HALF_QUERY)} {query_words(beside, HALF_QUERY)}"]
    return [query_words(doing, LONGEST_QUERY), about]


def _topic(text: str) -> str:
    """Without the words that hold of every video."""
    return " ".join(_MEDIUM.sub(" ", text).split())


def _hypotheses(whole: str, about: str) -> tuple[Hypothesis, ...]:
    found = []
    if names_found := names(whole):
        found.append(Hypothesis(kind="source", guess=f"something that is called {names_found[0]}"))
    if form := _FORMAT.search(whole):
        found.append(Hypothesis(kind="format", guess=f"a video of the form “{form[0].lower()}”"))
    if words := query_words(about, LONGEST_QUERY):
        found.append(Hypothesis(kind="literal", guess=f"a recording of {words}"))
    return tuple(found)


def _different(found: list[str], count: int, whole: str) -> tuple[str, ...]:
    plain = [" ".join(query.split()) for query in found]
    first: dict[str, str] = {}
    for query in plain:
        if query:
            first.setdefault(query.casefold(), query)
    kept = list(first.values()) or [" ".join(whole.split()[:LONGEST_QUERY]) or "video"]
    return tuple(kept[: max(1, count)])
