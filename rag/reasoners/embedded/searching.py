"""What is searched for and which results are opened: the planner, the picker, and searches from memory.

The planner knows parts of the question, what is known of each, and leads (Video-Browser, figure 18). A part
is solved where a verified video's finding speaks to it, partial where a watched one does. A part after the
first is searched with what the videos named that the question does not. At the last step all missing parts
are searched at once. Results are picked by their metadata alone (section 4.2, stage I).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from rag.reasoners.embedded.phrases import entities, query_words, statements
from rag.reasoners.embedded.scoring import SentenceVectors, relevances
from rag.reasoners.roles.searching import (
    Candidate,
    ImaginedQueries,
    ImagineRequest,
    KnownVideo,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
    SubQuestion,
    long_date,
)
from rag.words import content_words, split_sentences, word_set

MIN_RELEVANCE = 0.5
"""Relevance of a finding from which it speaks to a part (`text_relevance`: answerable ones are above)."""
MIN_WORDS, MOST_PARTS = 2, 5
"""Words of meaning that a part must have to be looked for by itself, and parts of a question."""
MOST_LEADS = 6
STATUSES = ("verified", "watched", "rejected")
"""Of videos, in the order in which they are followed."""
MOST_LINES = 24
"""Last sentences that are compared with a part: those of videos that were searched for it."""


def plan(request: PlanRequest, vectors: SentenceVectors) -> Plan:
    """Update the sub-questions, and give at most `max_queries` new queries."""
    known = " ".join([request.question.text, *request.question.options])
    texts = [part.text for part in request.sub_questions] or decompose(request.question.text)
    subs = tuple(_known(text, request.known, vectors) for text in texts)
    videos = [video for status in STATUSES for video in reversed(request.known) if video.status == status]
    # Not the summaries: they also hold messages ("no frame fits").
    named = (entities(text, MOST_LEADS, known) for video in videos for text in video.read)
    leads = tuple(dict.fromkeys(chain.from_iterable(named)))[:MOST_LEADS]
    # What is partial waits for videos that were watched: to search on would only add others.
    missing = [at for at, part in enumerate(subs) if part.status == "missing"]
    searched = missing if request.step >= request.max_steps else missing[:1]
    per_part = [_queries(texts[at], leads, opening=at > 0) for at in searched]
    # The first of each, then the second of each, and so on.
    queries = [*chain.from_iterable(zip_longest(*per_part, fillvalue="")), request.question.text]
    return Plan(
        thought=" ".join(f"{at + 1}. {part.text} [{part.status}]" for at, part in enumerate(subs)),
        sub_questions=subs,
        focus=missing[0] if missing else None,
        leads=leads,
        search_queries=_untried(queries, request) if missing else (),
    )


def decompose(question: str) -> list[str]:
    """At most five parts in the order in which they must be found: sentences, and what a semicolon parts.

    A part that says too little goes with the one before it.
    """
    found: list[str] = []
    for part in chain.from_iterable(sentence.split("; ") for sentence in split_sentences(question)):
        if found and (len(content_words(part)) < MIN_WORDS or len(found) == MOST_PARTS):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found or ["the question"]


def _known(text: str, known: Sequence[KnownVideo], vectors: SentenceVectors) -> SubQuestion:
    """What the videos say of one part: verified ones first."""
    for status, solves in (("verified", "solved"), ("watched", "partial")):
        summaries = [video.summary for video in known if video.status == status]
        sentences = [one for summary in summaries for one in split_sentences(summary)][-MOST_LINES:]
        scores = relevances(text, sentences, vectors)
        if scores and max(scores) >= MIN_RELEVANCE:
            return SubQuestion(text=text, status=solves, finding=sentences[scores.index(max(scores))])
    return SubQuestion(text=text)


def _queries(text: str, leads: Sequence[str], *, opening: bool) -> list[str]:
    """Of one part, the most specific first. `opening`: the leads open the queries."""
    beside = [f"{lead} {text}" for lead in leads]
    own = [text, *entities(text, MOST_LEADS)]
    return [*beside, *own] if opening else [*own, *beside]


def _untried(queries: Iterable[str], request: PlanRequest) -> tuple[str, ...]:
    """None that was tried, none twice: words in another order are the same query to a search engine."""
    seen = {frozenset[str](), *(word_set(tried.query) for tried in request.tried)}
    found: list[str] = []
    for query in map(query_words, queries):
        stems = word_set(query)
        if stems not in seen:
            seen.add(stems)
            found.append(query)
    return tuple(found[: request.max_queries])


NEAR = 0.8
"""Share of the best relevance from which a result is worth opening beside it."""
LEAST = 0.05
"""Relevance below which a result says nothing of what is asked for: names and unrelated words reach 0.04."""
DESCRIPTION = 300


def select_candidates(request: SelectRequest, vectors: SentenceVectors) -> SelectedCandidates:
    """At most `top_k`, those near the best relevance, and in the engine's order those of which nothing but
    a name is known, as of files."""
    texts = [_metadata(candidate) for candidate in request.candidates]
    values = relevances(request.sub_question or request.question, texts, vectors)
    least = max(LEAST, NEAR * max(values, default=0.0))
    ordered = sorted(range(len(texts)), key=lambda at: -values[at])
    named = [at for at, one in enumerate(request.candidates) if not _is_described(one)]
    chosen = [*(at for at in ordered if values[at] >= least and at not in named), *named][: request.top_k]
    best = f"; the best is “{request.candidates[chosen[0]].title}”" if chosen else ""
    return SelectedCandidates(
        selected=tuple(chosen),
        reason=f"Ranked {len(texts)} results by how well their metadata fit in words and sense{best}.",
    )


def _is_described(one: Candidate) -> bool:
    return bool(one.description or one.channel or one.upload_date or one.tags)


def _metadata(candidate: Candidate) -> str:
    about, tags = candidate.description[:DESCRIPTION], ", ".join(candidate.tags)
    parts = (candidate.title, about, tags, candidate.channel, long_date(candidate.upload_date))
    return ". ".join(" ".join(part.split()) for part in parts if part.strip()) or "untitled"


SHORT_QUERY, HALF_QUERY, ABOUT = 8, 5, 12
"""Most words of a search, of each half of one for two things, and of one for what a video is about."""
MOST_ANCHORS = 6


def imagine_queries(request: ImagineRequest) -> ImaginedQueries:
    """At most `count` different queries: the memory's own words. What the whole may be is not guessed."""
    memory = request.memory
    impression, moment = statements(memory.global_impression), statements(memory.key_moment)
    beside = " ".join((memory.before, memory.after, memory.auditory_memory))
    whole = " ".join((*impression, *moment, beside, memory.constraint))
    anchors = entities(whole, MOST_ANCHORS)
    # "I am looking for a clip." says too little to be searched for.
    most = max((len(content_words(one)) for one in moment), default=0)
    doing = next((one for one in moment if 2 * len(content_words(one)) >= most), "")
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
