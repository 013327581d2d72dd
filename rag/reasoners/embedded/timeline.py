"""The coarse course of a video: chapters and lines as they stand, frames by their nearest wordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rag.reasoners.embedded.text_lines import lines
from rag.reasoners.embedded.zero_shot import ZeroShotScorer
from rag.reasoners.roles import Timeline, TimelineEvent, TimelineRequest, VideoView

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LINES = 400
LEAST_LENGTH = 0.001


def timeline(request: TimelineRequest, scorer: ZeroShotScorer) -> Timeline:
    """By start. Neighbouring frames with the same wordings are one event."""
    view = request.view
    events = [*_frame_events(view, scorer), *_line_events(view)]
    return Timeline(
        events=tuple(sorted(events, key=lambda event: (event.start, event.end, event.description)))
    )


def _frame_events(view: VideoView, scorer: ZeroShotScorer) -> list[TimelineEvent]:
    labels = scorer.labels_each(view)
    if labels is None or view.frame_times is None:
        return []
    edges = _edges(view.frame_times, view)
    events: list[TimelineEvent] = []
    for at, label in enumerate(labels):
        text = label.text()
        if not text or edges[at + 1] - edges[at] < LEAST_LENGTH:
            continue
        start, end = float(edges[at]), float(edges[at + 1])
        if events and events[-1].description == text and events[-1].end >= start - LEAST_LENGTH:
            events[-1] = TimelineEvent(start=events[-1].start, end=end, description=text)
        else:
            events.append(TimelineEvent(start=start, end=end, description=text))
    return events


def _edges(times: NDArray[np.float64], view: VideoView) -> NDArray[np.float64]:
    """(n + 1,) half-way between neighbouring frames; the view's own at both ends."""
    inner = (np.asarray(times[1:], np.float64) + np.asarray(times[:-1], np.float64)) / 2
    edges = np.concatenate([[view.start], inner, [view.end]])
    return np.asarray(np.round(np.clip(edges, view.start, view.end), 6), np.float64)


def _line_events(view: VideoView) -> list[TimelineEvent]:
    return [
        TimelineEvent(
            start=max(0.0, line.start), end=max(line.end, line.start + LEAST_LENGTH), description=line.text
        )
        for line in lines(view)[:MOST_LINES]
        if line.kind != "tag" and line.text and view.start <= line.start < view.end
    ]
