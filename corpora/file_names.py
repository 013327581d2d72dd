"""The words of file names, and file names made of words."""

from __future__ import annotations

import unicodedata
from pathlib import PurePath

_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
"""They choose the look of the character before: marks to Unicode, but no part of a word."""


def words_of_name(stem: str) -> list[str]:
    """Letters and numbers of a file name in NFC, each with its marks, cut at all other characters.

    Marks are the vowel signs of Hindi, Tamil and Thai, and accents that Unicode has no composed letter for.
    """
    return _spaced(stem, kept="").split()


def repeats_name(text: str, path: str) -> bool:
    """Whether a text is no more than the words of a file's name, as the title of a video without another."""
    return words_of_name(text.casefold()) == words_of_name(PurePath(path).stem.casefold())


def output_stem(text: str) -> str:
    """`text` as the stem of a file to be written: words, `.` and `-`, joined by `_`; may be empty."""
    return "_".join(_spaced(text, kept="._-").split()).strip("._-")


def _spaced(text: str, kept: str) -> str:
    """In NFC, with a space for each character that is part of no word, and none of `kept`."""
    spaced: list[str] = []
    in_word = False
    for char in unicodedata.normalize("NFC", text):
        marked = in_word and unicodedata.category(char) in ("Mn", "Mc")
        in_word = char.isalnum() or (marked and ord(char) not in _VARIATION_SELECTORS)
        spaced.append(char if in_word or char in kept else " ")
    return "".join(spaced)
