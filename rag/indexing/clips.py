"""Clips of a video: frames decoded ahead and cut into clips.

Frames are decoded in a subprocess, ahead of the encoder within the bound of `prefetched`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corpora.records import Clip, Frames, Video
from corpora.settings import SHORT_SIDE, VideoSettings
from corpora.video.reader import MediaReader
from corpora.video.records import FrameBatch, Keyframe
from rag.settings import Settings
from rag.store.records import clip_id, clip_spans

BATCHES_AHEAD = 6


@dataclass(frozen=True, slots=True)
class CutClip:
    """One clip with its samples; `pixels` is a hash over their times and pixels."""

    clip: Clip
    frames: Frames
    keyframes: tuple[Keyframe, ...]
    pixels: str


@dataclass
class _Open:
    """A clip whose end is not yet certain."""

    index: int
    frames: list[Frames] = field(default_factory=list)
    keyframes: list[Keyframe] = field(default_factory=list)


def open_reader(settings: Settings) -> MediaReader:
    """Reads the files of a run; its subprocess starts at the first one."""
    video = settings.video
    return MediaReader(
        video.decoder, video.stall_seconds, limits=settings.reading, audio_track=video.audio_track
    )


def cut_clips(
    batches: Iterator[FrameBatch],
    video_id: str,
    clip_seconds: float,
    min_last: float,
    duration: Callable[[], float],
    *,
    first: int = 0,
) -> Iterator[CutClip]:
    """Yield the clips of `clip_spans(duration(), ...)` from index `first`, each as soon as it is certain.

    A clip is certain once a frame at least `min_last` behind its end has come,
    for then the next clip cannot be merged into it. `duration` is asked once,
    after the last batch, when the decoder knows it. A clip without a single
    frame (a gap, a lost stretch) is yielded with empty arrays.
    """
    waiting: dict[int, _Open] = {}
    upcoming = first
    for batch in batches:
        for part in _by_clip(batch, clip_seconds):
            held = waiting.setdefault(part.index, _Open(part.index))
            held.frames.extend(part.frames)
            held.keyframes.extend(part.keyframes)
        latest = float(batch.frames.times[-1]) if batch.frames.times.size else 0.0
        while latest >= (upcoming + 1) * clip_seconds + min_last:
            span = (upcoming * clip_seconds, (upcoming + 1) * clip_seconds)
            yield _close(waiting.pop(upcoming, _Open(upcoming)), video_id, span)
            upcoming += 1
    spans = clip_spans(duration(), clip_seconds, min_last)
    for late in sorted(index for index in waiting if index >= len(spans)):
        last = waiting.setdefault(len(spans) - 1, _Open(len(spans) - 1))
        last.frames.extend(waiting[late].frames)
        last.keyframes.extend(waiting.pop(late).keyframes)
    for index in range(upcoming, len(spans)):
        yield _close(waiting.pop(index, _Open(index)), video_id, spans[index])


def decode_clips(reader: MediaReader, path: str, video: Video, settings: VideoSettings) -> Iterator[CutClip]:
    """The clips of a video whose duration is known, decoded in a thread. Raises `FileProblem`."""
    stream = reader.frames(path, rate=settings.rate, short_side=settings.short_side or SHORT_SIDE)
    length, least = settings.clip_seconds, settings.min_last_clip_seconds
    with prefetched(stream, BATCHES_AHEAD) as batches:
        yield from cut_clips(batches, video.video_id, length, least, lambda: video.duration)


def _by_clip(batch: FrameBatch, clip_seconds: float) -> Iterator[_Open]:
    owners = np.floor(batch.frames.times / clip_seconds + 1e-9).astype(int)
    for index in np.unique(owners):
        mine = owners == index
        frames = Frames(batch.frames.times[mine], batch.frames.images[mine])
        keyframes = [k for k in batch.keyframes if int(k.time / clip_seconds + 1e-9) == index]
        yield _Open(int(index), [frames], keyframes)


def _same_size(parts: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """Images of one size: where a stream changes its size in a clip, later ones are scaled to the first's."""
    height, width = parts[0].shape[1:3]
    return [
        part
        if part.shape[1:3] == (height, width)
        else np.stack([np.asarray(Image.fromarray(image).resize((width, height))) for image in part])
        for part in parts
    ]


def _close(opened: _Open, video_id: str, span: tuple[float, float]) -> CutClip:
    if opened.frames:
        times = np.concatenate([f.times for f in opened.frames])
        images = np.concatenate(_same_size([f.images for f in opened.frames]))
    else:
        times, images = np.empty(0, np.float64), np.empty((0, 1, 1, 3), np.uint8)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(times.tobytes())
    digest.update(np.ascontiguousarray(images).data)
    clip = Clip(clip_id(video_id, opened.index), video_id, *span)
    return CutClip(clip, Frames(times, images), tuple(opened.keyframes), digest.hexdigest())


T = TypeVar("T")


@contextmanager
def prefetched(source: Iterator[T], depth: int) -> Iterator[Iterator[T]]:
    """The items of `source`, which a thread makes at most `depth` ahead; errors are raised in turn.

    Decoding runs while the encoder works, in bounded memory. Leaving the `with` block ends the thread, and
    closes a `source` that can be closed.
    """
    end: Any = object()
    with ThreadPoolExecutor(1, "prefetch") as pool:
        ahead = deque(pool.submit(next, source, end) for _ in range(depth))

        def items() -> Iterator[T]:
            while (item := ahead.popleft().result()) is not end:
                ahead.append(pool.submit(next, source, end))
                yield item

        try:
            yield items()
        finally:
            pool.shutdown(cancel_futures=True)
            if close := getattr(source, "close", None):
                close()
