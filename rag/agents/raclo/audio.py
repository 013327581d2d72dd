"""The sound of a video as lines of text: stored speech, and intervals of one class of sound as they were
measured at indexing time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from corpora.records import Evidence
from rag.agents.runtime.frame_source import WebVideo

if TYPE_CHECKING:
    from corpora.records import AudioClass, SoundTrack

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
SPOKEN = ("subtitle", "asr")


def sound_lines(video: WebVideo) -> tuple[Evidence, ...]:
    """In time order. What the web's transcript says already is not said twice."""
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
