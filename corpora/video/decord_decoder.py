"""The second decoder: decord 0.6.0, behind the same contract; what it cannot do is refused.

It is unmaintained. What it cannot read, reads wrongly, or hangs on ends in one line that names PyAV. Its
own FFmpeg clashes with PyAV's in one process, so nothing here imports `av`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.heartbeat import beat
from corpora.records import Frames
from corpora.video.records import DecodeReport, FrameBatch, FrameRequest, Probe
from corpora.video.sampling import EPSILON, Batcher, Sampler, Selector, scaled_size

ADVICE = "; try RAG_VIDEO__DECODER=pyav"
REFUSED = ("hevc", "av1", "vvc")
"""It knows no AV1 and VVC, and drops HEVC frames silently, so that all later ones have a false time."""
SKIP = 30
"""Frames skipped between two signs of progress."""
FAR = 300
"""Frames; a way forward that is longer is a seek, where decord's seeks are right."""


class DecordDecoder:
    """decord 0.6.0; it has wheels for x86-64 alone."""

    name = "decord"
    package = "decord"

    def frames(
        self, path: str, probe: Probe, request: FrameRequest
    ) -> Generator[FrameBatch, None, DecodeReport]:
        """Yield batches of sampled frames (n, h, w, 3) uint8 RGB in time order; returns the report."""
        reader = _Reader(path, probe, request.short_side)
        large: dict[int, _Reader] = {}

        def enlarge(index: int, side: int) -> NDArray[np.uint8]:
            if side not in large:
                large[side] = _Reader(path, probe, side)
            return large[side].image(index)

        batcher, selector = Batcher(), Selector(request)
        for time, index in _sampled(reader, request.rate):
            if time >= request.origin:
                sample = selector.sample(time, reader.image(index), partial(enlarge, index))
                if sample is not None:
                    yield from batcher.add(sample)
        yield from batcher.flush()
        return DecodeReport(self.name, reader.end, batcher.taken, "")

    def frames_at(self, path: str, probe: Probe, times: Sequence[float], short_side: int) -> Frames:
        """Frames on screen at `times` in seconds, as (n, h, w, 3) uint8 RGB."""
        reader = _Reader(path, probe, short_side)
        on_screen = np.searchsorted(reader.times, np.sort(times) + EPSILON, side="right") - 1
        indices = [max(0, int(index)) for index in on_screen]
        images = [reader.image(index) for index in indices]
        stack = np.stack(images) if images else np.empty((0, 0, 0, 3), np.uint8)
        return Frames(reader.times[indices], stack)


def _sampled(reader: _Reader, rate: float) -> list[tuple[float, int]]:
    sampler: Sampler[int] = Sampler(rate)
    samples: list[tuple[float, int]] = []
    for index, time in enumerate(reader.times):
        samples += sampler.push(float(time), index)
    return samples + sampler.finish(reader.end)


class _Reader:
    """decord's reader, with every failure as one line and times on the file's own clock."""

    def __init__(self, path: str, probe: Probe, short_side: int) -> None:
        if probe.stream < 0:
            raise UnsupportedFile("it has sound, but no images")
        if probe.video_streams > 1:
            raise UnsupportedFile(f"decord cannot choose among {probe.video_streams} video streams{ADVICE}")
        if probe.codec in REFUSED:
            raise UnsupportedFile(f"decord gives wrong frames of {probe.codec}, or none{ADVICE}")
        if probe.container == "mpegts":
            raise UnsupportedFile(f"decord hangs on MPEG-TS or gives false times{ADVICE}")
        _check_name(path)
        upright = scaled_size(probe.width, probe.height, short_side)
        self._shape = (upright[1], upright[0], 3)
        self._seeks = probe.codec == "h264" and probe.container.startswith("mov,")
        # Where frames are shown later than they are decoded, and no edit list makes up for it (FLV, some
        # MP4), decord skips a GOP too many.
        self._skips = abs(probe.start + probe.video_start) < EPSILON
        self._next = 0
        self._last: tuple[int, NDArray[np.uint8]] | None = None
        self._reader = self._open(path, upright, 1 if probe.codec.startswith("vp") else 0)
        beat()
        self.times, self.end = self._timeline(probe)

    def _open(self, path: str, size: tuple[int, int], threads: int) -> Any:
        import decord

        try:
            # Any frame that decord filled in for a broken one is too many.
            return decord.VideoReader(
                path, decord.cpu(0), width=size[0], height=size[1], num_threads=threads, fault_tol=1e-9
            )
        except (decord.DECORDError, RuntimeError, AssertionError) as error:
            raise UnsupportedFile(f"decord cannot open it{ADVICE}") from error

    def _timeline(self, probe: Probe) -> tuple[NDArray[np.float64], float]:
        """Start time of every frame, and the end of the last. decord counts from the first frame."""
        import decord

        try:
            stamps = np.asarray(self._reader.get_frame_timestamp(list(range(len(self._reader)))), np.float64)
        except decord.DECORDError as error:
            raise DamagedFile(f"decord cannot give the times of its frames{ADVICE}") from error
        times = stamps[:, 0] + probe.video_start
        sane = np.isfinite(stamps).all() and abs(stamps[0, 0]) < EPSILON and (np.diff(times) > 0).all()
        if not sane or times[-1] > probe.duration + 1.0:
            raise UnsupportedFile(f"decord gives false times for its frames{ADVICE}")
        spans = stamps[:, 1] - stamps[:, 0]
        return times, float(times[-1] + max(spans[-1], 0.0))

    def image(self, index: int) -> NDArray[np.uint8]:
        """uint8 (height, width, 3) of the frame with this number, not below the one asked for before.

        Goes forward frame by frame: decord's lists of frames seek, and then give wrong ones in HEVC, in
        Matroska and in MPEG-TS.
        """
        if self._last is not None and self._last[0] == index:
            return self._last[1]
        import decord

        try:
            if self._seeks and index - self._next > FAR:
                self._reader.seek_accurate(index)
                self._next = index
            while self._next < index:
                step = min(index - self._next, SKIP) if self._skips else 1
                if self._skips:
                    self._reader.skip_frames(step)
                else:
                    self._reader.next()
                self._next += step
                beat()
            image = np.asarray(self._reader.next().asnumpy(), np.uint8)
        except (decord.DECORDError, decord._ffi.base.DECORDLimitReachedError, StopIteration) as error:
            raise DamagedFile(f"decord cannot decode a part of it{ADVICE}") from error
        self._next = index + 1
        beat()
        if image.shape != self._shape:
            raise UnsupportedFile(f"decord gives images of another size than the file says{ADVICE}")
        self._last = index, image
        return image


def _check_name(path: str) -> None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnsupportedFile(f"decord cannot open a name that is not UTF-8{ADVICE}") from error
