"""The sound of a media file as one unbroken line of samples from time 0."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.video.containers import (
    LeapFilter,
    clock_start,
    open_media,
    packets_past_damage,
    pick_audio,
    time_of,
)

RUN_UP = 2.0
"""Seconds ahead of the start at which decoding begins: codecs need some packets to settle."""

Samples = NDArray[np.float32]
BLOCK = 2**17
"""Samples that are given out together: 8 s at 16 kHz."""
SLACK = 0.05
"""Seconds by which a packet's time may differ from the samples so far; beyond it silence is put in, or
samples are left out."""


def read_audio(
    path: str, rate: int, start: float = 0.0, *, until: float = math.inf, gaps: bool = False
) -> Iterator[Samples]:
    """Mono float32 in [-1, 1] at `rate`, of the stream that ffmpeg would choose, at least up to `until`.

    Sample i is at start + i / rate seconds on the file's clock: late starts, gaps and damaged packets are
    silence, and so are samples that are no number. With `gaps` only a late start is silence: the others
    are NaN, so that they differ from decoded silence. Raises `UnsupportedFile` without sound,
    `DamagedFile` if none of it decodes.
    """
    with open_media(path) as container:
        stream = pick_audio(container)
        if stream is None:
            raise UnsupportedFile("it has no sound that can be decoded")
        line = _Line(rate, start, np.nan if gaps else 0.0)
        if start > RUN_UP and container.format.name.startswith(("mov,", "matroska,")):
            begin = start - RUN_UP + clock_start(container)
            container.seek(round(begin / stream.time_base), stream=stream, backward=True)
        for time, piece in _pieces(container, stream, rate):
            if piece is None:
                line.hurt = True
                continue
            line.put(
                time, piece if gaps or np.isfinite(piece).all() else np.nan_to_num(piece, posinf=0, neginf=0)
            )
            while len(line) >= BLOCK:
                yield line.take(BLOCK)
            if line.count >= (until - start) * rate:
                break
        line.finish()
        if line.decoded == 0:
            raise DamagedFile("none of its sound could be decoded")
        while len(line):
            yield line.take(min(BLOCK, len(line)))


class _Line:
    """Puts pieces at their times; gaps are filled with `hole`."""

    def __init__(self, rate: int, start: float, hole: float) -> None:
        self._rate = rate
        self._start = start
        self._hole = hole
        self._clock: LeapFilter[Samples] = LeapFilter()
        self._waiting: list[Samples] = []
        self.count = 0
        self._given = 0
        self.decoded = 0
        self.hurt = False
        """Whether a packet could not be decoded: what is missing then is no silence."""

    def __len__(self) -> int:
        return self.count - self._given

    def put(self, time: float | None, piece: Samples) -> None:
        if time is None:
            time = self._start + self.count / self._rate
        for at, samples in self._clock.push(time, piece):
            self._place(at, samples)

    def finish(self) -> None:
        for at, samples in self._clock.finish():
            self._place(at, samples)

    def _place(self, time: float, piece: Samples) -> None:
        gap = round((time - self._start) * self._rate) - self.count
        if self.decoded == 0 or abs(gap) > SLACK * self._rate:
            if gap > 0:
                missing = self._hole if self.decoded or self.hurt else 0.0
                self._append(np.full(gap, missing, np.float32))
            elif gap < 0:
                piece = piece[-gap:]
        self.decoded += len(piece)
        self._append(piece)

    def _append(self, piece: Samples) -> None:
        self._waiting.append(piece)
        self.count += len(piece)

    def take(self, count: int) -> Samples:
        joined = np.concatenate(self._waiting)
        self._waiting = [joined[count:]]
        self._given += count
        return joined[:count]


def _pieces(container: Any, stream: Any, rate: int) -> Iterator[tuple[float | None, Samples | None]]:
    """(time of the first sample, samples) of every frame that decodes; no samples for a damaged packet."""
    import av

    start = clock_start(container)
    resampler, kind = None, None
    for packet in packets_past_damage(container, stream, lambda _: None):
        try:
            frames = stream.codec_context.decode(packet)
        except av.FFmpegError:
            yield None, None
            continue
        for frame in frames:
            if resampler is None or kind != (frame.sample_rate, frame.layout.name, frame.format.name):
                kind = frame.sample_rate, frame.layout.name, frame.format.name
                resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
            time = time_of(frame.pts, frame.time_base, start)
            # The resampler keeps a few samples back, so its own times say where its output belongs.
            try:
                pieces = resampler.resample(frame)
            except av.FFmpegError:
                # A damaged header of one packet: a rate or layout that cannot be.
                resampler = None
                yield None, None
                continue
            for piece in pieces:
                own = time_of(piece.pts, piece.time_base, start) if piece.time_base else time
                yield own, piece.to_ndarray().reshape(-1)
    if resampler is not None:
        for piece in resampler.resample(None):
            yield None, piece.to_ndarray().reshape(-1)
