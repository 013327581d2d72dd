"""Stories into ordinary H.264 MP4 files: frames from the renderer, sound from the mixer, muxed by PyAV.

The same frames and sound give the same bytes with the same build of FFmpeg on the same kind of
processor: one encoder thread, no clock and no version in the file. Another build may write other
bytes, which decode to nearly the same frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.workbench.backdrops import frame_width
from eval.workbench.renderer import FrameRenderer
from eval.workbench.story import ClipStory

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Every encoder of FFmpeg takes its lines as those of an ASS file, and wants the head of one.
ASS_HEADER = b"""[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def add_subtitles(out: Any, codec: str = "mov_text") -> Any:
    """An English subtitle stream of an open container; times in it are milliseconds."""
    stream = out.add_stream(codec)
    stream.codec_context.subtitle_header = ASS_HEADER
    stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
    stream.metadata["language"] = "eng"
    return stream


def subtitle_packet(stream: Any, start: float, end: float, text: str) -> Any:
    """The text during [start, end), seconds of the file, as a packet of a stream of `add_subtitles`."""
    from av.subtitles.subtitle import SubtitleSet

    at, length = round(start * 1000), round((end - start) * 1000)
    event = "0,0,Default,,0,0,0,," + text.replace("\n", "\\N")
    words = SubtitleSet.create(text=event.encode(), start=0, end=length, pts=at * 1000)
    packet = stream.codec_context.encode_subtitle(words)
    packet.stream, packet.time_base = stream, Fraction(1, 1000)
    packet.pts = packet.dts = at
    packet.duration = length
    return packet


AUDIO_RATE = 16000
AUDIO_FRAME = 1024


@dataclass(frozen=True, slots=True)
class Render:
    """How a video is made; none of it changes what happens in it."""

    height: int = 360
    """360, 720 or 1080; the frame is 16:9."""
    fps: int = 15
    crf: int = 29
    """x264's constant quality: higher is smaller and coarser."""
    kilobits: int | None = None
    """Kilobits a second of the video stream, in place of a constant quality."""

    @property
    def width(self) -> int:
        """Pixels of the 16:9 frame, even."""
        return frame_width(self.height)


DEFAULT_RENDER = Render()


@dataclass(frozen=True, slots=True)
class Line:
    """Words that are spoken during [start, end), seconds of the video."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """[start, end) in seconds of the video."""

    start: float
    end: float
    title: str


@dataclass(frozen=True, slots=True)
class ContainerMetadata:
    """What a file says about itself beside frames and sound; benchmark clips have none."""

    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    chapters: tuple[Chapter, ...] = ()


NO_METADATA = ContainerMetadata()


def clip_frames(story: ClipStory, render: Render) -> Iterator[NDArray[np.uint8]]:
    """Every frame of a clip in order, uint8 (height, width, 3) RGB, at t = i / fps."""
    renderer = FrameRenderer(story, render.height)
    for index in range(round(story.duration * render.fps)):
        yield renderer.frame(index / render.fps)


def write_video(
    path: Path,
    frames: Iterable[NDArray[np.uint8]],
    sound: Iterable[NDArray[np.float32]],
    render: Render,
    metadata: ContainerMetadata = NO_METADATA,
) -> int:
    """One MP4: H.264, AAC, and a mov_text stream where there are lines; gives how many frames it has.

    `frames`: uint8 (height, width, 3) RGB at `render.fps`. `sound`: blocks of mono float32 (n,) at
    `AUDIO_RATE`, of any lengths, together as long as the frames. Both are streamed.
    """
    import av
    from av.video.reformatter import VideoReformatter

    with av.open(str(path), "w", options={"movflags": "+faststart", "fflags": "+bitexact"}) as out:
        video_stream = _add_video_stream(out, render)
        voices: Any = out.add_stream("aac", rate=AUDIO_RATE, layout="mono")
        words = add_subtitles(out) if metadata.lines else None
        _dress(out, metadata)
        out.start_encoding()
        for line in metadata.lines:
            out.mux(subtitle_packet(words, line.start, line.end, line.text))
        parts = _sound_frames(sound)
        muxed = count = 0
        shaper = VideoReformatter()
        for count, pixels in enumerate(frames, start=1):
            raw = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
            frame: Any = shaper.reformat(raw, format="yuv420p")
            frame.pts, frame.time_base = count - 1, Fraction(1, render.fps)
            out.mux(video_stream.encode(frame))
            while muxed * render.fps < (count - 1) * AUDIO_RATE and (part := next(parts, None)) is not None:
                out.mux(voices.encode(part))
                muxed += AUDIO_FRAME
        out.mux(video_stream.encode(None))
        for part in parts:
            out.mux(voices.encode(part))
        out.mux(voices.encode(None))
    return count


def _add_video_stream(out: Any, render: Render) -> Any:
    # As good as `veryfast` at 25, at half its work to encode and to decode, and larger.
    options = {"preset": "ultrafast", "threads": "1"}
    if render.kilobits is None:
        options["crf"] = str(render.crf)
    else:
        rate = f"{render.kilobits}k"
        options |= {"b": rate, "maxrate": rate, "bufsize": f"{2 * render.kilobits}k"}
    stream = out.add_stream("libx264", rate=render.fps, options=options)
    stream.width, stream.height, stream.pix_fmt = render.width, render.height, "yuv420p"
    stream.codec_context.gop_size = 2 * render.fps
    return stream


def _dress(out: Any, metadata: ContainerMetadata) -> None:
    said = {
        "title": metadata.title,
        "description": metadata.description,
        "keywords": ", ".join(metadata.tags),
    }
    out.metadata.update({key: value for key, value in said.items() if value})
    if metadata.chapters:
        out.set_chapters(
            [
                {
                    "id": number,
                    "start": round(chapter.start * 1000),
                    "end": round(chapter.end * 1000),
                    "time_base": Fraction(1, 1000),
                    "metadata": {"title": chapter.title},
                }
                for number, chapter in enumerate(metadata.chapters, start=1)
            ]
        )


def _sound_frames(blocks: Iterable[NDArray[np.float32]]) -> Iterator[Any]:
    """AAC's frames out of blocks of any length; only the last may be short."""
    rest: NDArray[np.float32] = np.zeros(0, np.float32)
    start = 0
    for block in blocks:
        rest = np.concatenate([rest, block])
        whole = len(rest) // AUDIO_FRAME * AUDIO_FRAME
        for at in range(0, whole, AUDIO_FRAME):
            yield _sound_frame(rest[at : at + AUDIO_FRAME], start)
            start += AUDIO_FRAME
        rest = rest[whole:]
    if len(rest):
        yield _sound_frame(rest, start)


def _sound_frame(samples: NDArray[np.float32], start: int) -> Any:
    import av

    part = np.ascontiguousarray(samples, np.float32)[None, :]
    frame: Any = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
    frame.sample_rate, frame.pts, frame.time_base = AUDIO_RATE, start, Fraction(1, AUDIO_RATE)
    return frame
