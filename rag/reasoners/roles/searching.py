"""The roles that decide what to look for: facets, imagined queries, the plan, and which results to open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from rag.reasoners.roles.replies import Reply
from rag.records import Question

ConstraintKind = Literal["", "temporal", "color", "style", "resolution", "audio"]


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing to verify, f_r = (K_r, P_r) (VideoDetective, equation 4)."""

    name: str
    """`question`, or the label of an option."""
    keywords: tuple[str, ...]
    """K_r: names, objects, places, numbers, for exact matching."""
    queries: tuple[str, ...]
    """P_r: descriptions of events, for matching by sense."""


class Facets(Reply):
    """A question taken apart into entities and events (VideoDetective, D.1)."""

    query_keywords: tuple[str, ...] = ()
    option_keywords: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By option label, 2 to 5 each."""
    semantic_queries: dict[str, str] = Field(default_factory=dict)
    """By option label: the event that shows this option to be right."""
    general_semantic_query: str = Field(min_length=1)
    """The event that must happen to answer the question at all."""
    temporal_plan: str = ""
    """Where in the video to look first, and in which order; empty where the question does not say."""
    vlm_query: str = ""
    """The question as one puts it to somebody who looks at the frames."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """The question's own facet, then one per option, in the order of labels; none is empty."""
        named = [Facet("question", self.query_keywords, (self.general_semantic_query,))]
        for label in sorted({*self.option_keywords, *self.semantic_queries}):
            query = self.semantic_queries.get(label, "")
            keywords = self.option_keywords.get(label, ())
            if keywords or query:
                named.append(Facet(label, keywords, (query,) if query else ()))
        return tuple(named)


@dataclass(frozen=True, slots=True)
class Memory:
    """What one remembers of a video; any part may be empty.

    RVMS-Bench (RACLO, section 2.1) has the first five; a shot of ShotFinder is a `key_moment`
    with at most one constraint.
    """

    global_impression: str = ""
    key_moment: str = ""
    before: str = ""
    """Just before the key moment (temporal context)."""
    after: str = ""
    auditory_memory: str = ""
    constraint_kind: ConstraintKind = ""
    constraint: str = ""


@dataclass(frozen=True, slots=True)
class ImagineRequest:
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

    thought: str
    anchors: tuple[str, ...] = ()
    """Entities, events and sounds that set this video apart."""
    hypotheses: tuple[Hypothesis, ...] = ()
    chosen: int | None = None
    """Index of the likeliest hypothesis; None where there is none."""
    queries: tuple[str, ...] = Field(min_length=1)
    """The best first; nouns and names rather than adjectives."""


@dataclass(frozen=True, slots=True)
class TriedQuery:
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


class SubQuestion(Reply):
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

    thought: str
    sub_questions: tuple[SubQuestion, ...] = Field(min_length=1)
    focus: int | None = None
    """Index of the sub-question that the queries are for; None where nothing is left to search."""
    leads: tuple[str, ...] = ()
    """Candidates, entities and clues that videos named, rejected ones included."""
    search_queries: tuple[str, ...] = ()
    """Empty where every sub-question is solved."""

    @property
    def solved(self) -> bool:
        return all(part.status == "solved" for part in self.sub_questions)

    @model_validator(mode="after")
    def _focus_is_one_of_them(self) -> Self:
        if self.focus is not None and not 0 <= self.focus < len(self.sub_questions):
            raise ValueError(f"focus must be one of 0 to {len(self.sub_questions) - 1}, or null")
        return self


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
    """Stage I of pyramidal perception (Video-Browser, section 4.2): no picture is looked at."""

    question: str
    sub_question: str
    """What the search was for; the question itself where it was not taken apart."""
    candidates: tuple[Candidate, ...]
    top_k: int = 3


class SelectedCandidates(Reply):
    selected: tuple[int, ...] = ()
    """Indices into `candidates`, likeliest first, at most `top_k`, each once; empty: none is worth it."""
    reason: str = ""
