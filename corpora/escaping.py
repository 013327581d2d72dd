"""Text of files on a line of a terminal or a log."""

from __future__ import annotations

import unicodedata

_UNSHOWN = {"Cc", "Cs", "Cf", "Co", "Zl", "Zp"}
_JOINERS = {"\u200c", "\u200d"}
"""Format characters that emoji and several scripts need; harmless on a line."""


def visible(text: str) -> str:
    """One line in which every character is visible.

    Control characters (newlines too), direction marks and bytes that are not
    UTF-8 become `\\n`, `\\x1b`, `\\u202e`, `\\xff`.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _UNSHOWN:
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")
