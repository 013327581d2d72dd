"""The frames of one video stream in order of time, from its start or from a keyframe, and what was lost."""

from __future__ import annotations

import heapq
import math
import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from corpora.video.containers import LEAP, LeapFilter, open_media, packets, packets_past_damage, time_of
from corpora.video.probe import LAST_FRAME
from corpora.video.records import Probe
from corpora.video.sampling import EPSILON

STEP_BACK = 1.0
"""Seconds; by so much earlier a seek is tried again, and then by four times as much."""


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


def entry_before(path: str, probe: Probe, time: float, keyframes: int) -> Entry:
    """An entry from which every frame from before `time` on is right.

    keyframes: how many to pass before frames are trusted. 2 is exact for open groups of images and
    intra refresh too: what follows the second keyframe refers to nothing ahead of the first. 1 is enough
    for closed groups. Packets are read, not decoded. `BEGINNING` where nothing is surely right.
    """
    with open_media(path) as container:
        stream = container.streams[probe.stream]
        if seekable(probe):
            return _by_seeking(container, stream, probe, time, keyframes)
        return _by_reading(container, stream, probe, time, keyframes)


def enter(container: Any, stream: Any, entry: Entry) -> None:
    """Seek a container to an entry point."""
    if entry.seek is not None:
        container.seek(entry.seek, stream=stream, backward=True)


def _by_seeking(container: Any, stream: Any, probe: Probe, time: float, keyframes: int) -> Entry:
    """From keyframe to keyframe back; some seeks land on the one that they began at."""
    import av

    found: list[tuple[int, float]] = []
    before, step = time, STEP_BACK
    while len(found) < keyframes:
        if before <= probe.video_start:
            return BEGINNING
        target = round((before + probe.start) / stream.time_base) - 1
        try:
            container.seek(target, stream=stream, backward=True)
            packet = next(packets(container, [stream]), None)
        except av.FFmpegError:
            return BEGINNING
        at = time_of(packet.pts, packet.time_base, probe.start) if packet is not None else None
        if packet is None or at is None or not packet.is_keyframe:
            return BEGINNING
        if at < (found[-1][1] if found else time):
            found.append((target, at))
        if at < before:
            before = at
        else:
            before, step = before - step, 4 * step
    return Entry(seek=found[-1][0], trusted=found[0][1])


def _by_reading(container: Any, stream: Any, probe: Probe, time: float, keyframes: int) -> Entry:
    """Count packets from the beginning: no seek, but no decoding either until shortly before `time`."""
    import av

    recent: deque[tuple[int, float]] = deque(maxlen=keyframes)
    try:
        for number, packet in enumerate(packets(container, [stream])):
            at = time_of(packet.pts, packet.time_base, probe.start)
            if at is None:
                return BEGINNING
            if packet.is_keyframe:
                if at >= time:
                    break
                recent.append((number, at))
    except av.FFmpegError:
        return BEGINNING
    if len(recent) < keyframes:
        return BEGINNING
    return Entry(passed=recent[0][0], trusted=recent[-1][1])


MOST_THREADS = 8
HUGE_PIXELS = 36_000_000
"""Above 8K one thread decodes: each thread holds frames of its own."""
PLACE_SECONDS = 1.0
"""Losses nearer than this are one place."""


class DamageMet(Exception):
    """The strict pass met something that is not as it should be."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A decoded frame and how long it is on screen, [time, end), as far as it says itself."""

    time: float
    end: float
    frame: Any
    until: float | None
    """When the frame before surely left the screen; None where it stayed until `time`."""


class StreamDecoder:
    """Iterate once.

    strict: several threads, and `DamageMet` at the first irregularity, before any frame that it touches
    is given out late (frame threads give other pixels from run to run once there is damage). Otherwise one
    thread, packet by packet: bad packets and frames marked corrupt are left out and counted in `lost`.
    skip: leave out frames that no other refers to; the packets' times still show when a frame ended.
    """

    def __init__(
        self, container: Any, probe: Probe, *, strict: bool, skip: bool, entry: Entry = BEGINNING
    ) -> None:
        self._container = container
        self._stream = container.streams[probe.stream]
        self._probe = probe
        self._strict = strict
        self._skip = skip
        self._entry = entry
        self._interval = 1 / probe.fps if probe.fps > 0 else 0.04
        self._before: Shown | None = None
        first = probe.video_start if entry.trusted == -math.inf else None
        self._clock: LeapFilter[Any] = LeapFilter(first)
        self._event = False
        self._passed: list[float] = []
        self.end = -math.inf
        """When the last image leaves the screen."""
        self.lost: list[float] = []
        """Times of frames that are missing."""
        self.left_out = 0
        """Frames that were decoded, but have a false time."""

    def __iter__(self) -> Iterator[Shown]:
        import av

        context = self._stream.codec_context
        huge = context.width * context.height > HUGE_PIXELS
        context.thread_type = "AUTO" if self._strict and not huge else "NONE"
        context.thread_count = min(os.cpu_count() or 1, MOST_THREADS) if self._strict and not huge else 1
        if self._strict and self._entry.trusted == -math.inf:
            # Not behind a seek: in an open group of images nothing would ever decode again.
            context.options = {"err_detect": "explode"}
        if self._skip:
            context.skip_frame = "NONREF"
        enter(self._container, self._stream, self._entry)
        for packet in self._packets():
            try:
                frames = self._stream.codec_context.decode(packet)
            except av.FFmpegError as error:
                self._lose(packet, error)
                continue
            for frame in frames:
                yield from self._show(frame)
        yield from self._shown(self._clock.finish())
        if self._strict and self._before is None and self._entry.trusted > -math.inf:
            raise DamageMet

    def _packets(self) -> Iterator[Any]:
        """Those to be decoded, and None to flush the decoder."""
        source = packets_past_damage(self._container, self._stream, partial(self._lose, None))
        for number, packet in enumerate(source):
            if packet is None:
                yield packet
            elif number >= self._entry.passed:
                self._note(packet)
                yield packet

    def _note(self, packet: Any) -> None:
        if packet.is_corrupt:
            self._lose(packet, None)
        time = time_of(packet.pts, packet.time_base, self._probe.start)
        if time is not None and not packet.is_discard and (self._skip or not self._strict):
            heapq.heappush(self._passed, time)
            if self._skip:
                # A frame that is skipped is on screen all the same.
                length = float(packet.duration * packet.time_base) if packet.duration else self._interval
                if self._before is not None and time - self._before.time < LEAP:
                    self.end = max(self.end, time + min(length, LAST_FRAME))

    def _show(self, frame: Any) -> Iterator[Shown]:
        base = frame.time_base or self._stream.time_base
        time = time_of(frame.pts if frame.pts is not None else frame.dts, base, self._probe.start)
        if time is None:
            time = self._before.time + self._interval if self._before is not None else 0.0
        if frame.is_corrupt:
            self._lose_at(time, None)
        elif time >= self._entry.trusted - EPSILON and frame.width > 0:
            if self._before is None and self._strict and -math.inf < self._entry.trusted < time - EPSILON:
                # The keyframe itself did not come: the seek landed late.
                raise DamageMet
            yield from self._shown(self._clock.push(time, frame))

    def _shown(self, frames: list[tuple[float, Any]]) -> Iterator[Shown]:
        for time in self._clock.dropped:
            self._lose_at(self._before.end if self._before is not None else time, None)
        self.left_out += len(self._clock.dropped)
        self._clock.dropped.clear()
        for time, frame in frames:
            before = self._before
            if before is not None and time <= before.time:
                if time < before.time:
                    self._lose_at(before.time, None)
                continue
            until = self._until(time)
            base = frame.time_base or self._stream.time_base
            length = float(frame.duration * base) if frame.duration else self._interval
            self.end = max(self.end, time + min(length, LAST_FRAME))
            self._before = Shown(time, time + length, frame, until)
            yield self._before

    def _until(self, time: float) -> float | None:
        """When the frame before left the screen, by the packets whose frames never came."""
        missing: list[float] = []
        while self._passed and self._passed[0] <= time + EPSILON:
            at = heapq.heappop(self._passed)
            if (self._before is None or at > self._before.time + EPSILON) and at < time - EPSILON:
                missing.append(at)
        event, self._event = self._event, False
        if event and not self._skip:
            self.lost += missing
        if missing and (self._skip or event):
            return missing[0]
        return self._before.end if event and self._before is not None else None

    def _lose(self, packet: Any | None, error: Exception | None) -> None:
        time = time_of(packet.pts, packet.time_base, self._probe.start) if packet is not None else None
        if time is None:
            time = self._before.end if self._before is not None else self._probe.video_start
        self._lose_at(time, error)

    def _lose_at(self, time: float, error: Exception | None) -> None:
        if self._before is None and self._entry.trusted > -math.inf:
            # Behind a seek, frames that refer to what was skipped fail to decode: as they should.
            return
        if self._strict:
            raise DamageMet from error
        self._event = True
        self.lost.append(time)


def frames_from(path: str, probe: Probe, time: float, keyframes: int) -> Iterator[Shown]:
    """The frames from one that is on screen at `time`, or from one before it, each once; from the first where
    `time` is before that. None where none can be decoded. `keyframes`: as of `entry_before`."""
    entry = entry_before(path, probe, time + EPSILON, keyframes) if time > probe.video_start else BEGINNING
    given = -math.inf
    for strict, where in dict.fromkeys(((True, entry), (False, entry), (False, BEGINNING))):
        with suppress(DamageMet), open_media(path) as container:
            for shown in StreamDecoder(container, probe, strict=strict, skip=False, entry=where):
                if given == -math.inf and shown.time > time + EPSILON and where is not BEGINNING:
                    break  # the seek landed late
                if shown.time > given:
                    given = shown.time
                    yield shown
            else:
                if given > -math.inf:
                    return


def lost_seconds(lost: list[float], fps: float) -> float:
    """About how long the missing frames would be on screen. lost: their times."""
    return len(set(lost)) / fps if fps > 0 else len(set(lost)) * 0.04


def is_cut_off(end: float, claimed: float) -> bool:
    """Whether the last frame ends so far before the end by the container's word that others are missing."""
    return end + max(1.0, claimed / 50) < claimed


def damage_text(lost: list[float], fps: float, end: float, claimed: float, left_out: int = 0) -> str:
    """`lost about 1.2 s of 60.0 s in 3 places; cut off at 30.0 s of 60.0 s`, or empty.

    lost: times of missing frames. claimed: the end by the container's word; 0 where it is not known.
    left_out: how many frames have a false time.
    """
    parts: list[str] = []
    times = sorted(set(lost))
    if times:
        places = 1 + sum(b - a > PLACE_SECONDS for a, b in pairwise(times))
        parts.append(
            f"lost about {lost_seconds(lost, fps):.2f} s of {max(end, 0.0):.1f} s in {places} "
            f"place{'s' if places > 1 else ''}"
        )
    if left_out:
        frames = "1 frame is" if left_out == 1 else f"{left_out} frames are"
        parts.append(f"{frames} left out: the timestamps leap ahead")
    # A claim twenty times the truth is a false header, not a file cut off.
    if is_cut_off(end, claimed) and claimed < 20 * max(end, 1.0):
        parts.append(f"cut off at {end:.1f} s of {claimed:.1f} s")
    return "; ".join(parts)
