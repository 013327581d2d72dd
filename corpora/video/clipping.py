"""Cutting one clip out of a video, exact to the frame, by encoding again; copying its streams into MP4."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.outputs import PROGRAM
from corpora.video.audio import read_audio
from corpora.video.containers import open_media, packets, pick_audio
from corpora.video.probe import probe_file
from corpora.video.pyav_decoder import claimed_end
from corpora.video.records import Probe
from corpora.video.sampling import EPSILON, FrameRenderer
from corpora.video.stream_decoding import Shown, frames_from, is_cut_off

AUDIO_RATE = 48000
TICKS = Fraction(1, 90000)
ROUNDING = 0.0005 + EPSILON
"""Seconds. Times in JSON are rounded to milliseconds, so one this near to a frame's edge is the edge."""


def encode_clip(path: str, start: float, end: float, out: str) -> None:
    """Write [start, end) of `path` to `out` as H.264 and AAC in MP4; its clock starts at 0.

    The first frame is the one on screen at `start`, where the last one stays to the end of the file. A time
    within half a millisecond of a frame's edge is that edge. Images are upright and progressive, with square
    pixels, of even size. Where none of the sound from `start` on decodes, the clip has images alone. Raises
    `FileProblem` (reason without path) if nothing is in the interval.
    """
    import av

    probe = probe_file(path)
    # The name was made by the caller in the folder of the target, and is no user's word.
    with av.open("file:" + out, "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.metadata["comment"] = PROGRAM
        video = _add_video(container, probe) if probe.stream >= 0 else None
        sound = container.add_stream("aac", rate=AUDIO_RATE, layout="mono") if probe.audio else None
        written = 0
        if video is not None:
            written += _encode_images(container, video, path, probe, start, end)
        if sound is not None:
            try:
                written += _encode_sound(container, sound, path, start, end)
            except DamagedFile:
                # Sound often ends before the images do.
                if written == 0:
                    raise
        if written == 0:
            raise DamagedFile(f"it holds nothing between {start:.3f} and {end:.3f} s")


def copy_streams(path: str, probe: Probe, out: str) -> None:
    """Write the chosen images and sound of `path` to `out` as MP4, packet by packet; its clock is the file's.

    Packets without times are left out. Raises `UnsupportedFile` (reason without path) where MP4 cannot hold
    a stream.
    """
    import av

    with (
        open_media(path) as source,
        av.open("file:" + out, "w", format="mp4", options={"movflags": "+faststart"}) as target,
    ):
        target.metadata["comment"] = PROGRAM
        audio = pick_audio(source)
        chosen = [source.streams[probe.stream]] if probe.stream >= 0 else []
        chosen += [audio] if audio is not None else []
        try:
            copies = {stream.index: target.add_stream_from_template(stream) for stream in chosen}
            written: dict[int, int] = {}
            for packet in packets(source, chosen):
                shift = round(probe.start / packet.time_base)
                if packet.dts is None and packet.pts is not None:
                    # Matroska stores none, and what FFmpeg derives them from comes after the first keyframe.
                    packet.dts = (
                        written.get(packet.stream_index, packet.pts - round(1 / packet.time_base)) + 1
                    )
                if packet.pts is None or packet.dts > packet.pts:
                    continue
                written[packet.stream_index] = packet.dts
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = copies[packet.stream_index]
                target.mux(packet)
        except (av.FFmpegError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise UnsupportedFile(f"its streams cannot be copied into MP4: {reason}") from error


def _add_video(container: Any, probe: Probe) -> Any:
    options = {"preset": "veryfast", "crf": "18"}
    rate = Fraction(probe.fps or 25).limit_denominator(1001)
    stream = container.add_stream("libx264", rate=rate, options=options)
    stream.width, stream.height = max(2, probe.width // 2 * 2), max(2, probe.height // 2 * 2)
    stream.pix_fmt = "yuv420p"
    stream.time_base = stream.codec_context.time_base = TICKS
    return stream


def _encode_images(container: Any, stream: Any, path: str, probe: Probe, start: float, end: float) -> int:
    import av

    renderer = FrameRenderer(probe.pixel_aspect)
    written = 0
    for time, shown in _between(path, probe, start, end):
        image = renderer.render(shown.frame, 2**20, (stream.width, stream.height))
        frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
        frame.pts, frame.time_base = round((time - start) / TICKS), TICKS
        container.mux(stream.encode(frame))
        written += 1
    container.mux(stream.encode(None))
    return written


def _between(path: str, probe: Probe, start: float, end: float) -> Iterator[tuple[float, Shown]]:
    """(time, frame) of [start, end), the frame on screen at `start` first, at that very time."""
    given = -math.inf
    before: Shown | None = None
    for shown in frames_from(path, probe, start, 2):
        time = shown.time if shown.time > start + ROUNDING else start
        if given < start < time and before is not None:
            given = start
            yield start, before
        before = shown
        if start < time >= end - ROUNDING:
            return
        if shown.time >= start - ROUNDING and time > given:
            given = time
            yield time, shown
    if given == -math.inf and before is not None and _shown_until(before, path, probe) > start:
        yield start, before


def _shown_until(last: Shown, path: str, probe: Probe) -> float:
    """When the last frame leaves the screen: at the end of the file, unless that is cut off before it.

    Where frames last unequally, the last one's own length is often that of a usual frame.
    """
    cut_off = is_cut_off(last.end, claimed_end(path, probe, last.end))
    return last.end if cut_off else max(last.end, probe.duration)


def _encode_sound(container: Any, stream: Any, path: str, start: float, end: float) -> int:
    import av

    most = round((end - start) * AUDIO_RATE)
    written = 0
    for block in read_audio(path, AUDIO_RATE, start):
        piece = block[: most - written]
        if len(piece):
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(piece)[None], format="flt", layout="mono")
            frame.sample_rate, frame.time_base, frame.pts = AUDIO_RATE, Fraction(1, AUDIO_RATE), written
            written += len(piece)
            container.mux(stream.encode(frame))
        if written >= most:
            break
    container.mux(stream.encode(None))
    return written
