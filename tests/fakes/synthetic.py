"""Small real video files for tests, written with PyAV; every frame carries its own index as a bar code.

`write_video` returns the true times of the frames it wrote, `read_time_code` reads the index back from
a decoded (scaled, turned, compressed) frame. So a test can say: the frame returned for time t is
the frame whose presentation time is t.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.workbench.video import add_subtitles, subtitle_packet

Image = NDArray[np.uint8]
Card = str | tuple[int, int, int]
"""An image: an RGB colour, or a text rendered black on white."""
Scene = Callable[[float], Image]
"""Time in seconds -> uint8 (height, width, 3) RGB of the asked size."""

CARDS: tuple[Card, ...] = ((200, 40, 40), (40, 160, 60), (50, 70, 200), (220, 200, 60), (150, 60, 170))

_BITS = 20
_CHECK = 4
_SUBTITLE_CODECS = {".mp4": "mov_text", ".mov": "mov_text", ".mkv": "subrip", ".webm": "webvtt"}


def write_video(
    path: Path,
    seconds: float,
    *,
    fps: float = 10,
    size: tuple[int, int] = (160, 120),
    scene: Scene | Sequence[Card] = CARDS,
    card_seconds: float = 2.0,
    audio: bool | NDArray[np.float32] = False,
    audio_offset: float = 0.0,
    subtitles: Sequence[tuple[float, float, str]] = (),
    subtitle_codec: str = "",
    language: str = "",
    rotation: int = 0,
    start_offset: float = 0.0,
    variable_rate: bool = False,
    second_size: tuple[int, int] | None = None,
    pixel_aspect: Fraction | None = None,
    interlaced: bool = False,
    metadata: Mapping[str, str] | None = None,
    chapters: Sequence[tuple[float, float, str]] = (),
    codec: str = "",
    pix_fmt: str = "",
    gop: int = 20,
    bframes: int = 2,
    open_gop: bool = False,
    container_options: Mapping[str, str] | None = None,
) -> tuple[float, ...]:
    """Write a video; the ending of `path` chooses the container (.mp4 .mov .mkv .webm .ts .avi .gif ...).

    size: (width, height) of the upright frame; `rotation` (0, 90, 180, 270 degrees counterclockwise, the
    turn a player must make) is stored as metadata, mp4 and mov only. scene: a function of time, or cards
    shown for `card_seconds` each, over and over. audio: a beep in the first 0.1 s of every second, or mono
    samples at 16 kHz; `language` is that of the audio. variable_rate: frames stay for 1 to 15 periods of
    `fps`. second_size: a second video stream, of inverted frames. pixel_aspect: width of a pixel, its height
    being 1. interlaced: marked so; the scene draws both fields. subtitles, chapters: (start, end, text).
    Returns the time of each frame in seconds on the file's own clock, which starts with its first packet.
    """
    import av

    times = _frame_times(seconds, fps, variable_rate)
    options = dict(container_options or {})
    with av.open(str(path), "w", options=options) as out:
        out.metadata.update(metadata or {})
        codec = codec or {".webm": "libvpx-vp9", ".gif": "gif"}.get(path.suffix, "libx264")
        encoder = (codec, pix_fmt, _options(codec, gop, bframes, open_gop, interlaced))
        videos = [_add_video(out, size, fps, rotation, *encoder)]
        if pixel_aspect:
            videos[0].sample_aspect_ratio = videos[0].codec_context.sample_aspect_ratio = pixel_aspect
        if second_size:
            videos.append(_add_video(out, second_size, fps, 0, *encoder))
        sound = _add_audio(out, path.suffix, language) if audio is not False else None
        words = None
        if subtitles:
            words = add_subtitles(out, subtitle_codec or _SUBTITLE_CODECS[path.suffix])
        if chapters:
            out.set_chapters([_chapter(i, *chapter) for i, chapter in enumerate(chapters)])
        out.start_encoding()
        # The muxer interleaves by time itself, so the streams may come one after another.
        for start, end, text in subtitles:
            out.mux(subtitle_packet(words, start, end, text))
        if sound is not None:
            samples = audio if isinstance(audio, np.ndarray) else _beeps(seconds)
            _encode_audio(out, sound, samples, audio_offset)
        draw = scene if callable(scene) else _cards(scene, card_seconds, size)
        for index, time in enumerate(times):
            image = _with_time_code(draw(time), index)
            for number, stream in enumerate(videos):
                turned = (
                    np.rot90(image, -rotation // 90) if number == 0 else 255 - _resize(image, second_size)
                )
                _encode_image(out, stream, turned, time + start_offset)
        for stream in videos:
            out.mux(stream.encode(None))
    first = min(start_offset, audio_offset) if sound is not None else start_offset
    return tuple(time + start_offset - first for time in times)


def read_time_code(image: Image) -> int | None:
    """The index of the frame that `image`, uint8 (h, w, 3), shows; None where no valid code is seen."""
    height, width, _ = image.shape
    cells = _BITS + _CHECK
    row = image[height - max(2, height // 16)].astype(np.float64).mean(axis=1)
    bits = [row[int((i + 0.5) * width / cells)] > 127 for i in range(cells)]
    value = sum(1 << i for i, bit in enumerate(bits[:_BITS]) if bit)
    check = sum(1 << i for i, bit in enumerate(bits[_BITS:]) if bit)
    return value if check == _checksum(value) else None


def damage(path: Path, fraction: float, seed: int, *, skip: float = 0.1) -> None:
    """Overwrite about `fraction` of the bytes with noise in bursts of 64, in place.

    The first `skip` and the last 0.1 of the file stay whole, so that headers and indexes survive.
    """
    data = bytearray(path.read_bytes())
    chance = random.Random(seed)
    low, high = int(len(data) * skip), int(len(data) * 0.9) - 64
    for _ in range(max(1, round(len(data) * fraction / 64))):
        at = chance.randrange(low, max(low + 1, high))
        data[at : at + 64] = chance.randbytes(64)
    path.write_bytes(data)


def truncate(path: Path, keep: float) -> None:
    """Cut the file off so that the first `keep` (0..1) of its bytes remain."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])


def _frame_times(seconds: float, fps: float, variable_rate: bool) -> list[float]:
    steps = (1, 3, 1, 1, 15, 2) if variable_rate else (1,)
    times: list[float] = []
    tick = 0
    while tick / fps < seconds - 1e-9:
        times.append(tick / fps)
        tick += steps[len(times) % len(steps)]
    return times


def _options(codec: str, gop: int, bframes: int, open_gop: bool, interlaced: bool) -> dict[str, str]:
    if codec == "libx264":
        parameters = f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes={bframes}:b-adapt=0:b-pyramid=0"
        return {
            "preset": "ultrafast",
            "crf": "20",
            "x264-params": f"{parameters}:open-gop={int(open_gop)}:threads=1:tff={int(interlaced)}",
        }
    if codec == "libx265":
        parameters = f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes={bframes}:open-gop={int(open_gop)}"
        return {"preset": "ultrafast", "x265-params": f"{parameters}:log-level=none:pools=1"}
    if codec == "libvpx-vp9":
        return {"deadline": "realtime", "cpu-used": "8", "g": str(gop), "crf": "20", "b": "0"}
    if codec == "libsvtav1":
        return {"preset": "12", "g": str(gop), "crf": "25"}
    if codec in ("gif", "ffv1", "png", "rawvideo"):
        return {}
    return {"g": str(gop), "bf": "0", "qscale": "2", "b": "2000000"}


def _add_video(
    out: Any,
    size: tuple[int, int],
    fps: float,
    rotation: int,
    codec: str,
    pix_fmt: str,
    options: dict[str, str],
) -> Any:
    stream = out.add_stream(codec, rate=Fraction(fps).limit_denominator(1001), options=options)
    turned = rotation % 180 != 0
    stream.width, stream.height = (size[1], size[0]) if turned else size
    stream.pix_fmt = pix_fmt or {"gif": "rgb8", "mjpeg": "yuvj420p", "png": "rgb24"}.get(codec, "yuv420p")
    if codec in ("libx264", "libx265", "libvpx-vp9", "ffv1", "gif"):
        base = Fraction(1, 100) if codec == "gif" else Fraction(1, 90000)
        stream.time_base = stream.codec_context.time_base = base
    stream.codec_context.thread_count = 1
    if rotation:
        stream.set_display_rotation(rotation)
    return stream


def _add_audio(out: Any, suffix: str, language: str) -> Any:
    stream = out.add_stream("libopus" if suffix == ".webm" else "aac", rate=48000, layout="mono")
    if language:
        stream.metadata["language"] = language
    return stream


def _chapter(number: int, start: float, end: float, title: str) -> Any:
    return {
        "id": number,
        "start": round(start * 1000),
        "end": round(end * 1000),
        "time_base": Fraction(1, 1000),
        "metadata": {"title": title},
    }


def _beeps(seconds: float) -> NDArray[np.float32]:
    times = np.arange(round(seconds * 16000)) / 16000
    return np.where(times % 1 < 0.1, 0.5 * np.sin(2 * np.pi * 440 * times), 0).astype(np.float32)


def _encode_audio(out: Any, stream: Any, samples: NDArray[np.float32], offset: float) -> None:
    import av

    resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=48000)
    for at in range(0, len(samples), 16000):
        frame = av.AudioFrame.from_ndarray(samples[None, at : at + 16000], format="flt", layout="mono")
        frame.sample_rate = 16000
        frame.time_base = Fraction(1, 16000)
        frame.pts = at + round(offset * 16000)
        for piece in resampler.resample(frame):
            out.mux(stream.encode(piece))
    for piece in resampler.resample(None):
        out.mux(stream.encode(piece))
    out.mux(stream.encode(None))


def _encode_image(out: Any, stream: Any, image: Image, time: float) -> None:
    import av

    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
    base = stream.codec_context.time_base or 1 / stream.codec_context.framerate
    frame.time_base = base
    frame.pts = round(time / base)
    if stream.codec_context.pix_fmt != "rgb24":
        frame = frame.reformat(format=stream.codec_context.pix_fmt)
    out.mux(stream.encode(frame))


def _cards(cards: Sequence[Card], card_seconds: float, size: tuple[int, int]) -> Scene:
    images = [_card(card, size) for card in cards]
    return lambda time: images[int(time / card_seconds + 1e-9) % len(images)]


def _card(card: Card, size: tuple[int, int]) -> Image:
    from PIL import Image as Images
    from PIL import ImageDraw, ImageFont

    if not isinstance(card, str):
        return np.full((size[1], size[0], 3), card, np.uint8)
    image = Images.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    points = size[1] // 4
    while points > 6 and draw.textlength(card, ImageFont.load_default(points)) > size[0] * 0.9:
        points -= 1
    draw.text((size[0] / 2, size[1] * 0.4), card, "black", ImageFont.load_default(points), anchor="mm")
    return np.asarray(image, np.uint8)


def _resize(image: Image, size: tuple[int, int] | None) -> Image:
    from PIL import Image as Images

    return image if size is None else np.asarray(Images.fromarray(image).resize(size), np.uint8)


def _checksum(value: int) -> int:
    check = 0b1010
    for shift in range(0, _BITS, 4):
        check ^= value >> shift & 15
    return check


def _with_time_code(image: Image, index: int) -> Image:
    """The lowest eighth of the frame becomes 24 cells, white for 1: 20 bits of index, 4 of check sum."""
    height, width, _ = image.shape
    code = index | _checksum(index) << _BITS
    cells = np.arange(width) * (_BITS + _CHECK) // width
    marked = image.copy()
    marked[height - height // 8 :] = np.where(code >> cells & 1, 235, 20)[None, :, None]
    return marked
