"""Videos of minutes to an hour: many stories one after the other, with speech, text cards and music."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from eval.workbench.catalogue import Split, read_data, scene
from eval.workbench.pen import Style
from eval.workbench.renderer import FrameRenderer
from eval.workbench.seeds import stable_number, stream
from eval.workbench.sound import melody, spoken_seconds, story_sound, to_sixteen_bits
from eval.workbench.story import ClipStory, plan_clip
from eval.workbench.video import AUDIO_RATE, Chapter, ContainerMetadata, Line, Render

if TYPE_CHECKING:
    from numpy.typing import NDArray


PANEL = (22, 26, 38)
LETTERS = (250, 248, 236)
LETTER = 0.062
"""Height of the letters in frame heights: 22 pixels at 360, which text recognition reads."""
WIDEST = 0.86
"""Greatest width of the letters, in frame widths."""
SHORTEST, LONGEST = 30, 90
"""Seconds between two changes of scene."""
SPOKEN_SHARE = 0.5
"""Share of the events that a spoken line describes."""


@dataclass(frozen=True, slots=True)
class Card:
    """Text in the upper left corner during [start, end), seconds of the video."""

    start: float
    end: float
    text: str


def render_card(image: Image.Image, text: str) -> None:
    """Render onto the image, RGB, in place."""
    image.paste(
        _card(text, image.width, image.height), (round(0.04 * image.height), round(0.05 * image.height))
    )


@lru_cache(maxsize=8)
def _card(text: str, width: int, height: int) -> Image.Image:
    size = LETTER * height
    font = ImageFont.load_default(size)
    lines = _wrapped(text, font, WIDEST * width - 1.2 * size)
    widest = max(font.getlength(line) for line in lines)
    card = Image.new("RGB", (round(widest + 1.2 * size), round((1.35 * len(lines) + 0.6) * size)), PANEL)
    draw = ImageDraw.Draw(card)
    for number, line in enumerate(lines):
        draw.text((0.6 * size, (0.3 + 1.35 * number) * size), line, font=font, fill=LETTERS)
    return card


def _wrapped(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, room: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


TITLES, NOTES = (read_data("long_videos")[part] for part in ("titles", "notes"))


@dataclass(frozen=True, slots=True)
class Part:
    """One story inside a video, from `start` seconds on."""

    start: float
    story: ClipStory
    heading: str

    @property
    def end(self) -> float:
        """Seconds of the video, exclusive."""
        return self.start + self.story.duration


@dataclass(frozen=True, slots=True)
class LongVideo:
    """The plan of a video of several stories, before anything is rendered."""

    seed: int
    split: Split
    title: str
    description: str
    tags: tuple[str, ...]
    parts: tuple[Part, ...]
    lines: tuple[Line, ...]
    """What is said, in the subtitle stream."""
    cards: tuple[Card, ...]
    """What is on screen."""

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.parts[-1].end


# Who asks for a moment of a video asks for its plan again; an hour takes 0.2 s.
@lru_cache(maxsize=64)
def plan_long_video(seed: int, split: Split, minutes: float, *, style: Style = "live") -> LongVideo:
    """The same arguments give the same video; a part lasts 30 to 90 s. `minutes`: half a minute or more."""
    rng = stream("long film", split, seed)
    parts = _parts(rng, seed, split, round(minutes * 60), style)
    scenes = list(dict.fromkeys(part.story.scene for part in parts))
    jobs = list(dict.fromkeys(part.heading for part in parts))
    shown = ", then ".join(jobs[:6])
    return LongVideo(
        seed=seed,
        split=split,
        title=f"{rng.choice(TITLES)}, episode {rng.randint(2, 98)}: {jobs[0]}",
        description=f"{_counted(minutes, 'minute')} in {_counted(len(parts), 'scene')}: {shown}.",
        tags=("first person", "housework", *scenes[:6]),
        parts=parts,
        lines=tuple(line for number, part in enumerate(parts, start=1) for line in _lines(rng, number, part)),
        cards=tuple(card for number, part in enumerate(parts, start=1) for card in _cards(rng, number, part)),
    )


def long_metadata(video: LongVideo) -> ContainerMetadata:
    """Title, description, tags, subtitles and chapters of the video."""
    chapters = tuple(Chapter(part.start, part.end, part.heading) for part in video.parts)
    return ContainerMetadata(video.title, video.description, video.tags, video.lines, chapters)


def long_frames(video: LongVideo, render: Render) -> Iterator[NDArray[np.uint8]]:
    """Every frame in order, uint8 (height, width, 3) RGB, at t = i / fps."""
    index = 0
    for part in video.parts:
        renderer = FrameRenderer(part.story, render.height)
        while (t := index / render.fps) < part.end:
            image = renderer.image(t - part.start)
            for card in video.cards:
                if card.start <= t < card.end:
                    render_card(image, card.text)
            yield np.asarray(image)
            index += 1


def long_sound(video: LongVideo) -> Iterator[NDArray[np.float32]]:
    """The sound of each part in order: its story, and the tune.

    Mono float32 (n,) a part, at 16 kHz, in [-1, 1] by steps of 1/32767.
    """
    for part in video.parts:
        samples = story_sound(part.story)
        samples += melody(video.seed, len(samples), offset=round(part.start * AUDIO_RATE))
        yield to_sixteen_bits(samples)


def _parts(rng: random.Random, seed: int, split: Split, seconds: int, style: Style) -> tuple[Part, ...]:
    parts: list[Part] = []
    left = max(SHORTEST, seconds)
    while left:
        length = left if left <= LONGEST else rng.randint(SHORTEST, min(LONGEST, left - SHORTEST))
        before = parts[-1].story.scene if parts else ""
        story = _next_story(seed, split, len(parts), float(length), before, style)
        heading = rng.choice(scene(story.scene).phrases[split])
        parts.append(Part(parts[-1].end if parts else 0.0, story, heading[0].upper() + heading[1:]))
        left -= length
    return tuple(parts)


def _counted(number: float, noun: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def _next_story(seed: int, split: Split, number: int, length: float, before: str, style: Style) -> ClipStory:
    """The first of the part's candidate stories that plays in another scene than the part before."""
    attempt = 0
    while True:
        story = plan_clip(stable_number("part", seed, number, attempt), split, duration=length, style=style)
        if story.scene != before:
            return story
        attempt += 1


def _lines(rng: random.Random, number: int, part: Part) -> Iterator[Line]:
    said = [(0.8, f"This is part {number}. {part.heading}.")]
    said += [
        (event.start, f"Now {event.rewritten}.") for event in part.story.events if rng.random() < SPOKEN_SHARE
    ]
    free = 0.0
    for start, text in said:
        end = start + spoken_seconds(text)
        if start >= free and end <= part.story.duration:
            yield Line(round(part.start + start, 2), round(part.start + end, 2), text)
            free = end + 0.2


def _cards(rng: random.Random, number: int, part: Part) -> Iterator[Card]:
    yield Card(part.start + 0.5, part.start + 4.5, f"{number}  {part.heading}")
    note = rng.choice(NOTES).format(
        n=rng.randint(11, 98), m=rng.randint(1010, 9890), letter=rng.choice("ABCDEFGHKLMNPRSTUVWXYZ")
    )
    at = part.start + math.floor(rng.uniform(8, part.story.duration - 8))
    yield Card(at, at + 5.0, note)
