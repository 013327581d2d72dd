"""What is known, what is missing, and what to search for next (Video-Browser, figure 18)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from corpora.text_decoding import one_line
from rag.reasoners.prompts import PromptItem
from rag.reasoners.protocol import Example, Reply, Role, RoleCall
from rag.reasoners.roles.material import distinct, listed_options
from rag.reasoners.roles.samples import OPEN
from rag.records import Question


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
    """Of the plan before this one; empty at the first step."""
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


def _prompt(request: PlanRequest) -> RoleCall:
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


def _sanitize(request: PlanRequest, reply: Plan) -> Plan:
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


def _examples() -> Iterator[Example[PlanRequest, Plan]]:
    part = SubQuestion(text="What is the mirror of the telescope made of?")
    found = SubQuestion(text=part.text, status="solved", finding="Borosilicate glass.")
    maker = SubQuestion(text="Who made the telescope?")
    known = (
        KnownVideo("u1", "Telescope workshop", "verified", "The mirror is of borosilicate glass.", ((1, 4),)),
        KnownVideo("u2", "Bread", "rejected", "Only bread is cut.", read=("The knife is an Opinel.",)),
    )
    tried = (TriedQuery("telescope mirror", 4),)
    first = Plan(thought="One part.", sub_questions=(part,), focus=0, search_queries=("mirror material",))
    last = Plan(thought="It is found.", sub_questions=(found,))
    next_one = Plan(
        thought="The maker is missing.",
        sub_questions=(found, maker),
        focus=1,
        leads=("Opinel",),
        search_queries=("telescope maker",),
    )
    later = PlanRequest(OPEN, (part, maker), tried, known, step=2, max_queries=2)
    yield Example("first", PlanRequest(OPEN), first)
    yield Example("later", later, next_one)
    yield Example("last step", PlanRequest(OPEN, tried=(TriedQuery("x", 0),), step=5), last)


PLAN = Role("plan", "planner", PlanRequest, Plan, _prompt, _sanitize, reply_tokens=2048, examples=_examples)
