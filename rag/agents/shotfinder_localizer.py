"""The localizer: one candidate video to the shot that fits, or N/A (ShotFinder, section 4.4).

What an index measured decides first: a video of other lines, a shot of another
tone, style or sound is not looked at. The frames are spread over what is left,
the mind names the one that fits or none, and the shot around it is the find.
Where something is said of what comes before or after, a few shots are named
in turn, and each is weighed by how well its neighbours fit:

    score = confidence * mean over the sides of context(neighbour)

A side is the shot next to it, or 10 s where no shots were measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag.agents.shotfinder_constraints import Check, Constraints, check_shot, memory_of
from rag.agents.shotfinder_records import FoundShot, Look, ShotRequest
from rag.agents.shotfinder_settings import ShotSettings
from rag.agents.video_browser_sight import Sight, even_times
from rag.reasoners.roles import ConstraintKind, Located, LocateRequest, Reasoner
from rag.records import Shot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.library import Library
    from rag.records import SoundTrack, Video

__all__ = ["Measures", "look", "measures_of"]

SIDE = 10.0
"""Seconds of a neighbouring stretch where no shots were measured."""
FITS = 0.5
"""How well a neighbour must fit to count as the one that was named."""
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Measures:
    """What an index says of one video; nothing where it does not hold it."""

    video: Video | None = None
    shots: tuple[Shot, ...] = ()
    sound: SoundTrack | None = None

    def fits(self, constraints: Constraints) -> tuple[Shot, ...]:
        """The shots that none of the measurable constraints denies."""
        return tuple(shot for shot in self.shots if self.denied(constraints, shot) is None)

    def denied(self, constraints: Constraints, shot: Shot | None) -> Check | None:
        """The first constraint that a measurement denies."""
        checks = check_shot(constraints, self.video, shot, self.sound)
        return next((check for check in checks if check.holds is False), None)


def measures_of(library: Library | None, video_id: str) -> Measures:
    if library is None:
        return Measures()
    try:
        video = library.reader.video(video_id)
    except KeyError:
        return Measures()
    return Measures(video, library.shots(video_id), library.sound_track(video_id))


def look(
    mind: Reasoner,
    sight: Sight,
    request: ShotRequest,
    query: str,
    measures: Measures,
    settings: ShotSettings,
) -> Look:
    """The best shot of one video, or N/A. Raises `ReasonerError` or `FileProblem`."""
    constraints = request.constraints if settings.heed != "off" else Constraints()
    heeded = constraints if settings.heed == "measured" else Constraints()
    place = (sight.result.url, sight.result.title, sight.video_id, query)
    if not measures.shots and (denied := measures.denied(heeded, None)) is not None:
        return Look(*place, None, 0, "constraint", _denial(denied))
    allowed = measures.fits(heeded)
    if measures.shots and not allowed:
        return Look(*place, None, 0, "constraint", _why_none(heeded, measures))
    spans = _joined([(shot.start, shot.end) for shot in allowed] or [(0.0, sight.duration)])
    times = _over(spans, settings.budget.frames(sight.duration))
    shown = len(times)
    sides = settings.heed == "measured" and bool(constraints.after or constraints.before)
    best: FoundShot | None = None
    reason = ""
    for _ in range(settings.tries if sides else 1):
        located = _locate(mind, sight, request.description, constraints, times, sides)
        if located is None or not located.relevant or located.frame is None:
            reason = reason or (located.reason if located is not None else "no frame of it is to be had")
            break
        frame = float(times[located.frame])
        span, shot = _shot_at(frame, measures.shots, times)
        found = _found(mind, sight, constraints, located, frame, span, shot, measures, settings, sides)
        best = found if best is None or found.score > best.score else best
        times = times[(times < span[0]) | (times >= span[1])]
        if len(times) == 0:
            break
    return Look(*place, best, shown, "" if best is not None else "localizer", "" if best else reason)


def _locate(
    mind: Reasoner,
    sight: Sight,
    description: str,
    constraints: Constraints,
    times: NDArray[np.float64],
    sides: bool,
) -> Located | None:
    """Which frame it is; None where nothing can be shown. The frame of the reply is an index of `times`."""
    view = sight.view(0.0, sight.duration, times)
    if not view.times:
        return None
    memory = memory_of(description, constraints, neighbours=not sides)
    reply = mind.locate(LocateRequest(description, view, target="frame", memory=memory))
    if reply.frame is None:
        return reply
    # A stored vector stands for the moment that is nearest to it, and one for several.
    seen = np.asarray(view.times)[min(reply.frame, len(view.times) - 1)]
    at = int(np.abs(times - seen).argmin())
    return reply.model_copy(update={"frame": at})


def _found(
    mind: Reasoner,
    sight: Sight,
    constraints: Constraints,
    located: Located,
    frame: float,
    span: Span,
    shot: Shot | None,
    measures: Measures,
    settings: ShotSettings,
    sides: bool,
) -> FoundShot:
    checks = list(check_shot(constraints, measures.video, shot, measures.sound))
    weight = 1.0
    if sides:
        around = list(_neighbours(mind, sight, constraints, span, measures.shots, settings))
        checks += [check for check, _ in around]
        weight = sum(fit for _, fit in around) / len(around)
    return FoundShot(
        url=sight.result.url,
        title=sight.result.title,
        video_id=sight.video_id,
        start=round(span[0], 3),
        end=round(span[1], 3),
        frame=round(frame, 3),
        confidence=round(located.confidence, 6),
        score=round(located.confidence * weight, 6),
        measured=shot is not None,
        checks=tuple(checks),
        reason=located.reason,
    )


def _neighbours(
    mind: Reasoner,
    sight: Sight,
    constraints: Constraints,
    span: Span,
    shots: Sequence[Shot],
    settings: ShotSettings,
) -> Iterator[tuple[Check, float]]:
    """Each side of which something is said, and how well the stretch there fits it, in [0, 1]."""
    before = next((shot.start for shot in reversed(shots) if shot.end <= span[0] + 1e-6), span[0] - SIDE)
    after = next((shot.end for shot in shots if shot.start >= span[1] - 1e-6), span[1] + SIDE)
    kind: ConstraintKind = "temporal"
    for told, start, end in (
        (constraints.after, max(0.0, before), span[0]),
        (constraints.before, span[1], min(sight.duration, after)),
    ):
        if not told:
            continue
        fit = 0.0
        if end > start:
            view = sight.view(start, end, even_times(start, end, settings.context_frames))
            if view.times:
                reply = mind.locate(LocateRequest(told, view, target="frame"))
                fit = reply.confidence if reply.relevant else max(0.0, 1.0 - reply.confidence)
        side = "before it" if end <= span[0] else "after it"
        yield Check(kind, f"{side}: {told}", f"{fit:.2f}", fit >= FITS), fit


def _shot_at(frame: float, shots: Sequence[Shot], times: NDArray[np.float64]) -> tuple[Span, Shot | None]:
    """The measured shot around a frame; else what lies nearer to it than to the frames beside it."""
    held = next((shot for shot in shots if shot.start <= frame < shot.end), None)
    if held is not None:
        return (held.start, held.end), held
    at = int(np.abs(times - frame).argmin())
    step = float(np.diff(times).min()) if len(times) > 1 else 1.0
    start = (times[at - 1] + frame) / 2 if at else frame - step / 2
    end = (times[at + 1] + frame) / 2 if at + 1 < len(times) else frame + step / 2
    return (max(0.0, float(start)), float(end)), None


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Spans in time order, those that touch made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1e-6:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _over(spans: Sequence[Span], count: int) -> NDArray[np.float64]:
    """(count,) moments spread evenly over the spans taken together, rising."""
    total = sum(end - start for start, end in spans)
    inner = even_times(0.0, total, count)
    moments, gone = [], 0.0
    for start, end in spans:
        inside = inner[(inner >= gone) & (inner < gone + (end - start))]
        moments.append(inside - gone + start)
        gone += end - start
    return np.asarray(np.round(np.concatenate(moments), 6), np.float64)


def _denial(check: Check) -> str:
    return f"{check.kind}: wanted {check.wanted}, measured {check.found}"


def _why_none(constraints: Constraints, measures: Measures) -> str:
    """What denies most of the shots."""
    denials = [_denial(check) for shot in measures.shots if (check := measures.denied(constraints, shot))]
    return max(sorted(set(denials)), key=denials.count)
