"""Fonts of this machine that have the characters of a text, and the text where none has some of them."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

_BOLD = "DejaVuSans-Bold.ttf"
_FIRST = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "NotoSansCJK-Regular.ttc", "wqy-microhei.ttc"),
    *("DroidSansFallbackFull.ttf", "Arial Unicode.ttf"),
)
"""Tried before any other font file."""
_PLACEHOLDERS = ("lastresort", "blank", "tofu")
"""In the names of fonts that render boxes or nothing for every character."""
_NO_CHARACTER = "\uffff"
"""Rendered as what a font lacks."""


class Fonts:
    """Font files for the texts of one image: the first that have its characters between them.

    Pillow's own font, which is Latin, where the machine has none.
    """

    def __init__(self, text: str) -> None:
        self._files: list[str] = []
        by_name = _font_files()
        self._bold = by_name.get(_BOLD)
        missing: Collection[str] = set(text)
        for file in _ordered(by_name):
            font = _opened(file, 20)
            left = missing_characters(missing, font) if font else missing
            if font and (not self._files or len(left) < len(missing)):
                self._files.append(file)
                missing = left
            if not missing:
                break

    def font(self, size: int, text: str, *, bold: bool = False) -> Font:
        """The one with the most characters of `text`; bold where the bold font has as many."""
        from PIL import ImageFont

        files = ([self._bold] if bold and self._bold else []) + self._files
        fonts = [font for file in files if (font := _opened(file, size))] or [ImageFont.load_default(size)]
        return min(fonts, key=lambda font: len(missing_characters(text, font)))


def missing_characters(text: Collection[str], font: Font) -> set[str]:
    """Those that the font has no glyph of; blanks and marks are not looked up."""
    looked_up = {char for char in text if unicodedata.category(char)[0] not in "CMZ"}
    lacking = _bitmap(font, _NO_CHARACTER)
    return {char for char in looked_up if _bitmap(font, char) == lacking}


def drawable(text: str, font: Font) -> str:
    """`text` with `[no font: CJK]` in place of words that the font lacks, by the names of their letters."""
    missing = missing_characters(text, font)
    if not missing:
        return text
    parts = []
    for lacking, words in groupby(text.split(" "), lambda word: not missing.isdisjoint(word)):
        held = " ".join(words)
        names = {unicodedata.name(char).split()[0] for char in missing & set(held) if char.isalpha()}
        parts.append(f"[no font: {', '.join(sorted(names)) or 'symbols'}]" if lacking else held)
    return " ".join(parts)


def _bitmap(font: Font, char: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(char)
    return mask.size, bytes(mask)


def _opened(file: str, size: int) -> Font | None:
    """None for one that FreeType does not read at this size."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(file, size)
    except OSError:
        return None


def _ordered(by_name: dict[str, str]) -> Iterator[str]:
    yield from (by_name[name] for name in _FIRST if name in by_name)
    for name in sorted(by_name.keys() - set(_FIRST)):
        if not any(word in name.casefold() for word in _PLACEHOLDERS):
            yield by_name[name]


def _font_files() -> dict[str, str]:
    """The font files of this machine by name, where the desktop's programs look for them."""
    if sys.platform == "darwin":
        folders = ["/System/Library/Fonts", "/Library/Fonts", os.path.expanduser("~/Library/Fonts")]
    else:
        shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        own = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        folders = [os.path.join(folder, "fonts") for folder in (*shared.split(":"), own)]
    return {
        name: os.path.join(folder, name)
        for top in folders
        for folder, _, names in os.walk(top)
        for name in names
        if name.lower().endswith((".ttf", ".otf", ".ttc"))
    }
