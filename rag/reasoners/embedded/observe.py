"""What an interval of a video shows: the nearest wordings of its frames, its text, and missing keywords.

No image is described freely. What is said of the frames are names that they are near to (`scoring`), under
"seems to show". The timeline has chapters and lines as they are, and frames by their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np

from rag.reasoners.embedded.lines import lines, rank_lines
from rag.reasoners.embedded.question_forms import event_text
from rag.reasoners.embedded.scoring import SentenceVectors, ZeroShotScorer
from rag.reasoners.roles.caption_window import CaptionRequest, WindowCaption
from rag.reasoners.roles.material import VideoView, distinct
from rag.reasoners.roles.observe import Observation, ObserveRequest
from rag.reasoners.roles.summarize import SummarizeRequest, VideoSummary
from rag.reasoners.roles.timeline import Timeline, TimelineEvent, TimelineRequest
from rag.words import word_set

SUPPORTED = 0.5
"""Relevance from which a text is supported."""
SUMMARY_LINES, MOST_TIMELINE_LINES = 12, 400
"""Lines of a summary and of a timeline, at most."""
LEAST_LENGTH = 0.001
"""Seconds; no event is shorter."""


def observe(request: ObserveRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Observation:
    """The names of what is seen, or where there are none the line nearest to the question; missing keywords
    and events, by frames and lines."""
    keywords = distinct(word for facet in request.facets for word in facet.keywords)
    events = distinct(query for facet in request.facets for query in facet.queries)
    if not request.facets:
        events = distinct([request.vlm_query or request.question.text])
    missing = _unsupported(keywords, request.view, scorer, vectors)
    unmet = _unsupported(events, request.view, scorer, vectors)
    return Observation(
        caption=next(iter(_described(request.question.text, request.view, scorer, vectors)), ""),
        missing=missing,
        needs_more_info=bool(unmet or (missing and not events)),
        missing_visual_keyword=next(iter((*unmet, *missing)), ""),
        reasoning=f"{len(events) - len(unmet)} of {len(events)} events are shown or said, "
        f"{len(keywords) - len(missing)} of {len(keywords)} keywords are there.",
    )


def _unsupported(
    texts: Iterable[str], view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors
) -> tuple[str, ...]:
    """The texts that no frame and no line speaks to, and whose words the lines lack."""
    known = word_set(" ".join(line.text for line in lines(view)))

    def fit(text: str) -> float:
        words = word_set(text)
        fits = [float(bool(words) and words <= known)]
        fits += [relevance for relevance, _ in rank_lines(text, view, vectors)[:1]]
        return max(fits + (scorer.relevance([event_text(text)], view) or []))

    return tuple(text for text in texts if fit(text) < SUPPORTED)


def _described(text: str, view: VideoView, scorer: ZeroShotScorer, vectors: SentenceVectors) -> list[str]:
    """What the frames seem to show, if anything, and the lines nearest to a text, best first."""
    names = scorer.named(view)
    said = [line.text for _, line in rank_lines(text, view, vectors) if line.kind != "tag"]
    return [*([f"Seems to show {names}."] if names else []), *said[:SUMMARY_LINES]]


def summarize(request: SummarizeRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoSummary:
    """What the frames seem to show, and the lines nearest to the question; one a line, best first."""
    summary = "\n".join(_described(request.question.text, request.view, scorer, vectors))
    return VideoSummary(relevant=bool(summary), summary=summary)


def timeline(request: TimelineRequest, scorer: ZeroShotScorer) -> Timeline:
    """By start. Neighbouring frames with the same names are one event."""
    view = request.view
    said = [
        TimelineEvent(
            start=max(0.0, line.start), end=max(line.end, line.start + LEAST_LENGTH), description=line.text
        )
        for line in lines(view)[:MOST_TIMELINE_LINES]
        if line.kind != "tag" and line.text and view.start <= line.start < view.end
    ]
    events = [*_frame_events(view, scorer), *said]
    return Timeline(
        events=tuple(sorted(events, key=lambda event: (event.start, event.end, event.description)))
    )


def caption_window(request: CaptionRequest, scorer: ZeroShotScorer) -> WindowCaption:
    """The names of what the frames show, in time order; the keywords change nothing."""
    return WindowCaption(actions=tuple(event.description for event in _frame_events(request.view, scorer)))


def _frame_events(view: VideoView, scorer: ZeroShotScorer) -> list[TimelineEvent]:
    """A frame lasts from half-way to half-way to its neighbours; the first and the last up to the ends."""
    names, times = scorer.named_each(view), view.frame_times
    if times is None:
        return []
    middles = (times[1:] + times[:-1]) / 2
    edges = np.clip([view.start, *middles, view.end], view.start, view.end).round(6).tolist()
    events = []
    for name, run in groupby(range(len(names)), key=names.__getitem__):
        at = list(run)
        start, end = edges[at[0]], edges[at[-1] + 1]
        if name and end - start >= LEAST_LENGTH:
            events.append(TimelineEvent(start=start, end=end, description=name))
    return events
