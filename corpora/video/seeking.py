"""Where to enter a file so that what follows decodes exactly as it would from the beginning."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from corpora.video.containers import open_media, packets, time_of
from corpora.video.decoders import Heartbeat
from corpora.video.records import Probe

_STEPS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
"""Seconds; seeks go back so far before the time asked for, until enough keyframes lie between."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A keyframe to begin decoding at."""

    seek: int | None = None
    """Timestamp to seek to, in the stream's time base; None for the beginning of the file."""
    passed: int = 0
    """Packets of the stream to pass over before the first that is decoded."""
    trusted: float = float("-inf")
    """Frames before this time may lack the references they were coded with, and are not to be shown."""


BEGINNING = Entry()


def seekable(probe: Probe) -> bool:
    """Only containers whose index gives exact times; a seek in MPEG-TS often yields nothing."""
    return probe.container.startswith(("mov,", "matroska,"))


def entry_before(path: str, probe: Probe, time: float, keyframes: int, beat: Heartbeat) -> Entry:
    """An entry from which every frame from before `time` on is right.

    keyframes: how many to pass before frames are trusted. 2 is exact for open groups of images and
    intra refresh too: what follows the second keyframe refers to nothing ahead of the first. 1 is enough
    for closed groups. Packets are read, not decoded. `BEGINNING` where nothing is surely right.
    """
    with open_media(path) as container:
        stream = container.streams[probe.stream]
        if seekable(probe):
            return _by_seeking(container, stream, probe, time, keyframes, beat)
        return _by_reading(container, stream, probe, time, keyframes, beat)


def enter(container: Any, stream: Any, entry: Entry) -> None:
    """Seek a container to an entry point."""
    if entry.seek is not None:
        container.seek(entry.seek, stream=stream, backward=True)


def _by_seeking(
    container: Any, stream: Any, probe: Probe, time: float, keyframes: int, beat: Heartbeat
) -> Entry:
    import av

    for step in _STEPS:
        if time - step <= probe.picture_start:
            break
        target = round((time - step + probe.start) / stream.time_base)
        try:
            container.seek(target, stream=stream, backward=True)
            trusted = _keyframe(container, stream, probe, time, keyframes, beat)
        except av.FFmpegError:
            return BEGINNING
        if trusted is not None:
            return Entry(seek=target, trusted=trusted)
    return BEGINNING


def _keyframe(
    container: Any, stream: Any, probe: Probe, time: float, keyframes: int, beat: Heartbeat
) -> float | None:
    """Time of the n-th keyframe from here, if it lies before `time`, and the first packet is the first."""
    found = 0
    for packet in packets(container, [stream]):
        beat()
        at = time_of(packet.pts, packet.time_base, probe.start)
        if at is None or (found == 0 and not packet.is_keyframe):
            return None
        if packet.is_keyframe:
            found += 1
            if at >= time:
                return None
            if found == keyframes:
                return at
    return None


def _by_reading(
    container: Any, stream: Any, probe: Probe, time: float, keyframes: int, beat: Heartbeat
) -> Entry:
    """Count packets from the beginning: no seek, but no decoding either until shortly before `time`."""
    import av

    recent: deque[tuple[int, float]] = deque(maxlen=keyframes)
    try:
        for number, packet in enumerate(packets(container, [stream])):
            beat()
            at = time_of(packet.pts, packet.time_base, probe.start)
            if packet.size and at is None:
                return BEGINNING
            if at is not None and packet.is_keyframe:
                if at >= time:
                    break
                recent.append((number, at))
    except av.FFmpegError:
        return BEGINNING
    if len(recent) < keyframes:
        return BEGINNING
    return Entry(passed=recent[0][0], trusted=recent[-1][1])
