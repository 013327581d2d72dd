"""Video understanding, where the gold clip was retrieved: judged, and by exact coverage of the event.

Judged (EgoFact, 3.3 and D.1): given the question and what was read of the gold
clip, a judge says whether that is enough to answer. Exact: at least one frame
that was read of the gold clip is within the time in which the deciding object
shows in use (`seen`; the whole event where `seen` is not known). The second needs
no judge, only a world that knows its truth. Queries whose gold clip was not
retrieved count in neither.
"""

from __future__ import annotations

from eval.metrics.scored import Scored


def judged(scored: Scored) -> float | None:
    """1 where the sample's explanation was judged right, else 0."""
    if not scored.clip_found or scored.sample.understood is None:
        return None
    return float(scored.sample.understood)


def event_shown(scored: Scored) -> float | None:
    """None, too, where no frame of the gold clip was read: text systems look at none."""
    if not scored.clip_found or not scored.sample.gold_frames:
        return None
    start, end = scored.query.seen or scored.query.window
    return float(any(start <= time < end for time in scored.sample.gold_frames))
