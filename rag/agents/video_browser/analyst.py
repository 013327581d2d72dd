"""The analyst: from the accumulated evidence to the final answer (Video-Browser, equation 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from corpora.records import Passage
from rag.agents.video_browser.records import BrowserMemory
from rag.errors import ReasonerError, ReasonerUnreachable
from rag.questions import option_label
from rag.reasoners.roles import (
    ANCHOR_EVENT,
    ANSWER_CHOICE,
    ANSWER_OPEN,
    REWRITE_QUESTION,
    AnchorEvent,
    ChosenOption,
    OpenAnswer,
    Reading,
    ReadPassage,
    Reasoner,
    RewrittenQuestion,
)
from rag.records import Answer, Citation, PassageCitation, Question, ScoredOption, VideoCitation
from rag.web import SearchResult

NO_ANSWER = "Nothing that was found answers the question."
OnError = Callable[[ReasonerError, str], None]
"""Called with an error and the operation that failed."""


def analyse(reasoner: Reasoner, memory: BrowserMemory, *, on_error: OnError | None = None) -> Answer:
    """One call of the analyst over E_total. Raises `ReasonerError`.

    What is looked for is put into other words first. Where that fails, also because only the answer's own
    share of a budget is left, the question's words serve, and `on_error` is called.
    """
    asked = _looked_for(memory)
    rewritten, anchor = _reworded(reasoner, asked, on_error)
    passages = tuple(ReadPassage(summary.passage, summary.url, 1.0, None) for summary in memory.summaries)
    reading = Reading(
        question=memory.question,
        rewritten=rewritten,
        anchor=anchor,
        windows=tuple(memory.evidence),
        passages=passages,
        must_choose=bool(memory.question.options),
    )
    if memory.question.options:
        return _chosen(reading, reasoner.run(ANSWER_CHOICE, reading))
    return _told(reading, reasoner.run(ANSWER_OPEN, reading))


def metadata_passage(result: SearchResult) -> Passage:
    """All that a list of results says of a video, as a passage."""
    parts = {
        "Channel": result.channel,
        "Uploaded": result.upload_date,
        "Tags": ", ".join(result.tags),
        "Description": result.snippet,
    }
    text = ". ".join(f"{name}: {value}" for name, value in parts.items() if value)
    return Passage(f"result:{result.id or result.url}", result.url, result.title, text or result.title)


def _reworded(
    reasoner: Reasoner, asked: Question, on_error: OnError | None
) -> tuple[RewrittenQuestion, AnchorEvent]:
    """Raises `ReasonerUnreachable`: who is gone now will not answer either."""
    rewritten, anchor = RewrittenQuestion(visual_query=asked.text), AnchorEvent(description=asked.text)
    try:
        rewritten = reasoner.run(REWRITE_QUESTION, asked)
        anchor = reasoner.run(ANCHOR_EVENT, asked)
    except ReasonerUnreachable:
        raise
    except ReasonerError as error:
        if on_error is not None:
            on_error(error, "the rewording of the question")
    return rewritten, anchor


def _looked_for(memory: BrowserMemory) -> Question:
    """What must be seen: the last sub-task, which the others lead to; where there is one, the question."""
    if len(memory.sub_questions) < 2:
        return memory.question
    return Question(memory.question.question_id, memory.sub_questions[-1].text, memory.question.options)


def _chosen(reading: Reading, reply: ChosenOption) -> Answer:
    options = reading.question.options
    labels = [option_label(index) for index in range(len(options))]
    text = options[labels.index(reply.choice)] if reply.choice in labels else NO_ANSWER
    scored = zip(labels, options, reply.scores, strict=True) if reply.scores else ()
    return Answer(
        question=reading.question,
        choice=reply.choice,
        text=text,
        confidence=reply.confidence,
        explanation=reply.explanation,
        matched=reply.choice is not None,
        citations=_cited(reading, reply.windows, reply.passages),
        options=tuple(ScoredOption(label, option, score) for label, option, score in scored),
    )


def _told(reading: Reading, reply: OpenAnswer) -> Answer:
    matched = bool(reply.text.strip())
    return Answer(
        question=reading.question,
        choice=None,
        text=reply.text.strip() or NO_ANSWER,
        confidence=reply.confidence if matched else 0.0,
        explanation=reply.explanation,
        matched=matched,
        citations=_cited(reading, reply.windows, reply.passages),
    )


def _cited(reading: Reading, windows: Sequence[int], passages: Sequence[int]) -> tuple[Citation, ...]:
    shown: list[Citation] = []
    for index in windows:
        read = reading.windows[index]
        window = read.window
        shown.append(
            VideoCitation(read.path, window.video_id, window.start, window.end, window.score, read.texts)
        )
    for index in passages:
        found = reading.passages[index]
        passage = found.passage
        shown.append(
            PassageCitation(found.path, passage.passage_id, passage.title, passage.text, found.score)
        )
    return tuple(shown)
