"""The turns that decide what to look for."""

from __future__ import annotations

from collections.abc import Sequence

from rag.reasoners.llm.messages import Shown
from rag.reasoners.llm.reading import check_numbers, labels, listed_options
from rag.reasoners.llm.replies import BadReply
from rag.reasoners.llm.turns import Turn
from rag.reasoners.roles import (
    Candidate,
    Facets,
    ImaginedQueries,
    ImagineRequest,
    KnownVideo,
    Memory,
    Plan,
    PlanRequest,
    SelectedCandidates,
    SelectRequest,
)
from rag.records import Question

SHOWN_DESCRIPTION = 400
"""Characters of a search result's description; the rest is rarely about its content."""
MOST_KEYWORDS = 5


def decompose_facets(question: Question) -> Turn[Facets]:
    known = labels(len(question.options))

    def check(reply: Facets) -> None:
        foreign = sorted({*reply.option_keywords, *reply.semantic_queries} - {*known})
        if foreign:
            raise BadReply(f"{foreign[0][:40]!r} is no label; the labels are {', '.join(known) or 'none'}")
        for label in known:
            words = reply.option_keywords.get(label, ())
            if len(words) > MOST_KEYWORDS:
                raise BadReply(f"option {label} has {len(words)} keywords; give at most {MOST_KEYWORDS}")
            if not any(word.strip() for word in (*words, reply.semantic_queries.get(label, ""))):
                raise BadReply(f"option {label} has neither a keyword nor an event")
        if not reply.general_semantic_query.strip():
            raise BadReply("general_semantic_query is blank")

    variables = {"question": question.text, "options": listed_options(question)}
    return Turn("decompose_facets", variables, Facets, check=check)


def imagine_queries(request: ImagineRequest) -> Turn[ImaginedQueries]:
    def check(reply: ImaginedQueries) -> None:
        _check_queries("queries", reply.queries)
        if len(reply.queries) != request.count:
            raise BadReply(f"queries has {len(reply.queries)} entries, wanted {request.count}")
        if reply.chosen is not None:
            check_numbers("chosen", [reply.chosen], len(reply.hypotheses))

    variables = {"memory": remembered(request.memory), "!count": str(request.count)}
    return Turn("imagine_queries", variables, ImaginedQueries, check=check)


def plan(request: PlanRequest) -> Turn[Plan]:
    def check(reply: Plan) -> None:
        _check_queries("search_queries", reply.search_queries)
        if len(reply.search_queries) > request.max_queries:
            raise BadReply(
                f"search_queries has {len(reply.search_queries)} entries, at most {request.max_queries}"
            )
        if not reply.search_queries and any(part.status == "missing" for part in reply.sub_questions):
            raise BadReply("search_queries is empty while a sub-question is missing")
        again = {tried.query.casefold() for tried in request.tried}
        if repeated := [query for query in reply.search_queries if query.casefold() in again]:
            raise BadReply(f"the query {repeated[0][:80]!r} was tried before; give another one")

    return Turn(
        "plan",
        {
            "question": request.question.text,
            "options": listed_options(request.question),
            "sub_questions": "\n".join(
                f"{index}. ({part.status}) {part.text}" + (f" Found: {part.finding}" if part.finding else "")
                for index, part in enumerate(request.sub_questions)
            )
            or "(none yet)",
            "tried": "\n".join(f"{tried.query} -> {tried.found} new results" for tried in request.tried)
            or "(none yet)",
            "known": [_shown_known(index, video) for index, video in enumerate(request.known)],
            "!step": str(request.step),
            "!steps": str(request.max_steps),
            "!count": str(request.max_queries),
        },
        Plan,
        check=check,
    )


def select_candidates(request: SelectRequest) -> Turn[SelectedCandidates]:
    def check(reply: SelectedCandidates) -> None:
        check_numbers("selected", reply.selected, len(request.candidates))
        if len(reply.selected) > request.top_k:
            raise BadReply(f"selected has {len(reply.selected)} entries, at most {request.top_k}")

    return Turn(
        "select_candidates",
        {
            "question": request.question,
            "sub_question": request.sub_question,
            "candidates": [
                Shown(f"result {index}", _listed(candidate))
                for index, candidate in enumerate(request.candidates)
            ],
            "!count": str(request.top_k),
        },
        SelectedCandidates,
        check=check,
    )


def remembered(memory: Memory) -> str:
    """One line a part that is there."""
    parts = {
        "The video as a whole": memory.global_impression,
        "The moment": memory.key_moment,
        "Just before it": memory.before,
        "Just after it": memory.after,
        "Heard": memory.auditory_memory,
        f"Also asked ({memory.constraint_kind or 'constraint'})": memory.constraint,
    }
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text) or "(nothing)"


def _check_queries(name: str, queries: Sequence[str]) -> None:
    if not all(query.strip() for query in queries):
        raise BadReply(f"{name} holds a blank one")
    if len({query.strip().casefold() for query in queries}) != len(queries):
        raise BadReply(f"{name} repeats itself")


def _shown_known(index: int, video: KnownVideo) -> Shown:
    spans = ", ".join(f"{start:.1f} s to {end:.1f} s" for start, end in video.windows)
    lines = [f"Status: {video.status}", f"Title: {video.title}", f"Found: {video.summary or '(nothing)'}"]
    return Shown(f"video {index}", "\n".join([*lines, *([f"At: {spans}"] if spans else [])]))


def _listed(candidate: Candidate) -> str:
    about = candidate.description[:SHOWN_DESCRIPTION]
    parts = {
        "Title": candidate.title,
        "Channel": candidate.channel,
        "Uploaded": candidate.upload_date,
        "Length": f"{candidate.duration:.0f} s" if candidate.duration else "",
        "Tags": ", ".join(candidate.tags),
        "Description": about,
    }
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text) or "(nothing is told)"
