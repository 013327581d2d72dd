"""Stages of `rag.answering.Pipeline` as the systems of the paper have them; all others are `rag ask`'s own.

Every system reads at most `localize.frame_budget` frames of a clip (EgoFact, 4.1: 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import Clip
from eval.tasks.egofact.solvers.corpus import Corpus, ranked
from localization.sampling import frames_inside, midpoints, nearest_frames
from localization.windows import Window
from rag.answering import Context, FrameSample, Rewriting, read
from rag.reasoners.roles import Reading
from rag.retrieval import RetrievedClip, RetrievedPassage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.store.records import ClipFrames

CLIPS = 5
"""EgoFact, D.2: clips read for a question."""
PASSAGES = 5
"""EgoFact, D.2.2: passages read where they are retrieved for the whole question."""
ORACLE_SECONDS = 5.0

Select = Callable[[Context, "ClipFrames", RetrievedClip], "NDArray[np.int64]"]
"""Indices, rising, of the stored frames of a clip that are read."""


def event_of(rewriting: Rewriting) -> str:
    """The event that must be seen: the asked one where the anchor is another."""
    return rewriting.anchor.target or rewriting.anchor.description


# Retrieval


def clips_by_question(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:  # noqa: ARG001 (a stage)
    """Clips by the question unchanged (VideoRAG of Jeong et al. rewrites nothing)."""
    text = context.question.text
    return context.retriever.find_clips(text, text, context.top_k, context.where)


def no_clips(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:  # noqa: ARG001 (a stage)
    """No clip, for a control without video."""
    return []


def clip_parts(corpus: Corpus, seconds: float) -> Callable[[Context, Rewriting], list[RetrievedClip]]:
    """The best parts of `seconds` each, of all clips, by scene and event (EgoFact, 4.2).

    A part is retrieved as a clip of its own. Its embedding is the mean of its frames, its query
    "scene, event".
    """

    def retrieve(context: Context, rewriting: Rewriting) -> list[RetrievedClip]:
        query = f"{rewriting.rewritten.visual_query.rstrip('. ')}, {event_of(rewriting)}"
        wanted = corpus.vector(query).astype(np.float64)
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


def passages_by_question(context: Context, rewriting: Rewriting) -> list[RetrievedPassage]:  # noqa: ARG001 (a stage)
    """Five passages by question and options in one query (EgoFact, D.2.2)."""
    query = " ".join([context.question.text, *context.question.options])
    return context.retriever.find_passages(query, PASSAGES)


# Localization


def whole(context: Context, rewriting: Rewriting, clips: Sequence[RetrievedClip]) -> list[Window]:  # noqa: ARG001 (a stage)
    """What was retrieved, unlocalized; the score is that of retrieval."""
    return [
        Window(found.clip.video_id, found.clip.start, found.clip.end, round(found.score, 6))
        for found in clips
    ]


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
            times, pixels = frames.times[chosen], None
            if context.reasoner.reads_pixels and context.read_frames is not None:
                pixels = context.read_frames(found.path, times)
            samples.append(FrameSample(times, frames.vectors[chosen], pixels))
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
