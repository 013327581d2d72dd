"""Clips of a question about several events of one video: those that its options name, or each occurrence of
one that it counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corpora.records import Clip, Video
from rag.records import SearchFilter
from rag.relevance import IMAGE_MIDDLE, image_relevance
from rag.retrieval.ranking import RetrievedClip, clip_with_most
from rag.retrieval.retriever import Retriever
from rag.retrieval.shots import allowed

LEAST_SHARE = 0.6
"""The share of the greatest score that a frame must reach to show the same event."""
SAME_SECONDS = 10.0
"""Between two frames that show one occurrence, at most."""
LEAST_SECONDS = 1.0
"""From the first to the last frame of an occurrence."""
MOST_OCCURRENCES = 24
"""That are read; of more, those in which the event is seen best."""

MOMENT = 1.0
"""Seconds around a frame that shows an event best, which its window holds."""


def clips_of_options(
    retriever: Retriever, options: Sequence[str], top_k: int, where: SearchFilter
) -> list[RetrievedClip]:
    """The best clips of each option, `top_k` in all, or more that each has as many; one may be of several.
    For each, beside them or as one of them, the clip of the frame that shows it best.

    Of the one video in which the options are found best, for times of two videos have no order.
    """
    each = -(-top_k // max(1, len(options)))

    def find(where: SearchFilter) -> list[RetrievedClip]:
        found = []
        for option in options:
            clips = retriever.find_clips(option, option, each, where)
            # The matches of one search sum to 1.
            found += [replace(c, event=option, match=c.match and c.match / len(options)) for c in clips]
        return found

    found = find(where)
    best: dict[str, dict[str, float]] = {}
    for clip in found:
        scores = best.setdefault(clip.clip.video_id, {})
        scores[clip.event] = max(clip.score, scores.get(clip.event, 0.0))
    if not best:
        return []
    video_id = max(best, key=lambda key: (sum(best[key].values()), key))
    if len(best) > 1:
        found = find(replace(where, videos=frozenset([video_id])))
    spans = {(clip.event, clip.clip): clip.spans for clip in found}
    relevance = {
        event: max((c.relevance for c in found if c.event == event), default=0.0) for event in options
    }
    moments = [
        # Of so many frames one is like anything: whether an event is there at all, the search says.
        replace(clip, spans=spans.pop((clip.event, clip.clip), ()), relevance=relevance[clip.event])
        for clip in _moments(retriever, options, video_id, where)
    ]
    others = [clip for clip in found if (clip.event, clip.clip) in spans]
    return sorted([*moments, *others], key=lambda clip: -clip.score)


def clips_of_claims(
    retriever: Retriever, claims: Sequence[str], top_k: int, where: SearchFilter
) -> list[RetrievedClip]:
    """The `top_k` clips whose text is most relevant to what any option claims, of a question that is near
    none by itself. A clip of several options is given once."""
    best: dict[str, RetrievedClip] = {}
    retriever.text_encoder.encode_text(claims)  # together, and kept
    for claim in claims:
        for clip in retriever.find_clips(claim, "", top_k, where):
            held = best.get(clip.clip.clip_id)
            if held is None or clip.relevance > held.relevance:
                best[clip.clip.clip_id] = clip
    return sorted(best.values(), key=lambda clip: (-clip.relevance, clip.clip.clip_id))[:top_k]


def _moments(
    retriever: Retriever, events: Sequence[str], video_id: str, where: SearchFilter
) -> list[RetrievedClip]:
    """For each event the clip with the frame of a video that shows it best, where one does.

    An event of two seconds is not the most part of a clip, or of a window of five.
    """
    times, scores = _scores_inside(retriever, video_id, events, where)
    video, clips = retriever.reader.video(video_id), retriever.reader.clips(video_id)
    found = []
    for event, z in zip(events, scores, strict=True):
        if len(z) and z.max() >= IMAGE_MIDDLE:
            moment = float(times[z.argmax()])
            start, end = moment - MOMENT / 2, moment + MOMENT / 2
            found.append(_seen_at(video, clips, event, start, end, float(z.max())))
    return found


def clips_of_occurrences(
    retriever: Retriever, event: str, clips: Sequence[RetrievedClip], where: SearchFilter
) -> list[RetrievedClip]:
    """The clip of each occurrence of an event in the video of the best of `clips`, in time order.

    By the stored frames of the whole video: those whose standard score reaches 2.5 (relevance one half), see
    `occurrences`. Empty where no frame shows it, and under a filter on kinds of text.
    """
    if not clips:
        return []
    video_id = clips[0].clip.video_id
    times, (scores,) = _scores_inside(retriever, video_id, [event], where)
    video, held = retriever.reader.video(video_id), retriever.reader.clips(video_id)
    found = []
    for start, end in occurrences(times, scores, IMAGE_MIDDLE):
        z = float(scores[(times >= start) & (times <= end)].max())
        found.append(_seen_at(video, held, event, start, end, z))
    best = sorted(found, key=lambda clip: -clip.score)[:MOST_OCCURRENCES]
    return [clip for clip in found if clip in best]


def occurrences(times: ArrayLike, scores: ArrayLike, least: float) -> list[tuple[float, float]]:
    """Times of the first and the last frame of each occurrence, in seconds, rising.

    `times`: float (n,) seconds, rising; `scores`: float (n,), how well each frame shows the event. A frame
    shows it from the greater of `least` and 0.6 of the greatest score on: how high scores are where an
    event is seen differs from event to event.
    """
    at, values = np.asarray(times, np.float64), np.asarray(scores, np.float64)
    if not len(at):
        return []
    seen = at[values >= max(least, LEAST_SHARE * float(values.max()))]
    stretches = np.split(seen, np.flatnonzero(np.diff(seen) > SAME_SECONDS) + 1)
    ends = [(float(one[0]), float(one[-1])) for one in stretches if len(one)]
    return [(start, end) for start, end in ends if end - start >= LEAST_SECONDS]


def _scores_inside(
    retriever: Retriever, video_id: str, events: Sequence[str], where: SearchFilter
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As `Retriever.frame_scores`, float64 (n,) and (e, n), of the frames under a filter; of none under one
    on kinds of text."""
    times, scores = np.zeros(0), np.zeros((len(events), 0))
    if where.kinds is None:
        times, scores = retriever.frame_scores(video_id, events)
    inside = np.zeros(len(times), np.bool_)
    for start, end in allowed(video_id, where):
        inside |= (times >= start) & (times < end)
    return times[inside], scores[:, inside]


def _seen_at(
    video: Video, clips: Sequence[Clip], event: str, start: float, end: float, z: float
) -> RetrievedClip:
    """The clip of an event that is seen from `start` to `end` seconds, at best with a standard score of z."""
    seen = image_relevance(z)
    clip = clip_with_most(clips, start, end)
    return RetrievedClip(
        clip, video.path, video.title, seen, seen, seen, (), event=event, occurrence=(start, end)
    )


def around(clip: RetrievedClip, length: float, where: SearchFilter) -> SearchFilter:
    """`where` within the occurrence of a clip, where it is known, or `length` seconds around its middle."""
    if clip.occurrence is None:
        return where
    start, end = clip.occurrence
    spare = max(0.0, length - (end - start)) / 2
    low, high = where.start or 0.0, math.inf if where.end is None else where.end
    return replace(where, start=max(low, start - spare), end=min(high, end + spare))
