"""Draws and encodes the demo's films: H.264 by PyAV, 640 x 360, 15 frames a second."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from corpora.demo import garden_things, kitchen_things, workshop_things
from corpora.demo.pen import Pen
from corpora.demo.scenery import HEIGHT, THING_AT, WIDTH, stage
from corpora.demo.story import Film, Said

__all__ = ["FPS", "film_pictures", "write_film"]

FPS = 15
POSES = 30
MOVING_SHARE = 0.6
"""Of each scene, in which the thing moves; then the picture rests and can be read."""

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

THINGS: dict[str, Callable[[float], Pen]] = {
    "board": workshop_things.board,
    "iron": workshop_things.iron,
    "wheel": workshop_things.wheel,
    "wrench": workshop_things.wrench,
    "kettle": kitchen_things.kettle,
    "loaf": kitchen_things.loaf,
    "oven": kitchen_things.oven,
    "press": kitchen_things.press,
    "scales": kitchen_things.scales,
    "can": garden_things.can,
    "drip": garden_things.drip,
    "shears": garden_things.shears,
    "tomato": garden_things.tomato,
}


def film_pictures(film: Film, seed: int) -> Iterator[Image.Image]:
    """Every frame of a film in order, RGB; a frame that does not change is the same object again."""
    for scene in film.scenes:
        still = stage(film.theme, scene, seed)
        count = round(scene.seconds * FPS)
        moving = math.ceil(count * MOVING_SHARE)
        shown = -1
        image = still
        for index in range(count):
            pose = min(POSES - 1, index * POSES // moving)
            if pose != shown:
                image, shown = still.copy(), pose
                thing = _pose(scene.thing, pose)
                image.paste(thing, THING_AT, thing)
            yield image


@lru_cache(maxsize=2 * POSES)
def _pose(thing: str, pose: int) -> Image.Image:
    return THINGS[thing](pose / (POSES - 1)).picture()


def write_film(path: Path, film: Film, seed: int) -> None:
    """One MP4 file, with the narration as a subtitle stream where the film keeps it so."""
    import av

    with av.open(str(path), "w") as out:
        out.metadata["title"] = film.title
        # One thread, so that the same seed gives the same bytes on every machine.
        options = {"preset": "veryfast", "crf": "23", "threads": "1"}
        pictures = out.add_stream("libx264", rate=FPS, options=options)
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        pictures.codec_context.gop_size = 2 * FPS
        said = film.said if film.words == "embedded" else ()
        words = _add_words(out) if said else None
        out.start_encoding()
        for line in said:
            out.mux(_packet(words, line))
        shown: Image.Image | None = None
        frame: Any = None
        for index, image in enumerate(film_pictures(film, seed)):
            if frame is None or image is not shown:
                shown, frame = image, av.VideoFrame.from_image(image).reformat(format="yuv420p")
            frame.pts, frame.time_base = index, Fraction(1, FPS)
            out.mux(pictures.encode(frame))
        out.mux(pictures.encode(None))


def _add_words(out: Any) -> Any:
    stream = out.add_stream("mov_text")
    stream.codec_context.subtitle_header = ASS_HEADER
    stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
    stream.metadata["language"] = "eng"
    return stream


def _packet(stream: Any, line: Said) -> Any:
    from av.subtitles.subtitle import SubtitleSet

    start, length = round(line.start * 1000), round((line.end - line.start) * 1000)
    event = f"0,0,Default,,0,0,0,,{line.text}".encode()
    words = SubtitleSet.create(text=event, start=0, end=length, pts=start * 1000)
    packet = stream.codec_context.encode_subtitle(words)
    packet.stream, packet.time_base = stream, Fraction(1, 1000)
    packet.pts = packet.dts = start
    packet.duration = length
    return packet
