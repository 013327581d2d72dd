"""How a question is answered: a pipeline of stages, each a function that can be replaced.

    rewrite             the question -> a visual query, a passage query per option, the anchor event
    retrieve_clips      the clips whose images and text match best
    retrieve_passages   one passage per option, or the best ones of an open question
    localize            the few seconds to watch of each clip, from stored frame vectors
    sample_frames       the frames of each window; decoded only for a reasoner that reads pixels
    read                windows with their frames and text, and passages, as one `Reading`
    caption             captions in place of the frames, where `reasoner.answer_from` says so
    answer              the reasoner's reply to it
    cite                the windows and passages that the reply rests on

Before `localize`, the relevance of the best clip or passage is held against the threshold: below it
nothing in the library matches, unless a sentence of a passage comes near an open question. Each stage takes
the `Context` of the question and the results of stages before it. `replace(Pipeline(), localize=...)` is
another system over the same other stages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import reason_of
from corpora.records import Evidence, Frames
from localization.sampling import frames_inside, midpoints
from localization.windows import Window
from rag.citations import answer_by_images, cite, nearest, place_of_text, quotation, with_what_is_seen
from rag.errors import FileProblem, Unanswered
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.answers import ANSWER_CHOICE, ANSWER_OPEN, ChosenOption, OpenAnswer
from rag.reasoners.roles.material import VideoView, labels
from rag.reasoners.roles.questions import (
    ANCHOR_EVENT,
    EXTRACT_KEYWORDS,
    REWRITE_QUESTION,
    AnchorEvent,
    RewrittenQuestion,
)
from rag.reasoners.roles.reading import Reading, ReadPassage, ReadWindow
from rag.reasoners.roles.watching import CAPTION_WINDOW, CaptionRequest
from rag.records import Answer, Citation, Question, ScoredOption, SearchFilter, VideoInterval, rounded_down
from rag.retrieval import RetrievedClip, RetrievedPassage, Retriever, events
from rag.retrieval.ranking import judged_by_sentence
from rag.retrieval.spelling import in_place, respelled
from rag.settings import Settings
from rag.store.finding import advice_to_fill
from rag.store.lookup import whole_file
from rag.words import content_words, lexical_overlap, word_set

NOTHING_MATCHES = "Nothing in the library matches this question."
NOT_SURE = "Not sure: the library comes near this question, and does not surely answer it."
STAGES = ("rewrite", "retrieve", "localize", "read", "answer")
"""What is timed: `retrieve` is both retrievals, `read` includes frames and captions, `answer` citations."""
SENTENCE_REACH = 4.0
"""Seconds beyond a window in which text is read too, so that its first and last sentences are whole."""
EVERYWHERE = SearchFilter()
OPTION_PASSAGES = 4
"""Passages of an option of which one is read."""

ReadFrames = Callable[[str, "NDArray[np.float64]"], Frames]
"""Path and times, float64 (n,) seconds, to the frame on screen at each, upright. Raises `FileProblem`."""


@dataclass(frozen=True, slots=True)
class Context:
    """One question, and what it is answered with."""

    question: Question
    retriever: Retriever
    reasoner: Reasoner
    settings: Settings
    where: SearchFilter
    """With its filter on shots resolved (`Retriever.resolve`)."""
    top_k: int
    """Clips to retrieve."""
    threshold: float
    """Least relevance of the best clip or passage, and least confidence of an open answer."""
    read_frames: ReadFrames | None = None
    """Called only for a reasoner that reads pixels."""
    must_choose: bool = False
    """Whether an option must be chosen even where no evidence supports one."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What the reasoner made of the question's words."""

    rewritten: RewrittenQuestion
    anchor: AnchorEvent


@dataclass(frozen=True, slots=True)
class FrameSample:
    """The frames that are read of one window."""

    times: NDArray[np.float64] | None = None
    """float64 (m,) seconds; None without stored frames in the window."""
    vectors: NDArray[np.float32] | None = None
    """float32 (m, d) stored unit vectors, one for each of the times."""
    pixels: Frames | None = None
    problem: str = ""
    """Why there are no pixels, where they were asked for."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The result of every stage for one question; those after a stage that found no match are empty."""

    answer: Answer
    rewriting: Rewriting
    clips: tuple[RetrievedClip, ...]
    passages: tuple[RetrievedPassage, ...]
    windows: tuple[Window, ...] = ()
    """One for each of `clips`."""
    samples: tuple[FrameSample, ...] = ()
    """One for each of `clips`."""
    reading: Reading | None = None
    reply: ChosenOption | OpenAnswer | None = None


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
    pipeline: Pipeline | None = None,
) -> Answer:
    """Answer one question from the library of `retriever`.

    `top_k` and `threshold` default to the settings'. Below the threshold the answer is `NOTHING_MATCHES`,
    with `matched` False; it is then asked again with its misspelled words as `respelled`, if any, which the
    explanation of an answer says. The same question on the same library gives the same answer, timings apart.
    """
    stages = pipeline or Pipeline()
    context = Context(
        question=question,
        retriever=retriever,
        reasoner=reasoner,
        settings=settings,
        where=retriever.resolve(where),
        top_k=top_k or settings.search.top_k,
        threshold=settings.search.threshold if threshold is None else threshold,
        read_frames=read_frames,
    )
    found = stages.run(context).answer
    spelling = {} if found.matched else respelled(question.text, retriever, context.where)
    if not spelling:
        return found
    from rag.reasoners.llm.usage import usage_together

    asked = replace(question, text=in_place(question.text, spelling))
    again = stages.run(replace(context, question=asked)).answer
    usage = usage_together([found.usage, again.usage])
    timings = {stage: found.timings[stage] + again.timings[stage] for stage in STAGES}
    if not again.matched:
        return replace(found, usage=usage, timings=timings)
    read = "".join(f" “{word}” was read as “{nearest}”." for word, nearest in spelling.items())
    explanation = f"{again.explanation}{read}".lstrip()
    return replace(again, question=question, explanation=explanation, usage=usage, timings=timings)


# The stages


def rewrite(context: Context) -> Rewriting:
    """EgoFact, D.2.3 and D.2.4: the visual query, the passage queries and the anchor event."""
    reasoner, question = context.reasoner, context.question
    return Rewriting(reasoner.run(REWRITE_QUESTION, question), reasoner.run(ANCHOR_EVENT, question))


def retrieve_clips(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:
    """The `top_k` clips, best first: text by the question unchanged, images by visual query and events.

    Of a question whose options are events to be found by themselves, each option's, of one video; of one that
    counts an event, a clip for each of its occurrences in the video found best, in time order.
    """
    retriever, rewritten, anchor = context.retriever, rewriting.rewritten, rewriting.anchor
    claims, options = rewritten.passage_queries, context.question.options
    if rewritten.by_option:
        retriever.text_encoder.encode_text([*options, *claims])  # together, and kept
        return events.clips_of_options(retriever, options, context.top_k, context.where)
    queries = [context.question.text, *passage_queries(context, rewriting), *claims]
    retriever.text_encoder.encode_text(queries)
    found = retriever.find_clips(
        context.question.text,
        rewritten.visual_query,
        context.top_k,
        context.where,
        [event for event in (anchor.description, anchor.target) if event],
    )
    if rewritten.counted and (
        seen := events.clips_of_occurrences(retriever, rewritten.counted, found, context.where)
    ):
        return seen
    if options and _most_relevant(found, ()) < context.threshold:
        saying = events.clips_of_claims(retriever, claims, context.top_k, context.where)
        found = saying if _most_relevant(saying, ()) >= context.threshold else found
    return retriever.with_claims(found, claims, context.where)


def retrieve_passages(context: Context, rewriting: Rewriting) -> list[RetrievedPassage]:
    """One passage per option (EgoFact, D.2.3); for an open question the best `search.top_k`.

    An option's is, of the nearest `OPTION_PASSAGES`, the one with most of its words: passages that differ in
    a word are nearly the same to a search.
    """
    question, asked = context.question, passage_queries(context, rewriting)
    if not question.options:
        return context.retriever.find_passages(asked[0], context.settings.search.top_k, context.where)
    each = context.retriever.find_passages_each(asked, OPTION_PASSAGES, context.where)
    passages = []
    for index, found in enumerate(each):
        if found:
            words = content_words(question.options[index])
            fullest = max(found, key=lambda hit: lexical_overlap(words, word_set(hit.passage.text)))
            passages.append(replace(fullest, option=index))
    return passages


def passage_queries(context: Context, rewriting: Rewriting) -> list[str]:
    """The query for the passage of each option; of an open question one query."""
    question, queries = context.question, rewriting.rewritten.passage_queries
    if not question.options:
        return [queries[0] if queries else question.text]
    missing = [f"{question.text} {option}" for option in question.options[len(queries) :]]
    return [*queries[: len(question.options)], *missing]


def localize(context: Context, rewriting: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:
    """Choose the window of each clip to watch (EgoFact, 4.1), by the settings of `[localize]`."""
    anchor, retriever = rewriting.anchor, context.retriever
    if any(clip.event for clip in clips):
        length = context.settings.localize.window_seconds
        return [
            retriever.localize([clip], clip.event, "within", events.around(clip, length, context.where))[0]
            for clip in clips
        ]
    return retriever.localize(clips, anchor.description, anchor.position, context.where, anchor.target)


def sample_frames(
    context: Context, clips: Sequence[RetrievedClip], windows: Sequence[Window]
) -> list[FrameSample]:
    """Take at most `localize.frame_budget` stored frames of each window, with pixels if they are read."""
    budget = context.settings.localize.frame_budget
    stored = context.retriever.frames([found.clip.clip_id for found in clips])
    samples = []
    for found, window in zip(clips, windows, strict=True):
        frames = stored.get(found.clip.clip_id)
        times, vectors = None, None
        if frames is not None:
            inside = frames_inside(frames.times, window.start, window.end, most=budget)
            if len(inside):
                times, vectors = frames.times[inside], frames.vectors[inside]
        pixels, problem = decoded(context, found, midpoints(window.start, window.end, budget))
        samples.append(FrameSample(times, vectors, pixels, problem))
    return samples


def decoded(context: Context, found: RetrievedClip, times: NDArray[np.float64]) -> tuple[Frames | None, str]:
    """Pixels at `times`, float64 (n,) seconds, for a reasoner that reads them; none and why, else."""
    reader, video_id, path = context.retriever.reader, found.clip.video_id, found.path
    if not (context.reasoner.reads_pixels and context.read_frames and reader.video(video_id).width):
        return None, ""
    try:
        return context.read_frames(whole_file(reader, video_id, path), times), ""
    except FileProblem as problem:
        return None, f"{path}: {reason_of(problem, path)}"


def read(
    context: Context,
    rewriting: Rewriting,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    samples: Sequence[FrameSample],
    passages: Sequence[RetrievedPassage],
) -> Reading:
    """Everything the answer may rest on: nothing outside the windows' clips and the passages."""
    return Reading(
        question=context.question,
        rewritten=rewriting.rewritten,
        anchor=rewriting.anchor,
        windows=tuple(
            ReadWindow(
                path=found.path,
                title=found.title,
                clip=found.clip,
                window=window,
                retrieval_score=found.score,
                match=found.match,
                texts=window_texts(context, found, window, rewriting.anchor),
                frame_times=sample.times,
                frame_vectors=sample.vectors,
                frames=sample.pixels,
            )
            for found, window, sample in zip(clips, windows, samples, strict=True)
        ),
        passages=tuple(ReadPassage(p.passage, p.path, p.score, p.option) for p in passages),
        text_vectors=context.retriever.reader.span_vectors([reached(window) for window in windows]),
        must_choose=context.must_choose,
        # There may be more than are read.
        all_occurrences=bool(rewriting.rewritten.counted)
        and any(clip.occurrence for clip in clips)
        and len(clips) < events.MOST_OCCURRENCES,
    )


def reached(window: Window) -> VideoInterval:
    """The interval in which text of a window is read."""
    return window.video_id, max(0.0, window.start - SENTENCE_REACH), window.end + SENTENCE_REACH


def window_texts(
    context: Context, found: RetrievedClip, window: Window, anchor: AnchorEvent
) -> tuple[Evidence, ...]:
    """Text evidence in and just around the window, and the clip's that retrieval found, in time order.

    For an open question about what comes before or after an event all of the clip, and of each kind the text
    beside it.
    """
    reader, (video_id, start, end) = context.retriever.reader, reached(window)
    if context.question.options or anchor.position == "within":
        near = reader.evidence(video_id, start, end)
    else:
        near = reader.evidence_beside(video_id, min(start, found.clip.start), max(end, found.clip.end))
    texts = dict.fromkeys([*near, *(span.evidence for span in found.spans)])
    return tuple(sorted(texts, key=lambda e: (e.start, e.end, e.kind, e.text)))


def caption(context: Context, reading: Reading) -> Reading:
    """The reading as it is, or with captions in place of frames: the answer then rests on text alone.

    Keywords are taken from the question; a model that sees the frames of a window lists the actions that
    concern them (EgoFact, 3.1 and D.2.3). A window without frames stays as it is. Raises `ReasonerError`.
    """
    if context.settings.reasoner.answer_from == "frames" or not reading.windows:
        return reading
    keywords = context.reasoner.run(EXTRACT_KEYWORDS, reading.question).keywords
    windows = tuple(captioned_window(context.reasoner, window, keywords) for window in reading.windows)
    return replace(reading, windows=windows, keywords=keywords)


def captioned_window(reasoner: Reasoner, read: ReadWindow, keywords: tuple[str, ...]) -> ReadWindow:
    """One window as text: its words, and the numbered actions of its frames as evidence of kind `caption`."""
    if read.frames is None and read.frame_vectors is None:
        return read
    start, end = read.window.start, read.window.end
    view = VideoView(
        title=read.title,
        start=start,
        end=end,
        frame_times=read.frame_times,
        frame_vectors=read.frame_vectors,
        frames=read.frames,
    )
    text = reasoner.run(CAPTION_WINDOW, CaptionRequest(view, keywords)).text
    evidence = (Evidence(read.window.video_id, start, end, "caption", text),) if text else ()
    texts = (*read.texts, *evidence)
    return replace(read, texts=texts, caption=text, frame_times=None, frame_vectors=None, frames=None)


def answer(context: Context, reading: Reading) -> ChosenOption | OpenAnswer:
    """`answer_reading` with the reasoner of the context."""
    return answer_reading(context.reasoner, reading)


def answer_reading(reasoner: Reasoner, reading: Reading) -> ChosenOption | OpenAnswer:
    """The reasoner's choice among the options, or its answer to an open question. Raises `ReasonerError`."""
    if reading.question.options:
        return reasoner.run(ANSWER_CHOICE, reading)
    return reasoner.run(ANSWER_OPEN, reading)


# The pipeline


@dataclass
class _Clock:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 6)
        self._last = now


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of an answer, each a function; the defaults are those of `rag ask`.

    Each takes the `Context` of the question and results of earlier stages. `localize` and `sample_frames`
    return one window and one sample for each clip, in the order of the clips.
    """

    rewrite: Callable[[Context], Rewriting] = rewrite
    retrieve_clips: Callable[[Context, Rewriting], list[RetrievedClip]] = retrieve_clips
    retrieve_passages: Callable[[Context, Rewriting], list[RetrievedPassage]] = retrieve_passages
    localize: Callable[[Context, Rewriting, Sequence[RetrievedClip]], list[Window]] = localize
    sample_frames: Callable[[Context, Sequence[RetrievedClip], Sequence[Window]], list[FrameSample]] = (
        sample_frames
    )
    read: Callable[
        [
            Context,
            Rewriting,
            Sequence[RetrievedClip],
            Sequence[Window],
            Sequence[FrameSample],
            Sequence[RetrievedPassage],
        ],
        Reading,
    ] = read
    caption: Callable[[Context, Reading], Reading] = caption
    answer: Callable[[Context, Reading], ChosenOption | OpenAnswer] = answer
    cite: Callable[[Reading, ChosenOption | OpenAnswer], tuple[Citation, ...]] = cite

    def run(self, context: Context) -> Trace:
        """Answer the question of `context`; returns the answer with the result of every stage.

        Where the best clip or passage is less relevant than `context.threshold`, the stages from `localize`
        on are not run. Raises `ReasonerError` where a language model fails; `Unanswered` has its usage.
        """
        context.reasoner.usage()
        try:
            return self._run(context)
        except Unanswered as error:
            error.usage = context.reasoner.usage()
            raise

    def _run(self, context: Context) -> Trace:
        clock = _Clock()
        rewriting = self.rewrite(context)
        clock.stop("rewrite")
        clips = tuple(self.retrieve_clips(context, rewriting))
        passages = tuple(self.retrieve_passages(context, rewriting))
        relevance = _most_relevant(clips, passages)
        if relevance < context.threshold and not context.question.options:
            passages = _by_sentence(context, passages)
            relevance = _most_relevant(clips, passages)
        clock.stop("retrieve")
        details = _details(rewriting, clips, passages, relevance, context.threshold)
        if relevance < context.threshold:
            if not context.retriever.reader.indexed_paths():
                why = advice_to_fill(context.retriever.reader.folder)
            else:
                why = (
                    f"The most relevant clip or passage has relevance {rounded_down(relevance):.2f}, "
                    f"below {context.threshold:.2f}. {nearest([*clips, *_by_sentence(context, passages)])}"
                )
            nothing = _no_match(context, why)
            return Trace(_with_costs(nothing, context, clock, details), rewriting, clips, passages)
        windows = tuple(self.localize(context, rewriting, clips))
        details["windows"] = [(w.video_id, w.start, w.end, w.score) for w in windows]
        clock.stop("localize")
        samples = tuple(self.sample_frames(context, clips, windows))
        if unread := [sample.problem for sample in samples if sample.problem]:
            details["unread"] = unread
        reading = self.read(context, rewriting, clips, windows, samples, passages)
        reading = self.caption(context, reading)
        clock.stop("read")
        reply = self.answer(context, reading)
        citations, unanswered = self.cite(reading, reply), _why_no_match(context, reply)
        found: Answer | None = None
        if unanswered is None:
            cited = with_what_is_seen(citations, context.retriever)
            found = answer_of(context.question, reply, cited)
        elif isinstance(reply, OpenAnswer):
            found = answer_by_images(
                *(context.question, clips, windows, context.retriever),
                threshold=context.threshold,
                unanswered=unanswered,
            )
        if found is None:
            named = bool(reply.windows or reply.passages)
            where = nearest(citations if named else [*clips, *_by_sentence(context, passages)])
            if isinstance(reply, OpenAnswer) and reply.nearest:
                where = f"Nearest come {'; '.join(self._nearest(reading, reply))}."
            found = replace(_no_match(context, f"{unanswered} {where}"), text=NOT_SURE)
            if isinstance(reply, OpenAnswer) and reply.text.strip():
                found = replace(found, best_confidence=reply.confidence)
        clock.stop("answer")
        found = _with_costs(found, context, clock, details)
        return Trace(found, rewriting, clips, passages, windows, samples, reading, reply)

    def _nearest(self, reading: Reading, reply: OpenAnswer) -> Iterator[str]:
        """The texts that come nearest, quoted, each with the place of the first citation that holds it."""
        for text in reply.nearest:
            cited = self.cite(reading, OpenAnswer(text=text, confidence=0.0))
            yield place_of_text(text, cited[0]) if cited else quotation(text)


def _with_costs(found: Answer, context: Context, clock: _Clock, details: dict[str, Any]) -> Answer:
    """The answer with what it took, and with the results of the stages."""
    timings = {stage: clock.seconds.get(stage, 0.0) for stage in STAGES}
    return replace(found, usage=context.reasoner.usage(), timings=timings, details=details)


def _by_sentence(context: Context, passages: tuple[RetrievedPassage, ...]) -> tuple[RetrievedPassage, ...]:
    """The passages, judged by their sentences, once."""
    if not passages or any(found.nearest for found in passages):
        return passages
    return tuple(judged_by_sentence(passages, context.question.text, context.retriever.text_encoder))


def _most_relevant(clips: Sequence[RetrievedClip], passages: Sequence[RetrievedPassage]) -> float:
    return max([*(c.relevance for c in clips), *(p.relevance for p in passages)], default=0.0)


# What becomes of the reply


def _why_no_match(context: Context, reply: ChosenOption | OpenAnswer) -> str | None:
    """Why the reply answers nothing; None where it does."""
    if isinstance(reply, ChosenOption):
        return None if reply.choice in labels(len(context.question.options)) else reply.explanation
    if not reply.text.strip():
        return reply.explanation
    if reply.confidence >= context.threshold:
        return None
    found = (
        f"The best answer found has confidence {rounded_down(reply.confidence):.2f}, "
        f"below {context.threshold:.2f}"
    )
    return f"{found}." if reply.nearest else f"{found}: {quotation(reply.text)}."


def answer_of(
    question: Question,
    reply: ChosenOption | OpenAnswer,
    citations: tuple[Citation, ...],
    *,
    no_answer: str = NOTHING_MATCHES,
    **made: Any,
) -> Answer:
    """The answer that a reasoner's reply gives; `no_answer` where it chose no option or said nothing.

    `made`: usage, timings and details of the answer. Options that the reply does not score have 1 for the
    chosen one and 0 for the others.
    """
    choice, text, options = None, "", tuple[ScoredOption, ...]()
    known = labels(len(question.options))
    if isinstance(reply, OpenAnswer):
        text = reply.text.strip()
    elif reply.choice in known:
        choice, chosen = reply.choice, known.index(reply.choice)
        text = question.options[chosen]
        scores = reply.scores or tuple(float(index == chosen) for index in range(len(known)))
        options = tuple(map(ScoredOption, known, question.options, scores))
    return Answer(
        question=question,
        choice=choice,
        text=text or no_answer,
        confidence=reply.confidence,
        explanation=reply.explanation,
        matched=bool(text),
        citations=citations,
        options=options,
        **made,
    )


def _no_match(context: Context, why: str) -> Answer:
    return Answer(context.question, None, NOTHING_MATCHES, 0.0, why.strip(), matched=False)


def _details(
    rewriting: Rewriting,
    clips: Sequence[RetrievedClip],
    passages: Sequence[RetrievedPassage],
    relevance: float,
    threshold: float,
) -> dict[str, Any]:
    return {
        "visual_query": rewriting.rewritten.visual_query,
        "passage_queries": list(rewriting.rewritten.passage_queries),
        "anchor": rewriting.anchor.model_dump(),
        "clips": [(found.clip.clip_id, found.score) for found in clips],
        **({"events": [found.event for found in clips]} if any(found.event for found in clips) else {}),
        "passages": [(p.passage.passage_id, p.passage.doc_id, p.score, p.option) for p in passages],
        "relevance": relevance,
        "threshold": threshold,
    }
