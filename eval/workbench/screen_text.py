"""Readable words on the picture: a dark card with light letters, in the font that Pillow brings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

PANEL = (22, 26, 38)
LETTERS = (250, 248, 236)
LETTER = 0.062
"""Height of the letters in frame heights: 22 pixels at 360, which text recognition reads."""
WIDEST = 0.86
"""Of the frame's width."""


@dataclass(frozen=True, slots=True)
class Card:
    """Text in the upper left corner during [start, end), seconds of the video."""

    start: float
    end: float
    text: str


def render_card(image: Image.Image, text: str) -> None:
    """Draws onto the picture, RGB, in place."""
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
