"""What Video-Browser keeps while it works, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field

from corpora.records import Passage
from rag.agents.runtime.trace import Step
from rag.reasoners.roles import KnownVideo, ReadWindow, SubQuestion, TriedQuery
from rag.records import Answer, Question, Usage
from rag.web import SearchResult


@dataclass(frozen=True, slots=True)
class Summary:
    """A video put into words (the summarization paradigm), or a page of text."""

    url: str
    passage: Passage


@dataclass
class BrowserMemory:
    """M: the history H_t and the evidence E_total, shared by planner, watcher and analyst (section 4.1)."""

    question: Question
    sub_questions: tuple[SubQuestion, ...] = ()
    focus: str = ""
    """The sub-task s_t that is being searched for, with the first query of q_t where that says more."""
    tried: list[TriedQuery] = field(default_factory=list)
    known: list[KnownVideo] = field(default_factory=list)
    seen: dict[str, SearchResult] = field(default_factory=dict)
    """Every result met so far, by address."""
    spent: set[str] = field(default_factory=set)
    """Addresses that were watched, or failed for good."""
    contents: set[str] = field(default_factory=set)
    """Content ids that were watched: a re-upload of the same bytes adds nothing."""
    evidence: list[ReadWindow] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BrowseRun:
    """What came of one question."""

    answer: Answer
    """Citations name the address of the video as their path. Without an answer, `matched` is False."""
    failure: str
    """Empty, or the name of the error that kept it from an answer: `BudgetSpent`, `ReplyInvalid`, ..."""
    failures: tuple[str, ...]
    """Names of all errors met on the way, those that were got over included. A call that was repeated and
    then answered is none; the trace of the web has it."""
    sub_questions: tuple[SubQuestion, ...]
    watched: tuple[KnownVideo, ...]
    evidence: tuple[ReadWindow, ...]
    """E_total as the analyst saw it."""
    loops: int
    """Search loops begun."""
    searches: int
    """Calls of the search engine, repeated ones included."""
    tokens: int
    """All tokens of all calls, prompts and replies."""
    sparse_image_tokens: int
    """Of these, those of frames in the sparse stage: nothing where stored vectors stood in."""
    context: int
    """Tokens of the last prompt that the analyst was given; of a repair, where there was one."""
    steps: tuple[Step, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the answer has evidence."""
        return self.answer.matched

    @property
    def usage(self) -> Usage:
        """Tokens and calls of the run."""
        return self.answer.usage
