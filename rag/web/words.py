"""Words as the web's engine sees them: Unicode words, and pairs of characters of unspaced scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import groupby


def words(text: str) -> list[str]:
    """In order, case folded and in compatibility form (NFKC).

    A word is a run of letters, marks and digits. A run of Chinese, Japanese or Thai characters gives
    its overlapping pairs (or itself, where it is one character), as search engines index them.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for kind, run in _runs(folded):
        if kind == "unspaced" and len(run) > 1:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def _runs(text: str) -> Iterator[tuple[str, str]]:
    for kind, run in groupby(text, _kind):
        if kind:
            yield kind, "".join(run)


def _kind(character: str) -> str:
    """`unspaced`, `spaced`, or nothing for what belongs to no word."""
    code = ord(character)
    if code < 128:
        return "spaced" if character.isalnum() else ""
    if _is_unspaced(code):
        return "unspaced"
    return "spaced" if unicodedata.category(character)[0] in "LNM" else ""


def _is_unspaced(code: int) -> bool:
    return (
        0x3040 <= code <= 0x30FF  # kana
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
        or 0x0E00 <= code <= 0x0E7F  # Thai
    )
