"""What an index says of one video, and which of its shots meet a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.records import Shot
from rag.agents.shotfinder.constraints import Check, Constraints, check_shot

if TYPE_CHECKING:
    from corpora.records import SoundTrack, Video
    from rag.library import Library

Span = tuple[float, float]
STEP = 0.5
"""Seconds between the frames that a library keeps."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one video; nothing where the index does not hold it."""

    video: Video | None = None
    shots: tuple[Shot, ...] = ()
    sound: SoundTrack | None = None

    def checks(self, constraints: Constraints, shot: Shot | None) -> tuple[Check, ...]:
        """Check the constraints on a shot, one result each."""
        return check_shot(constraints, self.video, shot, self.sound)

    def denied(self, constraints: Constraints, shot: Shot | None) -> Check | None:
        """The first constraint that a measurement denies."""
        return next((check for check in self.checks(constraints, shot) if check.holds is False), None)

    def fits(self, constraints: Constraints) -> tuple[Shot, ...]:
        """The shots that none of the measurable constraints is denied of."""
        return tuple(shot for shot in self.shots if self.denied(constraints, shot) is None)

    def undecided(self, constraints: Constraints) -> Constraints:
        """Those that nothing measured decides about for every shot."""
        shots: Sequence[Shot | None] = self.shots or (None,)
        checks = [check for shot in shots for check in self.checks(constraints, shot)]
        open_ = {check.kind for check in checks if check.holds is None}
        left = constraints
        for kind in {check.kind for check in checks} - open_:
            left = left.without(kind)
        return left

    def unknown(self, constraints: Constraints) -> str:
        """What of it was measured of no shot, and the command that measures it."""
        shots: Sequence[Shot | None] = self.shots or (None,)
        known = {check.kind for shot in shots for check in self.checks(constraints, shot) if check.found}
        missing = [kind for kind in constraints.kinds if kind != "temporal" and kind not in known]
        if self.video is not None and not self.shots:
            return "its shots were not measured: 'rag index' the video with an image encoder"
        if not missing:
            return "no frame can be shown, and no shot was measured for all that is asked for"
        were = "was" if len(missing) == 1 else "were"
        encoder = " with an image encoder" if "style" in missing else ""
        return f"{' and '.join(missing)} {were} not measured: 'rag index' the video{encoder}"

    def shot_at(self, time: float) -> Shot | None:
        """The shot on screen at `time` seconds; None without one."""
        return next((shot for shot in self.shots if shot.start <= time < shot.end), None)


def measures_of(library: Library | None, video_id: str) -> Measures:
    """The stored measurements of a video."""
    if library is None:
        return Measures()
    try:
        video = library.engine.reader.video(video_id)
    except KeyError:
        return Measures()
    return Measures(video, library.shots(video_id), library.sound_track(video_id))


def allowed_spans(allowed: Sequence[Shot], measures: Measures, duration: float) -> list[Span]:
    """Where to look: the shots that are allowed, in time order, those that touch made one; else all of it.

    A moment is shown by the stored frame that is nearest to it. So where some shots are not allowed,
    the others are entered half a step inside their cuts.
    """
    if not allowed:
        return [(0.0, duration)]
    if len(allowed) == len(measures.shots):
        return [(allowed[0].start, allowed[-1].end)]
    return [_inner(shot) for shot in allowed]


def why_none(constraints: Constraints, measures: Measures) -> str:
    """What denies most of the shots, or the video as a whole; empty where nothing does."""
    shots: Sequence[Shot | None] = measures.shots or (None,)
    found = [check for shot in shots if (check := measures.denied(constraints, shot)) is not None]
    reasons = [f"{check.kind}: wanted {check.wanted}, measured {check.found}" for check in found]
    return max(sorted(set(reasons)), key=reasons.count, default="")


def _inner(shot: Shot) -> Span:
    room = STEP / 2 if shot.end - shot.start > 2 * STEP else 0.0
    return shot.start + room, shot.end - room
