"""The default decoder: PyAV, sequential, scaling as it goes; exact on clean files, saving on damaged ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.records import Frames
from corpora.video.containers import counts_from_zero, open_media
from corpora.video.probe import packets_end
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe
from corpora.video.sampling import EPSILON, Batcher, FrameRenderer, Sample, Sampler, Selector
from corpora.video.stream_decoding import (
    BEGINNING,
    DamageMet,
    Entry,
    Shown,
    StreamDecoder,
    damage_text,
    entry_before,
    frames_from,
    lost_seconds,
    seekable,
)

SKIPPING = ("h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4")
"""Codecs whose decoder knows from the packet itself that no other frame refers to it."""
SKIP_FPS = 15.0
SKIP_FRAMES_A_STEP = 7
"""Frames a grid step that must be there for skipping: among 7 there are always some that others refer to."""
HOLD_BACK = 24
"""Frames by which samples wait in the strict pass: a frame may refer to at most 16 that are shown later."""
NEAR = 10.0
"""Seconds; times nearer than this are decoded in one go."""


class PyavDecoder:
    """PyAV, one sequential pass, and a second one without shortcuts where the file is damaged."""

    name = "pyav"
    package = "av"

    def frames(
        self, path: str, probe: Probe, request: FrameRequest
    ) -> Generator[FrameBatch, None, DecodeReport]:
        """Yield batches of sampled frames (n, h, w, 3) uint8 RGB in time order; returns the report."""
        _require_video(probe)
        batcher = Batcher()
        entry = BEGINNING
        if request.seek and request.origin > 0 and seekable(probe):
            # The step that holds the origin must be met whole.
            step = math.floor((request.origin + EPSILON) * request.rate) / request.rate
            entry = entry_before(path, probe, step - 2 * EPSILON, 2)
        passes = dict.fromkeys(((True, entry), (True, BEGINNING), (False, BEGINNING)))
        for strict, where in passes:
            try:
                source = yield from _pass(path, probe, request, batcher, strict=strict, entry=where)
                break
            except DamageMet:
                continue
        yield from batcher.flush()
        if source.end == -math.inf:
            raise DamagedFile("no image in it could be decoded")
        claimed = claimed_end(path, probe, source.end)
        damage = damage_text(source.lost, probe.fps, source.end, claimed, source.left_out)
        lost = lost_seconds(source.lost, probe.fps)
        return DecodeReport(self.name, source.end, batcher.taken, damage, lost)

    def frames_at(self, path: str, probe: Probe, times: Sequence[float], short_side: int) -> Frames:
        """Frames on screen at `times` in seconds, as (n, h, w, 3) uint8 RGB."""
        _require_video(probe)
        renderer = FrameRenderer(probe.pixel_aspect)
        found: list[tuple[float, NDArray[np.uint8]]] = []
        for group in _groups(times):
            found += _group_at(path, probe, group, short_side, renderer)
        shape = found[0][1].shape if found else (0, 0, 3)
        images = [image if image.shape == shape else _stretched(image, shape) for _, image in found]
        stack = np.stack(images) if images else np.empty((0, *shape), np.uint8)
        return Frames(np.array([time for time, _ in found], np.float64), stack)


def _require_video(probe: Probe) -> None:
    if probe.stream < 0:
        raise UnsupportedFile("it has sound, but no images")


def _pass(
    path: str, probe: Probe, request: FrameRequest, batcher: Batcher, *, strict: bool, entry: Entry
) -> Generator[FrameBatch, None, StreamDecoder]:
    """One pass over the file; samples that an earlier pass gave out are not given again."""
    passed = batcher.last
    batcher.salvaging = not strict
    waiting: deque[tuple[int, Sample]] = deque()
    with open_media(path) as container:
        source = StreamDecoder(container, probe, strict=strict, skip=_skips(probe, request.rate), entry=entry)
        renderer = FrameRenderer(probe.pixel_aspect)
        for count, sample in _samples(source, request, renderer):
            if sample is not None and sample.time > passed:
                waiting.append((count, sample))
            while waiting and (not strict or waiting[0][0] + HOLD_BACK < count):
                yield from batcher.add(waiting.popleft()[1])
        for _, sample in waiting:
            yield from batcher.add(sample)
    return source


def _samples(
    source: StreamDecoder, request: FrameRequest, renderer: FrameRenderer
) -> Iterator[tuple[int, Sample | None]]:
    """(frames decoded so far, the next sample or None), at least once for every decoded frame."""
    sampler: Sampler[Shown] = Sampler(request.rate)
    selector = Selector(request)
    rendered: tuple[Shown, NDArray[np.uint8]] | None = None
    count = 0

    def samples(known: list[tuple[float, Shown]]) -> Iterator[tuple[int, Sample | None]]:
        nonlocal rendered
        for time, shown in known:
            if time < min(request.origin, request.start):
                continue
            if rendered is None or rendered[0] is not shown:
                rendered = shown, renderer.render(shown.frame, request.short_side)
            enlarge = partial(renderer.render, shown.frame)
            yield count, selector.sample(time, rendered[1], enlarge, partial(enlarge, format="gray"))

    for shown in source:
        count += 1
        yield from samples(sampler.push(shown.time, shown, shown.until))
        yield count, None
    if count:
        yield from samples(sampler.finish(source.end))


def _skips(probe: Probe, rate: float) -> bool:
    """Whether frames that no other refers to are left out: where there are many more than are sampled."""
    return probe.codec in SKIPPING and probe.fps >= max(SKIP_FPS, SKIP_FRAMES_A_STEP * rate)


def read_packets(path: str, probe: Probe) -> DecodeReport:
    """Report as `PyavDecoder.frames` does, by the packets alone: nothing is decoded."""
    _require_video(probe)
    end = packets_end(path)
    return DecodeReport("", end, 0, damage_text([], probe.fps, end, claimed_end(path, probe, end)))


def claimed_end(path: str, probe: Probe, end: float) -> float:
    """When the images should end by the container's word; 0 where it does not say."""
    with open_media(path) as container:
        stream = container.streams[probe.stream]
        from_zero = counts_from_zero(container)
        # FFmpeg gives the first stream of a Matroska file the duration of the whole file.
        if stream.duration and stream.time_base and not from_zero:
            return probe.video_start + float(stream.duration * stream.time_base)
        whole = container.duration / 1e6 if container.duration else 0.0
        if from_zero:
            whole = max(0.0, whole - max(0.0, probe.start))
    if probe.audio and end + max(2.0, whole / 20) < whole:
        # The sound may go on after the image; only if it does not, something is missing.
        return whole if packets_end(path) + max(2.0, whole / 20) < whole else 0.0
    return 0.0 if probe.audio else whole


def _groups(times: Sequence[float]) -> Iterator[list[float]]:
    group: list[float] = []
    for time in sorted(times):
        if group and time - group[-1] > NEAR:
            yield group
            group = []
        group.append(time)
    if group:
        yield group


def _group_at(
    path: str, probe: Probe, times: list[float], short_side: int, renderer: FrameRenderer
) -> Iterator[tuple[float, NDArray[np.uint8]]]:
    """The frames on screen at `times`, each with its own time."""
    left = deque(times)
    before: Shown | None = None
    for shown in frames_from(path, probe, times[0], 1):
        while left and left[0] + EPSILON < shown.time:
            left.popleft()
            yield _rendered(before or shown, short_side, renderer)
        if not left:
            return
        before = shown
    if before is None:
        raise DamagedFile("no image in it could be decoded")
    yield from [_rendered(before, short_side, renderer)] * len(left)


def _rendered(shown: Shown, short_side: int, renderer: FrameRenderer) -> tuple[float, NDArray[np.uint8]]:
    return shown.time, renderer.render(shown.frame, short_side)


def _stretched(image: NDArray[np.uint8], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Where the size changes within a file, the later images are stretched to the first one's."""
    from PIL import Image

    resized: Any = Image.fromarray(image).resize((shape[1], shape[0]), Image.Resampling.BILINEAR)
    return np.asarray(resized, np.uint8)
