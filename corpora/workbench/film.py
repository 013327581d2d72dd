"""Stories into ordinary H.264 MP4 files: frames from the painter, sound from the mixer, muxed by PyAV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.workbench.painter import Painter
from corpora.workbench.story import ClipStory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AUDIO_RATE", "DEMO", "Render", "clip_frames", "write_film"]

AUDIO_RATE = 16000


@dataclass(frozen=True, slots=True)
class Render:
    """How a film is made; none of it changes what happens in it."""

    height: int = 360
    """360, 720 or 1080; the picture is 16:9."""
    fps: int = 15
    crf: int = 25
    """x264's constant quality: higher is smaller and coarser."""


DEMO = Render()


def clip_frames(story: ClipStory, render: Render) -> Iterator[NDArray[np.uint8]]:
    """Every frame of a clip in order, uint8 (height, width, 3) RGB, at t = i / fps."""
    painter = Painter(story, render.height)
    for index in range(round(story.duration * render.fps)):
        yield painter.frame(index / render.fps)


def write_film(
    path: Path,
    frames: Iterable[NDArray[np.uint8]],
    sound: NDArray[np.float32],
    render: Render,
) -> None:
    """One MP4: H.264 and AAC. `sound`: mono float32 (n,) at `AUDIO_RATE`.

    One encoder thread, so that the same frames give the same bytes with the same build of
    FFmpeg; other builds may write other bytes that decode to nearly the same frames.
    """
    import av

    with av.open(str(path), "w", options={"movflags": "+faststart", "fflags": "+bitexact"}) as out:
        options = {"preset": "veryfast", "crf": str(render.crf), "threads": "1"}
        pictures: Any = out.add_stream("libx264", rate=render.fps, options=options)
        pictures.width, pictures.height = round(render.height * 16 / 9 / 2) * 2, render.height
        pictures.pix_fmt = "yuv420p"
        pictures.codec_context.gop_size = 2 * render.fps
        voices: Any = out.add_stream("aac", rate=AUDIO_RATE, layout="mono")
        for index, pixels in enumerate(frames):
            frame: Any = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = index, Fraction(1, render.fps)
            out.mux(pictures.encode(frame))
        out.mux(pictures.encode(None))
        for part in _sound_frames(sound):
            out.mux(voices.encode(part))
        out.mux(voices.encode(None))


def _sound_frames(sound: NDArray[np.float32]) -> Iterator[Any]:
    import av

    size = 1024
    for start in range(0, len(sound), size):
        part = np.ascontiguousarray(sound[start : start + size], np.float32)[None, :]
        frame: Any = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = AUDIO_RATE, start, Fraction(1, AUDIO_RATE)
        yield frame
