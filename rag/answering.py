"""The one road of a question: rewrite, retrieve, localize, read, answer. There is no way back up it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Evidence, Frames
from localization.records import Window
from localization.spans import covering_window
from rag.errors import FileProblem
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
    ReadWindow,
    Reasoner,
    RewrittenQuestion,
)
from rag.records import (
    Answer,
    Citation,
    PassageCitation,
    Question,
    ScoredOption,
    VideoCitation,
)
from rag.retrieval import RetrievedClip, RetrievedPassage, Retriever
from rag.settings import Settings
from rag.store.records import ClipFrames, SearchFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING_MATCHES = "Nothing in the library matches this question."
STAGES = ("rewrite", "retrieve", "localize", "read", "answer")
SENTENCE_REACH = 4.0
"""Seconds beyond a window in which words are read too, so that its first and last sentences are whole."""
SAME_BREATH = 2.0
"""Seconds of silence within a quotation, at most: words further apart are said twice, not on."""
QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")
EVERYWHERE = SearchFilter()

ReadFrames = Callable[[str, "NDArray[np.float64]"], Frames]
"""Path and times to upright pixels: the frame on screen at each time. Raises `FileProblem`."""


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 6)
        self._last = now


def answer_question(
    question: Question,
    retriever: Retriever,
    reasoner: Reasoner,
    settings: Settings,
    *,
    read_frames: ReadFrames | None = None,
    where: SearchFilter = EVERYWHERE,
    top_k: int | None = None,
    threshold: float | None = None,
) -> Answer:
    """Answer one question from what the library holds.

    `read_frames` is called only for a reasoner that reads pixels, and only for the frames inside
    the windows (at most `localize.frame_budget` a window). `threshold` (default: the settings')
    is held against the relevance of the best clip or passage and against the confidence of an
    open answer; below it the answer is `NOTHING_MATCHES`, with `matched` False.
    The same question on the same library gives the same answer, timings apart.
    """
    least = settings.search.threshold if threshold is None else threshold
    clock = _Clock()
    reasoner.usage()
    rewritten = reasoner.run(REWRITE_QUESTION, question)
    anchor = reasoner.run(ANCHOR_EVENT, question)
    clock.stop("rewrite")
    clips = retriever.find_clips(question.text, rewritten.visual_query, top_k or settings.search.top_k, where)
    passages = passages_for(question, rewritten, retriever, settings, where)
    clock.stop("retrieve")
    relevance = max([*(c.relevance for c in clips), *(p.relevance for p, _ in passages)], default=0.0)
    details = _details(rewritten, anchor, relevance, least)
    if relevance < least:
        return _unmatched(question, reasoner, clock, details)
    windows = retriever.localize(clips, anchor.description, anchor.position, where, anchor.target)
    clock.stop("localize")
    read, unread = read_windows(clips, windows, retriever, reasoner, settings, read_frames)
    reading = Reading(
        question=question,
        rewritten=rewritten,
        anchor=anchor,
        windows=read,
        passages=tuple(ReadPassage(p.passage, p.path, p.score, option) for p, option in passages),
    )
    if unread:
        details["unread"] = unread
    clock.stop("read")
    reply = reasoner.run(ANSWER_CHOICE, reading) if question.options else reasoner.run(ANSWER_OPEN, reading)
    clock.stop("answer")
    if isinstance(reply, ChosenOption):
        return _chosen(reply, reading, reasoner, clock, details)
    return _open(reply, reading, reasoner, clock, details, least)


def passages_for(
    question: Question,
    rewritten: RewrittenQuestion,
    retriever: Retriever,
    settings: Settings,
    where: SearchFilter,
) -> list[tuple[RetrievedPassage, int | None]]:
    """One passage an option (EgoFact, D.2.3); for an open question the best `top_k`."""
    if not question.options:
        query = rewritten.passage_queries[0] if rewritten.passage_queries else question.text
        return [(found, None) for found in retriever.find_passages(query, settings.search.top_k, where)]
    found: list[tuple[RetrievedPassage, int | None]] = []
    for index, option in enumerate(question.options):
        given = index < len(rewritten.passage_queries)
        query = rewritten.passage_queries[index] if given else f"{question.text} {option}"
        found += [(passage, index) for passage in retriever.find_passages(query, 1, where)]
    return found


def read_windows(
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    retriever: Retriever,
    reasoner: Reasoner,
    settings: Settings,
    read_frames: ReadFrames | None,
) -> tuple[tuple[ReadWindow, ...], list[str]]:
    """What the windows hold, and the paths whose pixels could not be read."""
    budget = settings.localize.frame_budget
    stored = retriever.frames([found.clip.clip_id for found in clips])
    read: list[ReadWindow] = []
    unread: list[str] = []
    for found, window in zip(clips, windows, strict=True):
        vectors = _stored(stored.get(found.clip.clip_id), window, budget)
        pixels = None
        shown = retriever.reader.video(window.video_id).width > 0
        if reasoner.reads_pixels and read_frames is not None and shown:
            try:
                pixels = read_frames(found.path, _spread(window, budget))
            except FileProblem as problem:
                unread.append(f"{found.path}: {problem}")
        read.append(
            ReadWindow(
                path=found.path,
                title=found.title,
                clip=found.clip,
                window=window,
                retrieval_score=found.score,
                texts=_texts(retriever, found, window),
                frame_times=vectors[0] if vectors else None,
                frame_vectors=vectors[1] if vectors else None,
                frames=pixels,
            )
        )
    return tuple(read), unread


def _texts(retriever: Retriever, found: RetrievedClip, window: Window) -> tuple[Evidence, ...]:
    """The words in and just around the window, and the clip's spans that retrieval found, in time order."""
    near = retriever.reader.evidence(
        window.video_id, max(0.0, window.start - SENTENCE_REACH), window.end + SENTENCE_REACH
    )
    texts = dict.fromkeys([*near, *(span.evidence for span in found.spans)])
    return tuple(sorted(texts, key=lambda e: (e.start, e.end, e.kind, e.text)))


def _stored(
    frames: ClipFrames | None, window: Window, budget: int
) -> tuple[NDArray[np.float64], NDArray[np.float32]] | None:
    """Times (m,) and vectors (m, d) inside the window, at most `budget`, evenly chosen."""
    if frames is None:
        return None
    inside = np.flatnonzero((frames.times >= window.start) & (frames.times < window.end))
    if len(inside) > budget:
        inside = inside[np.linspace(0, len(inside) - 1, budget).round().astype(int)]
    return (frames.times[inside], frames.vectors[inside]) if len(inside) else None


def _spread(window: Window, budget: int) -> NDArray[np.float64]:
    """The middles of `budget` equal parts of the window."""
    step = (window.end - window.start) / budget
    return np.round(window.start + step * (np.arange(budget) + 0.5), 6)


def _chosen(
    reply: ChosenOption, reading: Reading, reasoner: Reasoner, clock: _Clock, details: dict[str, Any]
) -> Answer:
    question = reading.question
    labels = [option_label(index) for index in range(len(question.options))]
    if reply.choice is None or reply.choice not in labels:
        return _unmatched(question, reasoner, clock, details, reply.explanation)
    chosen = labels.index(reply.choice)
    scores = reply.scores or tuple(1.0 if i == chosen else 0.0 for i in range(len(labels)))
    return Answer(
        question=question,
        choice=reply.choice,
        text=question.options[chosen],
        confidence=reply.confidence,
        explanation=reply.explanation,
        matched=True,
        citations=_citations(reply.windows, reply.passages, reading, QUOTED.findall(reply.explanation)),
        options=tuple(map(ScoredOption, labels, question.options, scores)),
        usage=reasoner.usage(),
        timings=clock.seconds,
        details=details,
    )


def _open(
    reply: OpenAnswer,
    reading: Reading,
    reasoner: Reasoner,
    clock: _Clock,
    details: dict[str, Any],
    least: float,
) -> Answer:
    if not reply.text.strip() or reply.confidence < least:
        return _unmatched(reading.question, reasoner, clock, details, _too_unsure(reply, least))
    return Answer(
        question=reading.question,
        choice=None,
        text=reply.text,
        confidence=reply.confidence,
        explanation=reply.explanation,
        matched=True,
        citations=_citations(reply.windows, reply.passages, reading, [reply.text]),
        usage=reasoner.usage(),
        timings=clock.seconds,
        details=details,
    )


def _too_unsure(reply: OpenAnswer, least: float) -> str:
    if not reply.text.strip():
        return reply.explanation
    nearest = " ".join(reply.text.split())[:200]
    return f"The best answer found has confidence {reply.confidence:.2f}, below {least:.2f}: “{nearest}”"


def _unmatched(
    question: Question, reasoner: Reasoner, clock: _Clock, details: dict[str, Any], why: str = ""
) -> Answer:
    for stage in STAGES:
        clock.seconds.setdefault(stage, 0.0)
    best = details["relevance"]
    return Answer(
        question=question,
        choice=None,
        text=NOTHING_MATCHES,
        confidence=0.0,
        explanation=why
        or f"The most relevant clip or passage has relevance {best:.2f}, below {details['threshold']:.2f}.",
        matched=False,
        usage=reasoner.usage(),
        timings=clock.seconds,
        details=details,
    )


def _citations(
    windows: Sequence[int], passages: Sequence[int], reading: Reading, quotations: Sequence[str]
) -> tuple[Citation, ...]:
    """Windows first, as read, then passages; one passage once, and nothing that was not read.

    Where the answer, or the explanation of a choice, quotes words of the clip that lie outside its
    window, the window cited is the one that holds them, longer where they take longer: a citation
    must prove what it is cited for.
    """
    cited: list[Citation] = []
    for index in sorted({i for i in windows if 0 <= i < len(reading.windows)}):
        read = reading.windows[index]
        start, end = proving_window(read, quotations)
        inside = tuple(e for e in read.texts if e.start < end and e.end > start)
        cited.append(
            VideoCitation(
                path=read.path,
                video_id=read.window.video_id,
                start=start,
                end=end,
                score=read.retrieval_score,
                evidence=inside,
            )
        )
    held: set[str] = set()
    for index in sorted({i for i in passages if 0 <= i < len(reading.passages)}):
        found = reading.passages[index]
        if found.passage.passage_id not in held:
            held.add(found.passage.passage_id)
            passage = found.passage
            cited.append(
                PassageCitation(found.path, passage.passage_id, passage.title, passage.text, found.score)
            )
    return tuple(cited)


def proving_window(read: ReadWindow, quotations: Sequence[str]) -> tuple[float, float]:
    """[start, end) of the window, or of the one that holds the quoted words."""
    start, end = read.window.start, read.window.end
    said = [folded for folded in map(_folded, quotations) if folded]
    proof = [e for e in read.texts if any(_quotes(words, _folded(e.text)) for words in said)]
    spans = [(e.start, e.end) for e in proof]
    if not spans or all(s < end and e > start for s, e in spans):
        return start, end
    low, high = min(read.clip.start, start), max(read.clip.end, end)
    found = covering_window(spans, [1.0] * len(spans), start=low, end=high, length=end - start)
    if found[2] <= 0:
        return start, end
    begin, until = found[:2]
    if all(s < until and e > begin for s, e in spans):
        return round(begin, 6), round(until, 6)
    spoken = [(e.start, e.end) for e in proof if e.kind in ("subtitle", "asr")]
    for s, e in [*spoken, *reversed(spoken)]:
        if s - SAME_BREATH <= until and e + SAME_BREATH >= begin:
            begin, until = min(begin, max(s, low)), max(until, min(e, high))
    return round(begin, 6), round(until, 6)


def _quotes(said: str, words: str) -> bool:
    return bool(words) and (said in words or (words in said and len(words.split()) > 1))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _details(
    rewritten: RewrittenQuestion, anchor: AnchorEvent, relevance: float, threshold: float
) -> dict[str, Any]:
    return {
        "visual_query": rewritten.visual_query,
        "passage_queries": list(rewritten.passage_queries),
        "anchor": anchor.model_dump(),
        "relevance": relevance,
        "threshold": threshold,
    }
