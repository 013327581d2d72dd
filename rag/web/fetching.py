"""Videos of published lists, downloaded by yt-dlp into a folder that `rag web build` makes a web of.

The only part of the program that visits the live web, for addresses that the user's files name. What was
downloaded is in an archive, so that the same call continues where the last one stopped; what cannot be had is
listed with the reason, and tried again by the next call.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.errors import os_reason, reason_of
from corpora.outputs import atomic_write_text
from corpora.records import Problem
from corpora.text_decoding import decode
from rag.errors import ExtraMissing, FileProblem, UsageError

ARCHIVE = ".archive.txt"
"""In the folder: what was downloaded, as yt-dlp keeps it. Hidden, so that no web takes it for a page."""
GONE = ".gone.jsonl"
"""In the folder: `url` and `reason` of each address whose video could not be had."""
HEIGHT = 720
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\,;|)\]}]+")
Progress = Callable[[int, int, str], None]
"""Called before each address with its number from 1, how many there are, and the address."""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What a call downloaded."""

    folder: str
    listed: int
    """Different addresses in the lists."""
    fetched: int
    kept: int
    """Downloaded by an earlier call, or as another address of the same video."""
    gone: tuple[Problem, ...]
    """Addresses whose video could not be had, and why."""

    @property
    def exit_code(self) -> int:
        """3 where some could not be had, else 0."""
        return 3 if self.gone else 0


def listed_addresses(lists: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Every web address in text files (JSON lines, JSON, CSV, or an address a line), each once, in order.

    Raises `UsageError` for a file that cannot be read, and where there is no address.
    """
    paths, found = [Path(each) for each in lists], dict[str, None]()
    for path in paths:
        try:
            text = decode(path.read_bytes()).replace("\\/", "/")
        except (OSError, FileProblem) as error:
            reason = os_reason(error) if isinstance(error, OSError) else reason_of(error, str(path))
            raise UsageError(f"{path}: the list cannot be read: {reason}") from error
        found |= dict.fromkeys(_ADDRESS.findall(text))
    if not found:
        raise UsageError(f"{', '.join(map(str, paths))}: no web address in it")
    return tuple(found)


def fetch_videos(
    out: str | os.PathLike[str],
    lists: Iterable[str | os.PathLike[str]],
    *,
    height: int = HEIGHT,
    progress: Progress | None = None,
) -> FetchReport:
    """Download the videos of all addresses as `ID.EXT` with `ID.info.json` and subtitles; none again.

    `lists`: of targets and of distractors alike. `height`: lines of a picture, at most, if there is a choice.
    Raises `UsageError` and, without yt-dlp, `ExtraMissing`.
    """
    addresses, home = listed_addresses(lists), Path(out)
    try:
        import yt_dlp
    except ImportError as error:
        raise ExtraMissing(
            "yt-dlp not installed; install it with: pip install -e '.[fetch]' (in the checkout)"
        ) from error
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{home}: cannot be made: {os_reason(error)}") from error
    gone: list[Problem] = []
    before = _archived(home)
    try:
        with yt_dlp.YoutubeDL(_options(home, height)) as loader:
            for number, url in enumerate(addresses, start=1):
                if progress is not None:
                    progress(number, len(addresses), url)
                try:
                    loader.extract_info(url, download=True)
                except yt_dlp.utils.YoutubeDLError as error:
                    gone.append(Problem(url, _plain(str(error))))
    finally:
        lines = (json.dumps({"url": one.path, "reason": one.reason}) + "\n" for one in gone)
        atomic_write_text(home / GONE, "".join(lines))
    fetched = _archived(home) - before
    kept = len(addresses) - fetched - len(gone)
    return FetchReport(os.fspath(out), len(addresses), fetched, kept, tuple(gone))


def _archived(home: Path) -> int:
    """How many videos the archive has, whose lines are yt-dlp's."""
    path = home / ARCHIVE
    return len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0


def _options(home: Path, height: int) -> dict[str, Any]:
    return {
        "outtmpl": str(home / "%(id)s.%(ext)s"),
        "download_archive": str(home / ARCHIVE),
        "format_sort": [f"res:{height}"],
        "retries": 10,  # as the command of yt-dlp has it
        "noplaylist": True,
        "writeinfojson": True,
        "writesubtitles": True,
        "quiet": True,
        "noprogress": True,
        "no_warnings": True,
        "logger": _Silent(),
    }


class _Silent:
    """In place of yt-dlp's messages: what fails is in the report."""

    def debug(self, _: str) -> None: ...

    warning = error = debug


def _plain(text: str) -> str:
    """Without colours, the label before it, and the advice below it."""
    first = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().partition("\n")[0]
    return first.removeprefix("ERROR: ").strip()[:300]
