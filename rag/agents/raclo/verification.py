"""Verification and localization of one candidate, in parallel (RACLO, section 3.2, appendices E and F).

Verification: 64 frames, spread over the video, and all of its sound, against the
global impression; where none is given, against the moment, its context and its
sound. Localization: as many frames as the duration asks for, against the moment
with its context and sound; the best frame must be named, however weak.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import SPOKEN, Evidence
from localization.sampling import midpoints
from rag.agents.raclo.records import Moment, RacloSettings
from rag.agents.runtime.frame_source import WebVideo
from rag.reasoners.protocol import Reasoner
from rag.reasoners.roles.material import Memory, VideoView
from rag.reasoners.roles.watching import LOCATE, VERIFY_VIDEO, Consensus, LocateRequest, VerifyRequest
from rag.reasoners.wrappers import part_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.records import AudioClass, SoundTrack

BETWEEN = 0.49
"""Shift, in steps, of the frames of a second verdict by the same judge."""


def second_judge(reasoner: Reasoner) -> Reasoner | None:
    """The model of `[reasoner.judge]`, where it is another than the watcher's; else None: then the first
    judge looks a second time."""
    judge = part_of(reasoner, "judge")
    return None if judge is part_of(reasoner, "watcher") else judge


def verify(
    reasoner: Reasoner, second: Reasoner | None, memory: Memory, video: WebVideo, settings: RacloSettings
) -> Consensus:
    """Both judges' verdicts; the second is asked where the first accepts. Raises `ReasonerError` or
    `FileProblem`.

    Without a consensus the first verdict counts for both.
    """
    cues = global_part(memory)
    times = midpoints(0.0, video.duration, settings.verify_frames)
    first = reasoner.run(VERIFY_VIDEO, VerifyRequest(cues, shown(video, times, settings)))
    if not first.video_match:
        return Consensus(first, None)
    if not settings.consensus:
        return Consensus(first, first)
    if second is not None:
        view = shown(video.seen_by(second), times, settings)
        return Consensus(first, second.run(VERIFY_VIDEO, VerifyRequest(cues, view)))
    shifted = midpoints(0.0, video.duration, settings.verify_frames, shift=BETWEEN)
    return Consensus(first, reasoner.run(VERIFY_VIDEO, VerifyRequest(cues, shown(video, shifted, settings))))


def locate_moment(
    reasoner: Reasoner, memory: Memory, video: WebVideo, settings: RacloSettings
) -> Moment | None:
    """The best frame; where none can be shown, the stretch in which it is said or read; None where
    there is none of it either. Raises `ReasonerError` or `FileProblem`."""
    cues = Memory(key_moment=memory.key_moment)
    if settings.context:
        cues = replace(memory, global_impression="")
    stored = settings.frames == "stored"
    times = None if stored else midpoints(0.0, video.duration, settings.budget.frames(video.duration))
    view = shown(video, times, settings)
    seen = bool(view.times)
    if not seen:
        middles = {round((line.start + line.end) / 2, 6) for line in view.texts if line.kind != "tag"}
        inside = sorted(time for time in middles if view.start <= time < view.end)
        view = replace(view, frame_times=np.array(inside))
    if not view.times:
        return None
    request = LocateRequest(cues.key_moment, view, "frame", must_choose=seen, memory=cues)
    located = reasoner.run(LOCATE, request)
    # Of words, the line that speaks most to it, where one does.
    if located.frame is None or not (seen or located.relevant):
        return None
    start, end = _stretch(video, view.times, located.frame)
    by_words = "no frame was seen; what is said or read there speaks most to it"
    return Moment(
        time=round(view.times[located.frame], 6),
        frame=located.frame if seen else 0,
        frames=len(view.times) if seen else 0,
        start=start,
        end=end,
        confidence=located.confidence,
        reason=located.reason if seen else by_words,
    )


def global_part(memory: Memory) -> Memory:
    """What a whole video is held against."""
    if memory.global_impression:
        return Memory(global_impression=memory.global_impression)
    return memory


def shown(video: WebVideo, times: NDArray[np.float64] | None, settings: RacloSettings) -> VideoView:
    """The whole video with the frames at `times` and all of its text and audio; without the uploader's
    metadata, since the content is what is verified.

    `times`: float64 (n,) seconds; None takes every stored embedding.
    """
    heard, read = settings.sound, settings.screen
    view = video.view(0.0, video.duration, times, transcript=heard, screen=read, metadata=False, audio=heard)
    lines = [*view.texts, *(sound_lines(video) if settings.sound else ())]
    ordered = tuple(sorted(lines, key=lambda line: (line.start, line.end, line.kind, line.text)))
    return replace(view, texts=ordered)


def _stretch(video: WebVideo, times: Sequence[float], at: int) -> tuple[float, float]:
    """The shot that holds frame `at`, where shots were measured; else halfway to its neighbours."""
    time = times[at]
    for shot in () if video.library is None else video.library.shots(video.video_id):
        if shot.start <= time < shot.end:
            return shot.start, shot.end
    before = times[at - 1] if at else -times[0]
    after = times[at + 1] if at + 1 < len(times) else 2 * video.duration - time
    start, end = max(0.0, (before + time) / 2), min(video.duration, (time + after) / 2)
    return round(start, 6), round(max(end, start + 0.001), 6)


SHORTEST = 3
"""Seconds of one sound that are worth a line."""
EVERYWHERE = 0.6
"""Share of a video from which a sound has one line for the whole video."""
WORDED: dict[AudioClass, str] = {
    "speech": "somebody speaks",
    "music": "music plays",
    "ambient": "only noises of the place, no music and no voice",
    "silence": "silence",
}


def sound_lines(video: WebVideo) -> tuple[Evidence, ...]:
    """List what is heard, in time order, without what the web's transcript says already."""
    library = video.library
    if library is None:
        return ()
    spoken: list[Evidence] = []
    if not video.lines:
        held = library.engine.reader.evidence(video.video_id, 0.0, video.duration + 1.0)
        spoken = [line for line in held if line.kind in SPOKEN]
    track = library.sound_track(video.video_id)
    measured = [] if track is None else [*measured_lines(track)]
    return tuple(sorted([*spoken, *measured], key=lambda line: (line.start, line.end, line.text)))


def measured_lines(track: SoundTrack) -> Iterator[Evidence]:
    """Stretches of one sound of 3 s and more, kind `tag`: [start, end) whole seconds.

    A `tag` holds for its interval and is not taken for speech.
    """
    count = len(track.classes)
    for name in WORDED:
        if count and track.classes.count(name) >= EVERYWHERE * count:
            yield Evidence(track.video_id, 0.0, float(count), "tag", f"{WORDED[name]} most of the time")
    at = 0
    for measured, run in groupby(track.classes):
        length = sum(1 for _ in run)
        if measured is not None and length >= SHORTEST and track.classes.count(measured) < EVERYWHERE * count:
            yield Evidence(track.video_id, float(at), float(at + length), "tag", WORDED[measured])
        at += length
