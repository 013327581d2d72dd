"""Fonts of this machine that have the characters of a text, and the text where none has some of them."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
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


def font_for(text: str, size: int, *, bold: bool = False) -> Font:
    """The first font with all characters of `text`, else one that lacks fewest; Pillow's own, which is Latin,
    where the machine has none. `bold`: a bold one before others."""
    from PIL import ImageFont

    best: Font = ImageFont.load_default(size)
    fewest = None
    for file in _files(bold):
        font = _opened(file, size)
        lacking = len(missing_characters(text, font)) if font else 0
        if font and (fewest is None or lacking < fewest):
            best, fewest = font, lacking
        if fewest == 0:
            break
    return best


def missing_characters(text: Collection[str], font: Font) -> set[str]:
    """Find characters that the font has no glyph of; blanks and marks are not looked up."""
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


@lru_cache(64)  # where no font has a character, all of the machine are tried
def _opened(file: str, size: int) -> Font | None:
    """None for one that FreeType does not read at this size."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(file, size)
    except OSError:
        return None


def _files(bold: bool) -> Iterator[str]:
    """The font files of this machine, where the desktop's programs look for them; `_FIRST` first."""
    if sys.platform == "darwin":
        folders = ["/System/Library/Fonts", "/Library/Fonts", os.path.expanduser("~/Library/Fonts")]
    else:
        shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        own = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        folders = [os.path.join(folder, "fonts") for folder in (*shared.split(":"), own)]
    by_name = _by_name(tuple(folders))
    first = [name for name in ((_BOLD, *_FIRST) if bold else _FIRST) if name in by_name]
    yield from (by_name[name] for name in [*first, *sorted(by_name.keys() - {*first})])


@cache
def _by_name(folders: tuple[str, ...]) -> dict[str, str]:
    return {
        name: os.path.join(folder, name)
        for top in folders
        for folder, _, names in os.walk(top)
        for name in names
        if name.lower().endswith((".ttf", ".otf", ".ttc"))
        and not any(word in name.casefold() for word in _PLACEHOLDERS)
    }
