"""Keyframes of a stretch of video, decoded alone: cheap images to look through, near the times asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DamagedFile
from corpora.records import Frames
from corpora.video.containers import open_media, packets, time_of
from corpora.video.decoders import Heartbeat
from corpora.video.records import Probe
from corpora.video.sampling import FrameRenderer
from corpora.video.stream_decoding import seekable


def keyframes_near(
    path: str, probe: Probe, times: Sequence[float], size: tuple[int, int], beat: Heartbeat
) -> Frames:
    """For each of `times`, rising seconds, the keyframe on screen before it, else the first one after it.

    `size`: width and height of the images, upright. Only keyframes are decoded. Raises `DamagedFile` where
    none decodes.
    """
    renderer = FrameRenderer()
    chosen: list[tuple[float, NDArray[np.uint8]]] = []
    last: tuple[float, Any] | None = None
    shown: tuple[float, NDArray[np.uint8]] | None = None
    for time, frame in _keyframes(path, probe, times[0], beat):
        while last is not None and len(chosen) < len(times) and times[len(chosen)] < time:
            if shown is None or shown[0] != last[0]:
                shown = last[0], renderer.render(last[1], 0, size)
            chosen.append(shown)
        last = time, frame
        if len(chosen) == len(times) or time > times[-1]:
            break
    if last is None:
        raise DamagedFile("no keyframe of it decodes")
    if len(chosen) < len(times):
        final = last[0], renderer.render(last[1], 0, size)
        chosen += [final] * (len(times) - len(chosen))
    return Frames(np.array([time for time, _ in chosen]), np.stack([image for _, image in chosen]))


def _keyframes(path: str, probe: Probe, start: float, beat: Heartbeat) -> Iterator[tuple[float, Any]]:
    """Time and frame of the keyframes from the last one before `start` on."""
    import av

    with open_media(path) as container:
        stream = container.streams[probe.stream]
        context = stream.codec_context
        context.skip_frame = "NONKEY"
        if seekable(probe) and start > probe.video_start:
            container.seek(round((start + probe.start) / stream.time_base), stream=stream, backward=True)
        read = packets(container, [stream])
        packet: Any = stream
        while packet is not None:
            try:
                # After a read error there are no more.
                packet = next(read, None)
                beat()
                if packet is not None and not packet.is_keyframe:
                    continue
                for frame in context.decode(packet):
                    time = time_of(frame.pts, frame.time_base or stream.time_base, probe.start)
                    if time is not None and frame.width > 0:
                        yield time, frame
            except av.FFmpegError:
                continue
