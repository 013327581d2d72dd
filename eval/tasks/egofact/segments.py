"""Videos with their events cut into uniform 30-second clips (EgoFact, C.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eval.tasks.egofact.records import EventStructure, Segment
from rag.errors import UsageError

LONGEST = 100 * 3600
"""Seconds; a video that is said to be longer is counted in something else."""


def cut_segments(
    video: str,
    path: str,
    events: Sequence[EventStructure],
    *,
    seconds: float,
    duration: float | None,
    description: str,
    clutter: Sequence[str] = (),
    scenarios: Sequence[str] = (),
) -> list[Segment]:
    """Clips [0, 30), [30, 60), ... of one video with the events that are entirely inside.

    An event over an edge belongs to neither clip: none of them shows all of it.
    A last clip shorter than 5 s is left out. `duration`: None where unknown;
    then clips are taken whole, up to the last event. Raises `UsageError` for times of no video.
    """
    last = max((event.end for event in events), default=0.0)
    if not (last <= LONGEST and (duration is None or 0 <= duration <= LONGEST)):
        raise UsageError(f"{path}: times of more than {LONGEST // 3600} hours; are they seconds?")
    whole = duration if duration is not None else math.ceil(last / seconds - 1e-9) * seconds
    found = []
    for index in range(math.ceil(whole / seconds - 1e-9)):
        start, end = index * seconds, min((index + 1) * seconds, whole)
        if end - start < min(5.0, whole):
            continue
        inside = sorted(
            (event for event in events if start <= event.start and event.end <= end),
            key=lambda event: (event.start, event.end, event.rewritten),
        )
        found.append(
            Segment(
                f"{video}:{index:05d}",
                path,
                start,
                end,
                description,
                tuple(inside),
                tuple(clutter),
                tuple(scenarios),
            )
        )
    return found
