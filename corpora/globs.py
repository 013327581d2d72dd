"""Globs that choose the files of a scan, and leave files and folders out of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


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


def _compile(pattern: str) -> list[str]:
    """The names of a pattern from the root on, of which several `**` in a row are one."""
    anchored = "/" in pattern.rstrip("/")
    parts = [] if anchored else ["**"]
    for name in composed(pattern).split("/"):
        if name not in ("", ".") and not (name == "**" and parts[-1:] == ["**"]):
            parts.append(name)
    return parts


def _fits(parts: Sequence[str], names: Sequence[str]) -> bool:
    """`**` may match nothing, except at the end, where it matches at least one name.

    Only the last `**` so far is tried with more names, so a pattern takes polynomial time.
    """
    at = name = 0
    star, begun = -1, 0
    while at < len(parts):
        if parts[at] == "**":
            star, begun, at = at, name, at + 1
            if at == len(parts):
                return name < len(names)
        elif name < len(names) and fnmatchcase(names[name], parts[at]):
            at, name = at + 1, name + 1
        elif star >= 0 and begun < len(names):
            begun += 1
            at, name = star + 1, begun
        else:
            return False
    return True
