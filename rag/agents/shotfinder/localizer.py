"""The localizer: one candidate video to the shot that fits, or N/A (ShotFinder, section 4.4).

A video of other lines than those asked for is not looked at. The frames are spread over the video, the
reasoner names the one that fits or none, and the shot around it is the find. Where something is said of
what comes before or after, a few shots are named in turn, and each is weighed by how well its neighbours fit:

    score = confidence * mean over the sides of context(neighbour)

A side is the shot next to it, or 10 s where no shots were measured; where the
video ends it fits by 0, and one that cannot be shown is left out of the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localization.sampling import midpoints
from rag.agents.runtime.frame_source import WebVideo
from rag.agents.shotfinder.constraints import Check, Constraints, Measures, memory_of
from rag.agents.shotfinder.records import FoundShot, Look, ShotSettings
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.watching import LOCATE, Located, LocateRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

Span = tuple[float, float]
SIDE = 10.0
"""Seconds of a neighbouring stretch where no shots were measured."""
FITS = 0.5
"""How well a neighbour must fit to count as the one that was named."""
UNLIKE = 0.49
"""How well a neighbour fits at most of which the reasoner says that it is another: never as one that fits."""
NO_FRAME = "no frame can be shown"
NOT_LOOKED = "not looked at"
NO_NEIGHBOUR = {"before it": "the video begins there", "after it": "the video ends there"}


@dataclass(frozen=True, slots=True)
class Localizer:
    """Localizes in one video. `constraints`: as far as the settings use them."""

    reasoner: Reasoner
    video: WebVideo
    description: str
    constraints: Constraints
    measures: Measures
    settings: ShotSettings

    def look(self, query: str) -> Look:
        """The best shot, or N/A; `query`: the search that found the video. Raises `ReasonerError` or
        `FileProblem`."""
        result = self.video.result
        place = (result.url, result.title, self.video.video_id, query)
        denied = [one for one in self.measures.lines(self.constraints) if one.holds is False]
        if denied and self._exact:
            why = f"{denied[0].kind}: wanted {denied[0].wanted}, measured {denied[0].found}"
            return Look(*place, None, 0, "constraint", why)
        times = midpoints(0.0, self.video.duration, self.settings.budget.frames(self.video.duration))
        shown, best, reason = len(times), None, ""
        for _ in range(self.settings.tries if self._has_context else 1):
            located, frame = self._locate(times)
            if located is None:
                return Look(*place, None, 0, "unseen", NO_FRAME, len(self.video.lines))
            if frame is None:
                reason = located.reason
                break
            found = self._found(located, frame, times)
            best = found if best is None or found.score > best.score else best
            times = times[(times < found.start) | (times >= found.end)]
            if len(times) == 0:
                break
        if best is None:
            return Look(*place, None, shown, "localizer", reason)
        return Look(*place, best, shown)

    @property
    def _exact(self) -> bool:
        return self.settings.constraint_mode == "exact"

    @property
    def _has_context(self) -> bool:
        return self._exact and bool(self.constraints.after or self.constraints.before)

    @property
    def _text_constraints(self) -> Constraints:
        """What is left to the reasoner: a resolution that was measured is not said again, where it would only
        blur the description."""
        known = any(one.found for one in self.measures.lines(self.constraints))
        return self.constraints.without_resolution() if self._exact and known else self.constraints

    def _locate(self, times: NDArray[np.float64]) -> tuple[Located | None, float | None]:
        """The reply and the moment of its frame; no reply where nothing can be shown."""
        # Section 4.4: the sound goes along where the constraint is about it.
        view = self._view((0.0, self.video.duration), times, audio="audio" in self.constraints.kinds)
        if not view.times:
            return None, None
        memory = memory_of(self.description, self._text_constraints)
        reply = self.reasoner.run(
            LOCATE, LocateRequest(self.description, view, target="frame", memory=memory)
        )
        if not reply.relevant or reply.frame is None:
            return reply, None
        return reply, view.times[min(reply.frame, len(view.times) - 1)]

    def _view(self, span: Span, times: NDArray[np.float64], *, audio: bool = False) -> VideoView:
        words = self.settings.look == "frames and texts"
        return self.video.view(*span, times, transcript=words, screen=words, metadata=words, audio=audio)

    def _found(self, located: Located, frame: float, times: NDArray[np.float64]) -> FoundShot:
        shot = self.measures.shot_at(frame)
        start, end = (shot.start, shot.end) if shot is not None else _around(frame, times)
        checks = list(self.measures.checks(self.constraints, start, end))
        weight = 1.0
        if self._has_context:
            sides = list(self._sides(start, end))
            checks += [check for check, _ in sides]
            known = [fit for _, fit in sides if fit is not None]
            weight = sum(known) / len(known) if known else 1.0
        result = self.video.result
        return FoundShot(
            result.url,
            result.title,
            self.video.video_id,
            round(start, 3),
            round(end, 3),
            round(frame, 3),
            confidence=round(located.confidence, 6),
            score=round(located.confidence * weight, 6),
            measured=shot is not None,
            checks=tuple(checks),
            reason=located.reason,
        )

    def _sides(self, start: float, end: float) -> Iterator[tuple[Check, float | None]]:
        """Each side of which something is said, and how well the stretch there fits it, in [0, 1]; None
        where it cannot be shown."""
        shots = self.measures.shots
        first = next((shot.start for shot in reversed(shots) if shot.end <= start + 1e-6), start - SIDE)
        last = next((shot.end for shot in shots if shot.start >= end - 1e-6), end + SIDE)
        for described, where, span in (
            (self.constraints.after, "before it", (max(0.0, first), start)),
            (self.constraints.before, "after it", (end, min(self.video.duration, last))),
        ):
            if not described:
                continue
            wanted = f"{where}: {described}"
            if span[1] <= span[0]:
                yield Check("temporal", wanted, NO_NEIGHBOUR[where], False), 0.0
                continue
            fit = self._fit(described, span)
            if fit is None:
                yield Check("temporal", wanted, NOT_LOOKED, None), None
            else:
                shown = fit if fit >= FITS else min(fit, UNLIKE)
                yield Check("temporal", wanted, f"{shown:.2f}", fit >= FITS), fit

    def _fit(self, described: str, span: Span) -> float | None:
        """Its confidence, or, of a stretch that the reasoner says is another, what is left of it; such a one
        never fits, however little sure the reasoner is."""
        view = self._view(span, midpoints(*span, self.settings.context_frames))
        if not view.times:
            return None
        reply = self.reasoner.run(LOCATE, LocateRequest(described, view, target="frame"))
        if reply.relevant:
            return round(reply.confidence, 6)
        left = round(max(0.0, 1.0 - reply.confidence), 6)
        return left if left < FITS else UNLIKE


def _around(frame: float, times: NDArray[np.float64]) -> Span:
    """The times nearer to the frame than to its neighbours."""
    at = int(np.abs(times - frame).argmin())
    step = float(np.diff(times).min()) if len(times) > 1 else 1.0
    start = (float(times[at - 1]) + frame) / 2 if at else frame - step / 2
    end = (float(times[at + 1]) + frame) / 2 if at + 1 < len(times) else frame + step / 2
    return max(0.0, start), end
