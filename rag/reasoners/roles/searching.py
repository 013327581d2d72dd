"""What is searched for, and what is opened.

By abduction from fragments of a memory (`imagine_queries`: RACLO, appendix D; ShotFinder, appendix E), step
by step (`search_step`: RACLO, 3.1), by a plan of parts of the question (`plan`: Video-Browser, figure 18),
and by the metadata of results alone (`select_candidates`: Video-Browser, section 4.2, stage I).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from corpora.text_decoding import one_line
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import BadReply, Reply, Role, RoleCall
from rag.reasoners.roles.material import Memory, distinct, known_numbers, listed_options, memory_text
from rag.records import Question


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


def _imagine_prompt(request: ImagineRequest) -> RoleCall:
    return RoleCall({"memory": memory_text(request.memory), "!count": str(request.count)})


def _imagine_sanitize(request: ImagineRequest, reply: ImaginedQueries) -> ImaginedQueries:
    queries = distinct(reply.queries)[: request.count]
    if not queries:
        raise BadReply("queries holds only blank ones")
    known = reply.chosen is not None and 0 <= reply.chosen < len(reply.hypotheses)
    return reply.model_copy(update={"queries": queries, "chosen": reply.chosen if known else None})


IMAGINE_QUERIES = Role(
    "imagine_queries", "planner", ImagineRequest, ImaginedQueries, _imagine_prompt, _imagine_sanitize
)


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


def _step_prompt(request: SearchStepRequest) -> RoleCall:
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


def _step_sanitize(request: SearchStepRequest, reply: SearchStep) -> SearchStep:
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


SEARCH_STEP = Role("search_step", "planner", SearchStepRequest, SearchStep, _step_prompt, _step_sanitize)


DESCRIPTION_EXCERPT = 400
"""Characters of a search result's description; the rest is rarely about its content."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One search result by its metadata alone."""

    url: str
    title: str
    description: str = ""
    channel: str = ""
    upload_date: str = ""
    duration: float = 0.0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectRequest:
    """Stage I of pyramidal perception (Video-Browser, section 4.2): no image is looked at."""

    question: str
    sub_question: str
    """What the search was for; the question itself where it was not taken apart."""
    candidates: tuple[Candidate, ...]
    top_k: int = 3


class SelectedCandidates(Reply):
    """The results worth opening."""

    selected: tuple[int, ...]
    """Indices into `candidates`, likeliest first, at most `top_k`, each once; empty: none is worth it."""
    reason: str = ""


def _select_prompt(request: SelectRequest) -> RoleCall:
    items = [
        PromptItem(f"result {index}", listed(candidate)) for index, candidate in enumerate(request.candidates)
    ]
    return RoleCall(
        {
            "question": request.question,
            "sub_question": request.sub_question,
            "candidates": items,
            "!count": str(request.top_k),
        }
    )


def _select_sanitize(request: SelectRequest, reply: SelectedCandidates) -> SelectedCandidates:
    count = len(request.candidates)
    known = known_numbers(reply.selected, count)
    if count and reply.selected and not known:
        raise BadReply(f"selected names {reply.selected[:5]}; there are only 0 to {count - 1}")
    return reply.model_copy(update={"selected": known[: request.top_k]})


def listed(candidate: Candidate) -> str:
    """What a prompt says of a search result: its metadata, a line each."""
    about = candidate.description[:DESCRIPTION_EXCERPT]
    parts = {
        "Title": candidate.title,
        "Channel": candidate.channel,
        "Uploaded": candidate.upload_date,
        "Length": f"{candidate.duration:.0f} s" if candidate.duration else "",
        "Tags": ", ".join(candidate.tags),
        "Description": about,
    }
    return (
        "\n".join(f"{name}: {one_line(text)}" for name, text in parts.items() if text) or "(nothing is told)"
    )


def long_date(date: str) -> str:
    """A day as people write it: "5 March 2024" for 20240305 or 2024-03-05; anything else unchanged."""
    with suppress(ValueError):
        day = datetime.strptime(date.replace("-", ""), "%Y%m%d")
        return f"{day.day} {day:%B %Y}"
    return date


SELECT_CANDIDATES = Role(
    "select_candidates", "planner", SelectRequest, SelectedCandidates, _select_prompt, _select_sanitize
)


@dataclass(frozen=True, slots=True)
class TriedQuery:
    """A query that was sent, and what came of it."""

    query: str
    found: int
    """Results that no query before it had found."""


@dataclass(frozen=True, slots=True)
class KnownVideo:
    """A structured observation o_t: one video that was looked at (Video-Browser, equation 3)."""

    url: str
    title: str
    status: Literal["verified", "watched", "rejected"]
    """`watched`: looked at and not yet verified. A failure is none of these; it is not knowledge."""
    summary: str
    """What was found in it, or why it was rejected."""
    windows: tuple[tuple[float, float], ...] = ()
    """[start, end) seconds that hold the evidence."""
    read: tuple[str, ...] = ()
    """Texts as they are found: channel, date, and what is said and shown in the windows."""


class SubQuestion(Reply):
    """One part of the question, and what is known of it."""

    text: str = Field(min_length=1)
    status: Literal["solved", "partial", "missing"] = "missing"
    finding: str = ""
    """What is known of it so far."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The interaction history H_t (Video-Browser, section 4.1)."""

    question: Question
    sub_questions: tuple[SubQuestion, ...] = ()
    """The parts of the previous plan; empty at the first step."""
    tried: tuple[TriedQuery, ...] = ()
    known: tuple[KnownVideo, ...] = ()
    step: int = 1
    max_steps: int = 5
    max_queries: int = 3


class Plan(Reply):
    """Decomposition, gap analysis, leads followed, and what to search for next (Video-Browser, figure 18)."""

    thought: str = ""
    sub_questions: tuple[SubQuestion, ...] = Field(min_length=1)
    focus: int | None = None
    """Index of the sub-question that the queries are for; None where nothing is left to search."""
    leads: tuple[str, ...] = ()
    """Candidates, entities and clues that videos named, rejected ones included."""
    search_queries: tuple[str, ...] = ()
    """Empty where every sub-question is solved, or nothing is left that was not searched for."""

    @property
    def solved(self) -> bool:
        """True where every sub-question is solved."""
        return all(part.status == "solved" for part in self.sub_questions)


def _plan_prompt(request: PlanRequest) -> RoleCall:
    return RoleCall(
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
            "known": [_video_item(index, video) for index, video in enumerate(request.known)],
            "!step": str(request.step),
            "!steps": str(request.max_steps),
            "!count": str(request.max_queries),
        }
    )


def _plan_sanitize(request: PlanRequest, reply: Plan) -> Plan:
    """Without a new query, a sub-question that is missing is searched for by its own text, once."""
    tried = [tried.query for tried in request.tried]
    missing = [part.text for part in reply.sub_questions if part.status == "missing"]
    queries = distinct(reply.search_queries, tried)[: request.max_queries]
    queries = queries or distinct(missing, tried)[: request.max_queries]
    focus = reply.focus
    if focus is not None and not 0 <= focus < len(reply.sub_questions):
        focus = next((at for at, part in enumerate(reply.sub_questions) if part.status != "solved"), None)
    return reply.model_copy(update={"search_queries": queries, "focus": focus})


def _video_item(index: int, video: KnownVideo) -> PromptItem:
    spans = ", ".join(f"{start:.1f} s to {end:.1f} s" for start, end in video.windows)
    lines = [f"Status: {video.status}", f"Title: {one_line(video.title)}"]
    lines.append(f"Found: {video.summary or '(nothing)'}")
    return PromptItem(f"video {index}", "\n".join([*lines, *([f"At: {spans}"] if spans else [])]))


PLAN = Role("plan", "planner", PlanRequest, Plan, _plan_prompt, _plan_sanitize, reply_tokens=2048)
