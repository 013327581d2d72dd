"""Globs that choose the files of a scan, and leave files and folders out of it."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Iterable, Sequence


def composed(path: str) -> str:
    """The path in NFC, to compare it: names that macOS wrote are decomposed, typed ones are composed."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


class Globs:
    """Patterns on the `/`-separated path of a file below its root, case-sensitive, both compared in NFC.

    `*`, `?` and `[...]` stay within one name; `**` matches any number of folders, none
    included. A pattern without `/` fits a name at any depth (`*.mp4`, `drafts`), one with
    `/` starts at the root (`talks/*.mp4`, `**/2024/*`; `./` and a leading `/` are the root).
    A pattern that fits a folder takes everything below it. As in `.gitignore`, then, save
    that there is no `!`.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [_compile(pattern) for pattern in patterns if pattern]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def match(self, path: str) -> bool:
        """Whether the path, or a folder on the way to it, fits one of the patterns."""
        names = composed(path).split("/")
        return any(_fits(parts, names) for parts in self._patterns)


def _compile(pattern: str) -> list[re.Pattern[str] | None]:
    """One regular expression for each name of the pattern; None for `**`."""
    anchored = "/" in pattern.rstrip("/")
    names = [name for name in composed(pattern).split("/") if name not in ("", ".")]
    if not anchored:
        names.insert(0, "**")
    parts: list[re.Pattern[str] | None] = []
    for name in names:
        if name != "**":
            parts.append(re.compile(fnmatch.translate(name)))
        elif not parts or parts[-1] is not None:
            parts.append(None)
    return parts


def _fits(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Set-of-states match, so that no pattern takes more than len(parts) x len(names) steps."""
    last = len(parts)
    states = _past_stars({0}, parts)
    for name in names:
        following: set[int] = set()
        for state in states:
            part = parts[state]
            if part is None:
                following.update((state, state + 1) if state + 1 == last else (state,))
            elif part.match(name):
                following.add(state + 1)
        states = _past_stars(following, parts)
        if last in states:
            return True
    return False


def _past_stars(states: set[int], parts: Sequence[re.Pattern[str] | None]) -> set[int]:
    """`**` may match nothing, except at the end, where it matches at least one name."""
    more = {state + 1 for state in states if state + 1 < len(parts) and parts[state] is None}
    return states | more
