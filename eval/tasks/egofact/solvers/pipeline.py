"""A solver out of the product's pipeline with some of its stages replaced, and the stages.

The systems of the paper replace stages of `rag.answering.Pipeline`; all others are `rag ask`'s own. Every
system reads at most `localize.frame_budget` frames of a clip (EgoFact, 4.1: 15) and must choose an option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corpora.records import Clip
from eval.runs.records import ClipScore, ClipWindow, Output, PassageScore, token_counts
from eval.tasks.egofact.records import EgoFactInput
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from localization.sampling import frames_inside, midpoints, nearest_frames
from localization.windows import Window
from rag.answering import (
    Context,
    FrameSample,
    Pipeline,
    Rewriting,
    Trace,
    decoded,
    localize,
    passage_queries,
    read,
)
from rag.questions import parse_question
from rag.reasoners.roles.reading import Reading
from rag.retrieval import RetrievedClip, RetrievedPassage
from rag.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.store.records import ClipFrames


CLIPS = 5
"""EgoFact, D.2: clips read for a question."""
PASSAGES = 5
"""EgoFact, D.2.2: passages read where they are retrieved for the whole question."""
ORACLE_SECONDS = 5.0

Windows = Literal["none", "parts", "localized"]
"""What a system reads of its clips: all of each, the parts that it retrieved, or a window that its
`localize` stage picks."""

Select = Callable[[Context, "ClipFrames", RetrievedClip], "NDArray[np.int64]"]
"""Indices, rising, of the stored frames of a clip that are read."""


def event_of(rewriting: Rewriting) -> str:
    """The event that must be seen: the asked one where the anchor is another."""
    return rewriting.anchor.target or rewriting.anchor.description


# Retrieval

Asked = Callable[[Context, Rewriting], str]
"""The text that is searched for."""


def question_text(context: Context, rewriting: Rewriting) -> str:  # noqa: ARG001 (an `Asked`)
    """The question unchanged."""
    return context.question.text


def visual_query(context: Context, rewriting: Rewriting) -> str:  # noqa: ARG001 (as above)
    """The question rewritten as a description of a video (EgoFact, D.2.3)."""
    return rewriting.rewritten.visual_query


def clips_by_image(corpus: Corpus, asked: Asked) -> Callable[[Context, Rewriting], list[RetrievedClip]]:
    """The clips whose image embeddings are nearest to a text, by the image encoder alone (EgoFact, 3.1)."""

    def retrieve(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:
        vector = corpus.vector(asked(context, rewriting))
        hits = context.retriever.reader.search_clips(vector, context.top_k, context.where)
        return [corpus.found(corpus.names[hit.key], hit.score) for hit in hits]

    return retrieve


def clips_by_scene(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:
    """Retrieve clips as the product does, without the events of the question."""
    scene = rewriting.rewritten.visual_query
    return context.retriever.find_clips(context.question.text, scene, context.top_k, context.where)


def nearest_passages(
    context: Context, queries: Sequence[str], each: int
) -> list[tuple[int, RetrievedPassage]]:
    """The `each` passages nearest to each query by the text encoder alone, with the query's index."""
    reader = context.retriever.reader
    vectors = context.retriever.text_encoder.encode_text(list(queries))
    found = [(at, hit) for at, row in enumerate(vectors) for hit in reader.search_passages(row, each)]
    passages = reader.passages([hit.key for _, hit in found])
    return [
        (at, RetrievedPassage(passage, "", hit.score, max(0.0, hit.score)))
        for (at, hit), passage in zip(found, passages, strict=True)
    ]


def passages_by_option(context: Context, rewriting: Rewriting) -> list[RetrievedPassage]:
    """The passage nearest to each option's query (EgoFact, D.2.3)."""
    found = nearest_passages(context, passage_queries(context, rewriting), 1)
    return [replace(passage, option=at) for at, passage in found]


def passages_by_question(context: Context, rewriting: Rewriting) -> list[RetrievedPassage]:  # noqa: ARG001 (a stage)
    """Five passages by question and options in one query (EgoFact, D.2.2)."""
    query = " ".join([context.question.text, *context.question.options])
    return [passage for _, passage in nearest_passages(context, [query], PASSAGES)]


def clip_parts(corpus: Corpus) -> Callable[[Context, Rewriting], list[RetrievedClip]]:
    """The best parts of `localize.window_seconds` each, of all clips, by scene and event (EgoFact, 4.2).

    A part is retrieved as a clip of its own. Its embedding is the mean of its frames, its query
    "scene, event".
    """

    def retrieve(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:
        query = f"{rewriting.rewritten.visual_query.rstrip('. ')}, {event_of(rewriting)}"
        wanted = corpus.vector(query).astype(np.float64)
        seconds = context.settings.localize.window_seconds
        scores, parts = [], {}
        for name, frames in corpus.frames.items():
            for index, part in enumerate(_parts(corpus.clips[name], seconds)):
                inside = frames_inside(frames.times, part.start, part.end, most=len(frames.times))
                if len(inside):
                    mean = frames.vectors[inside].astype(np.float64).mean(axis=0)
                    key = f"{name}#{index:05d}"
                    scores.append((key, float(mean @ wanted / max(float(np.linalg.norm(mean)), 1e-9))))
                    parts[key] = (name, part)
        best = ((*parts[key], score) for key, score in ranked(scores, context.top_k))
        return [replace(corpus.found(name, score), clip=part) for name, part, score in best]

    return retrieve


def _parts(clip: Clip, seconds: float) -> list[Clip]:
    count = max(1, round((clip.end - clip.start) / seconds))
    starts = [clip.start + index * seconds for index in range(count)]
    return [replace(clip, start=start, end=min(start + seconds, clip.end)) for start in starts]


# Localization


def whole(context: Context, rewriting: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:  # noqa: ARG001 (a stage)
    """What was retrieved, unlocalized; the score is that of retrieval."""
    return [
        Window(found.clip.video_id, found.clip.start, found.clip.end, round(found.score, 6))
        for found in clips
    ]


def localized_by(second: Library) -> Callable[[Context, Rewriting, Sequence[RetrievedClip]], list[Window]]:
    """The product's window, from the frame embeddings of another library of the same videos.

    The paper retrieves with ImageBind and localizes with MetaCLIP (EgoFact, 3.1 and 4.1). Videos and clips
    have the same ids in every library, for these come from their contents.
    """

    def stage(context: Context, rewriting: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:
        retriever = second.engine.new_retriever(context.settings)
        return localize(replace(context, retriever=retriever), rewriting, clips)

    return stage


def around(
    given: tuple[float, float],
) -> Callable[[Context, Rewriting, Sequence[RetrievedClip]], list[Window]]:
    """5 seconds around an event that is given: what perfect localization would read."""

    def localize(context: Context, rewriting: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:  # noqa: ARG001 (a stage)
        windows = []
        for found in clips:
            clip = found.clip
            width = min(ORACLE_SECONDS, clip.end - clip.start)
            start = min(max(clip.start, (given[0] + given[1]) / 2 - width / 2), clip.end - width)
            windows.append(Window(clip.video_id, round(start, 6), round(start + width, 6), 0.0))
        return windows

    return localize


# Frames


def sampled(
    corpus: Corpus, select: Select
) -> Callable[[Context, Sequence[RetrievedClip], Sequence[Window]], list[FrameSample]]:
    """A stage that reads the frames that `select` picks of each clip, decoded at their own times."""

    def sample(
        context: Context,
        clips: Sequence[RetrievedClip],
        windows: Sequence[Window],  # noqa: ARG001 (a stage)
    ) -> list[FrameSample]:
        samples = []
        for found in clips:
            frames = corpus.frames[corpus.names[found.clip.clip_id]]
            chosen = select(context, frames, found)
            times = frames.times[chosen]
            pixels, problem = decoded(context, found, times)
            samples.append(FrameSample(times, frames.vectors[chosen], pixels, problem))
        return samples

    return sample


def spread(context: Context, frames: ClipFrames, found: RetrievedClip) -> NDArray[np.int64]:
    """int64 (m,) indices of the frames nearest to the middles of equal parts of the clip, rising.

    m is at most `localize.frame_budget`, the number of parts. VideoRAG of Ren et al.
    """
    moments = midpoints(found.clip.start, found.clip.end, context.settings.localize.frame_budget)
    return np.unique(nearest_frames(frames.times, moments))


def diverse(corpus: Corpus) -> Select:
    """Half for being unlike each other and half for being like the question.

    After VideoRAG of Jeong et al., which narrows the frames by clustering and takes those that a
    scorer ranks first: clusters by farthest-point sampling from the frame nearest to the clip's
    mean, and the similarity to the question for a scorer, since theirs is trained on videos that
    are not here.
    """

    def select(context: Context, frames: ClipFrames, found: RetrievedClip) -> NDArray[np.int64]:  # noqa: ARG001 (a `Select`)
        budget = context.settings.localize.frame_budget
        vectors = frames.vectors.astype(np.float64)
        centre = vectors.mean(axis=0)
        chosen = [int(np.argmax(vectors @ centre))]
        while len(chosen) < min(budget * 2, len(vectors)):
            nearest = (vectors @ vectors[chosen].T).max(axis=1).round(6)
            nearest[chosen] = np.inf
            chosen.append(int(np.argmin(nearest)))
        wanted = corpus.vector(context.question.text).astype(np.float64)
        similarity = (vectors[chosen] @ wanted).round(6)
        best = sorted(range(len(chosen)), key=lambda i: (-similarity[i], chosen[i]))[:budget]
        return np.array(sorted(chosen[i] for i in best), np.int64)

    return select


def no_frames(
    context: Context,  # noqa: ARG001 (a stage)
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],  # noqa: ARG001 (a stage)
) -> list[FrameSample]:
    """No frame of any clip, for a system that reads captions."""
    return [FrameSample() for _ in clips]


# Reading


def read_without_text(
    context: Context,
    rewriting: Rewriting,
    clips: Sequence[RetrievedClip],
    windows: Sequence[Window],
    samples: Sequence[FrameSample],
    passages: Sequence[RetrievedPassage],
) -> Reading:
    """Frames and passages alone: no subtitles, speech or text on screen."""
    reading = read(context, rewriting, clips, windows, samples, passages)
    return replace(reading, windows=tuple(replace(window, texts=()) for window in reading.windows))


@dataclass(frozen=True)
class PipelineSolver:
    """`stages`: from an input to its pipeline, for the oracles' inputs hold what they are given."""

    corpus: Corpus
    stages: Callable[[EgoFactInput], Pipeline]
    chosen: Settings
    """Those of the library, with another `localize` where a system has one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    windows: Windows = "none"
    _last: dict[str, tuple[Context, Rewriting]] = field(default_factory=dict, compare=False)
    """The context and rewriting of the question asked last."""

    def solve(self, asked: EgoFactInput) -> Output:
        """Answer one query; see `eval.task.Solver`."""
        context = self.context(asked)
        trace = self.stages(asked).run(context)
        self._last.clear()
        self._last[asked.query_id] = context, trace.rewriting
        return self._output(trace)

    def context(self, asked: EgoFactInput) -> Context:
        """Make the context of one question; nothing is ever below its threshold."""
        engine = self.corpus.library.engine
        return Context(
            question=parse_question(asked.text, asked.options, asked.query_id),
            retriever=engine.new_retriever(self.chosen),
            reasoner=engine.reasoner,
            settings=self.chosen,
            where=self.corpus.pool,
            top_k=CLIPS,
            threshold=0.0,
            read_frames=engine.read_frames,
            must_choose=True,
        )

    def _output(self, trace: Trace) -> Output:
        reply, usage = trace.reply, trace.answer.usage
        names = self.corpus.names if trace.clips else {}
        assert reply is not None, "nothing is below a threshold of 0"
        read = list(zip(trace.clips, trace.windows, trace.samples, strict=True))
        clips: dict[str, float] = {}
        frames: dict[str, set[float]] = {}
        for found, _, sample in read:
            name = names[found.clip.clip_id]
            clips[name] = max(clips.get(name, 0.0), found.score)
            times = sample.times if sample.pixels is None else sample.pixels.times
            if times is not None:
                frames.setdefault(name, set()).update(round(float(time), 6) for time in times)
        windows = [
            ClipWindow(names[found.clip.clip_id], window.start, window.end, window.score)
            for found, window, _ in read
        ]
        return Output(
            choice=getattr(reply, "choice", None),
            scores=getattr(reply, "scores", ()),
            confidence=reply.confidence,
            clips=tuple(ClipScore(name, score) for name, score in clips.items()),
            passages=tuple(PassageScore(p.passage.doc_id, p.score, p.option) for p in trace.passages),
            windows=() if self.windows == "none" else tuple(windows),
            frames_read={name: tuple(sorted(times)) for name, times in frames.items()},
            evidence={
                "explanation": reply.explanation,
                "event": event_of(trace.rewriting),
                **_captions(trace, names),
            },
            tokens=token_counts(usage),
        )

    def localize(self, asked: EgoFactInput, clip_id: str) -> tuple[float, float] | None:
        """The window [start, end) in seconds of a clip, for the question asked last.

        None for a system that does not localize.
        """
        if self.windows != "localized":
            return None
        context, rewriting = self._last[asked.query_id]
        (window,) = self.stages(asked).localize(context, rewriting, [self.corpus.found(clip_id)])
        return window.start, window.end


def _captions(trace: Trace, names: Mapping[str, str]) -> dict[str, Any]:
    """Captions by clip, and the keywords that they were written for; empty where frames were read."""
    assert trace.reading is not None, "nothing is below a threshold of 0"
    captions: dict[str, str] = {}
    for found, window in zip(trace.clips, trace.reading.windows, strict=True):
        if window.caption is not None:
            name = names[found.clip.clip_id]
            captions[name] = f"{captions[name]} {window.caption}" if name in captions else window.caption
    return {"captions": captions, "keywords": list(trace.reading.keywords)} if captions else {}
