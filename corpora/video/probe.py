"""The facts of a media file; where its container's own word cannot be right, its packets are counted."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, pairwise
from statistics import median
from typing import Any

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.video.containers import (
    LeapFilter,
    clock_start,
    counts_from_zero,
    language_of,
    media_size,
    open_media,
    packets,
    pick_audio,
    pick_video,
    time_of,
    video_streams,
)
from corpora.video.records import Probe, TimedText
from corpora.video.subtitles import subtitle_tracks

LAST_FRAME = 60.0
"""Seconds; how long a last packet is believed to last."""
LATE_START = 1.0
"""Seconds; a later start makes a duration that counts from zero wrong by more than a frame or two."""
WIDEST_PIXEL = 4
_COUNTED_PACKETS = 300
_LEAST_BYTES_A_SECOND = 4000.0
_MOST_FPS = 120.0
REORDERED = 32
"""Packets at the end of the counted ones that frames counted later may precede (H.264 and HEVC allow 16)."""
UNSTEADY = 0.1
"""Share of a frame's length by which a constant rate may be off, besides two ticks of the stream's clock."""
OTHER_MEAN = 0.01
"""A mean over the file that differs by more from the mean of its beginning is that of a variable rate."""


@dataclass
class _Span:
    """What the packets of one stream say."""

    packets: int = 0
    first: float = math.inf
    last: float = -math.inf
    end: float = -math.inf

    def extend(self, packets: list[tuple[float, float]]) -> None:
        """packets: (time, length) in seconds."""
        for time, length in packets:
            self.first = min(self.first, time)
            self.last = max(self.last, time)
            self.end = max(self.end, time + min(max(length, 0.0), LAST_FRAME))


def probe_file(path: str) -> Probe:
    """Facts from the header, checked.

    Raises `FileProblem` (reason without path) if it holds neither image nor sound that can be decoded.
    """
    container = open_media(path)
    try:
        return _probe(container, path)
    finally:
        container.close()


def packets_end(path: str) -> float:
    """When the last packet of image or sound ends, in seconds; 0.0 without one. Reads the whole file."""
    with open_media(path) as container:
        video, audio = pick_video(container), pick_audio(container)
        spans = _scan(container, video, audio, clock_start(container))
    return max(0.0, *(span.end for span in spans.values()))


def _probe(container: Any, path: str) -> Probe:
    audio = pick_audio(container)
    try:
        video = pick_video(container)
    except (UnsupportedFile, DamagedFile):
        if audio is None:
            raise
        video = None
    if video is None and audio is None:
        raise UnsupportedFile("it holds neither images nor sound")
    start = clock_start(container)
    duration = float(container.duration) / 1e6 if container.duration else 0.0
    fps = float(video.average_rate or 0) if video is not None else 0.0
    shown = time_of(video.start_time, video.time_base, start) if video is not None else None
    video_start = shown or 0.0
    rotation, exact = 0, dict[str, Any]()
    if video is not None:
        times = _first_times(container, video, path)
        exact = _exact(container, video, audio, times)
        rotation = _rotation(container, video)
        if not _has_table(container):
            fps = _counted_fps(times, video, fps)
    if _is_doubtful(container, video, path, duration, fps, start):
        with open_media(path) as again:
            scanned = _scan(again, video, audio, start)
        duration, fps, video_start = _from_packets(scanned, video, fps)
    width, height = (video.codec_context.width, video.codec_context.height) if video is not None else (0, 0)
    aspect = _pixel_aspect(video)
    width = round(width * aspect)
    if rotation % 180:
        width, height = height, width
    return Probe(
        container=container.format.name,
        duration=duration,
        fps=fps,
        width=width,
        height=height,
        stream=video.index if video is not None else -1,
        video_streams=len(video_streams(container)),
        audio=audio is not None,
        language=language_of(audio) if audio is not None else "",
        chapters=_chapters(container, start),
        subtitles=tuple(subtitle_tracks(container).values()),
        start=start,
        codec=video.codec_context.name if video is not None else "",
        audio_codec=audio.codec_context.name if audio is not None else "",
        pixel_format=video.codec_context.pix_fmt or "" if video is not None else "",
        video_start=video_start,
        pixel_aspect=aspect,
        **exact,
        **_words(container.metadata),
    )


def _pixel_aspect(video: Any | None) -> float:
    """Width of a pixel by its height; 1 where the header says nothing, or what no camera and no disc has."""
    stated = video.sample_aspect_ratio if video is not None else None
    return float(stated) if stated and 1 / WIDEST_PIXEL <= stated <= WIDEST_PIXEL else 1.0


def _rotation(container: Any, video: Any) -> int:
    """The display matrix hangs on decoded frames: decode until there is one."""
    import av

    source = chain(islice(packets(container, [video]), 250), (None,))
    while True:
        try:
            for frame in video.codec_context.decode(next(source)):
                return int(round(frame.rotation / 90) * 90 % 360)
        except StopIteration:
            return 0
        except av.FFmpegError:
            # A bad packet; and after a failed read the source goes on with the flush.
            continue


def _first_times(container: Any, video: Any, path: str) -> list[int]:
    """Times of the first `_COUNTED_PACKETS` frames, in ticks of the stream's clock: by the container's table
    of all frames, else of packets, up to any damage."""
    import av

    if _has_table(container) and len(video.index_entries) > 1:
        counted = range(min(_COUNTED_PACKETS, len(video.index_entries)))
        return [video.index_entries[at].timestamp for at in counted]
    times: list[int] = []
    with open_media(path) as again, suppress(av.FFmpegError):
        for packet in islice(packets(again, [again.streams[video.index]]), _COUNTED_PACKETS):
            if packet.pts is None:
                break
            times.append(packet.pts)
    return times


def _has_table(container: Any) -> bool:
    return bool(container.format.name.startswith("mov,"))


def _counted_fps(times: list[int], video: Any, claimed: float) -> float:
    """Without a table of all frames a container states its nominal rate; variable rates are far below it."""
    clock: LeapFilter[None] = LeapFilter()
    kept = [time for ticks in times for time, _ in clock.push(float(ticks * video.time_base), None)]
    span = max(kept) - min(kept) if kept else 0.0
    counted = (len(kept) - 1) / span if span > 0 else claimed
    return counted if 0 < counted < 0.9 * claimed else claimed


def _is_doubtful(
    container: Any, video: Any | None, path: str, duration: float, fps: float, start: float
) -> bool:
    """Whether the container's word on its duration or rate is not taken."""
    size = media_size(path)
    if duration <= 0 or size / duration < _LEAST_BYTES_A_SECOND:
        return True
    late = LATE_START if counts_from_zero(container) else max(10.0, duration / 2)
    if start < 0 or start >= late:
        return True
    if video is None:
        return False
    if not 0 < fps <= _MOST_FPS:
        return True
    own = float(video.duration * video.time_base) if video.duration and video.time_base else duration
    if abs(own - duration) > max(2.0, duration / 20):
        return True
    entries = len(video.index_entries)
    last = video.index_entries[entries - 1] if entries else None
    return last is not None and last.pos + last.size > size


def _scan(container: Any, video: Any | None, audio: Any | None, start: float) -> dict[int, _Span]:
    import av

    spans = {stream.index: _Span() for stream in (video, audio) if stream is not None}
    clocks: dict[int, LeapFilter[float]] = {index: LeapFilter() for index in spans}
    try:
        for packet in packets(container, [s for s in container.streams if s.index in spans]):
            if packet.stream_index not in spans:
                continue
            span = spans[packet.stream_index]
            span.packets += 1
            time = time_of(packet.pts if packet.pts is not None else packet.dts, packet.time_base, start)
            if time is not None:
                length = float(packet.duration * packet.time_base) if packet.duration else 0.0
                span.extend(clocks[packet.stream_index].push(time, length))
    except av.FFmpegError:
        # What was counted up to the damage is still true.
        pass
    for index, clock in clocks.items():
        spans[index].extend(clock.finish())
    return spans


def _from_packets(spans: dict[int, _Span], video: Any | None, fps: float) -> tuple[float, float, float]:
    """Duration, frames a second and time of the first image, by the packets."""
    frames = spans[video.index] if video is not None else _Span()
    rate = (frames.packets - 1) / (frames.last - frames.first) if frames.last > frames.first else 0.0
    if not 0 < fps <= _MOST_FPS:
        fps = rate if 0 < rate <= 1000 else 25.0 if video is not None else 0.0
    if all(span.packets == 0 for span in spans.values()):
        raise DamagedFile("its header can be read, but no packet of images or sound")
    counted = max(span.end for span in spans.values())
    if not math.isfinite(counted):
        # Bare streams have no times at all: the rate is all there is.
        counted = frames.packets / fps if fps else 0.0
    return max(counted, 0.0), fps, frames.first if math.isfinite(frames.first) else 0.0


def _chapters(container: Any, start: float) -> tuple[TimedText, ...]:
    chapters = []
    for chapter in container.chapters():
        base = chapter["time_base"]
        title = str(chapter["metadata"].get("title") or "").strip()
        if base and title:
            times = [max(0.0, float(chapter[edge] * base) - start) for edge in ("start", "end")]
            chapters.append(TimedText(times[0], max(times), "chapter", title))
    return tuple(sorted(chapters, key=lambda chapter: (chapter.start, chapter.end)))


def _words(metadata: dict[str, str]) -> dict[str, Any]:
    """Title, description and tags; the longest of the fields that writers use for a description."""
    fields = {key.lower(): str(value).strip() for key, value in metadata.items()}
    said = (fields.get(key, "") for key in ("description", "synopsis", "comment", "summary", "subtitle"))
    tags: list[str] = []
    for key in ("keywords", "tags", "genre", "keyword"):
        tags += [tag.strip() for tag in re.split(r"[;,\n]", fields.get(key, "")) if tag.strip()]
    return {
        "title": fields.get("title", ""),
        "description": max(said, key=len, default=""),
        "tags": tuple(dict.fromkeys(tags)),
    }


def _exact(container: Any, video: Any, audio: Any | None, times: list[int]) -> dict[str, Any]:
    """What a program for editing must know exactly of the chosen streams.

    The timecode is that of a `tmcd` track or of the tag `timecode`, of the stream before that of the file.
    """
    claimed = video.average_rate or video.guessed_rate or Fraction(0)
    taken = times if len(times) < _COUNTED_PACKETS else sorted(times)[:-REORDERED]
    # Frames of one time count once.
    steps = [later - sooner for sooner, later in pairwise(sorted(set(taken)))]
    counted = Fraction(len(steps), sum(steps)) / video.time_base if steps else claimed
    context = audio.codec_context if audio is not None else None
    frames = max(0, video.frames or 0)
    if claimed and video.duration and video.time_base:
        # Those that an edit list leaves out are counted in the header, and are not in the duration.
        frames = min(frames, round(video.duration * video.time_base * claimed))
    return {
        "rate": Fraction(claimed or counted or 25),
        "variable": _varies(steps) or bool(claimed and abs(counted / claimed - 1) > OTHER_MEAN),
        "frames": frames,
        "timecode": _timecode(one.metadata for one in (video, *container.streams.data, container)),
        "channels": (context.channels or 0) if context is not None else 0,
        "sample_rate": (context.sample_rate or 0) if context is not None else 0,
    }


def _varies(steps: list[int]) -> bool:
    if not steps:
        return False
    usual = median(steps)
    return any(abs(step - usual) > max(2, UNSTEADY * usual) for step in steps)


def _timecode(tags: Iterable[dict[str, str]]) -> str:
    named = ({key.lower(): value for key, value in one.items()} for one in tags)
    return next((str(one["timecode"]).strip() for one in named if one.get("timecode")), "")
