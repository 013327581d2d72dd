"""What a frozen web holds on disk: `web.jsonl`, a video a line, and `pages.jsonl`, a text page a line.

Outside data: every line is checked when it is read. `file` is a path below or beside the web's
folder, and only a name that `corpora.kinds` calls a video is ever given out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from corpora.errors import os_reason
from corpora.kinds import kind_of
from rag.errors import WebUnusable
from rag.web.records import Availability, Seconds, TranscriptLine

VIDEOS = "web.jsonl"
PAGES = "pages.jsonl"


NonEmpty = Annotated[str, Field(min_length=1)]


def _video_name(file: str) -> str:
    if file and kind_of(file) != "video":
        raise ValueError(f"{file}: not the name of a video")
    return file


def _forwards(lines: tuple[TranscriptLine, ...]) -> tuple[TranscriptLine, ...]:
    for line in lines:
        if line.start > line.end:
            raise ValueError(f"{line.start:g} to {line.end:g} is no stretch of time")
    return lines


@dataclass(frozen=True, slots=True)
class VideoEntry:
    """One upload. Fields that a source does not know are empty."""

    id: NonEmpty
    url: NonEmpty
    title: str
    description: str = ""
    channel: str = ""
    upload_date: str = ""
    """YYYY-MM-DD."""
    duration: Seconds = 0.0
    tags: tuple[str, ...] = ()
    thumbnail: str = ""
    transcript: Annotated[tuple[TranscriptLine, ...], AfterValidator(_forwards)] = ()
    transcript_timed: bool = True
    language: str = ""
    file: Annotated[str, AfterValidator(_video_name)] = ""
    """Relative to the web's folder; empty where there are no bytes to download."""
    content_id: Annotated[str, Field(pattern="^[0-9a-f]*$")] = ""
    """Hash of the file's content (`corpora.identity`), a library's `video_id`; empty: not known yet."""
    alias_of: str = ""
    """The id of the upload that this one repeats."""
    availability: Availability = "ok"

    @property
    def text(self) -> str:
        """What a search engine reads of it."""
        return "\n".join(
            part for part in (self.title, self.channel, ", ".join(self.tags), self.description) if part
        )


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page of text."""

    id: NonEmpty
    url: NonEmpty
    title: str
    content: str
    site: str = ""

    @property
    def text(self) -> str:
        """Title and content, as a search engine indexes them."""
        return f"{self.title}\n{self.content}"


Entry = TypeVar("Entry", bound=VideoEntry | PageEntry)


@dataclass(frozen=True)
class Catalogue:
    """All of a web, in memory. Made by `read_catalogue`."""

    folder: Path
    videos: tuple[VideoEntry, ...]
    pages: tuple[PageEntry, ...]
    fingerprint: str
    """Hash over both files."""

    @cached_property
    def _videos(self) -> dict[str, VideoEntry]:
        return {address(entry.url): entry for entry in self.videos}

    @cached_property
    def _pages(self) -> dict[str, PageEntry]:
        return {address(entry.url): entry for entry in self.pages}

    @cached_property
    def by_id(self) -> dict[str, VideoEntry]:
        """Videos by id."""
        return {entry.id: entry for entry in self.videos}

    @cached_property
    def pages_by_id(self) -> dict[str, PageEntry]:
        """Pages by id."""
        return {entry.id: entry for entry in self.pages}

    def video(self, url: str) -> VideoEntry | None:
        """The video of an address; None for an unknown one."""
        return self._videos.get(address(url))

    def page(self, url: str) -> PageEntry | None:
        """The page of an address; None for an unknown one."""
        return self._pages.get(address(url))

    def path(self, entry: VideoEntry) -> Path | None:
        """The video's file; None where the web has none for it, or a link by its name leads to what is no
        video: a web may be made by others, and its files are given out."""
        path = self.folder / entry.file if entry.file else None
        if path is None or (path.is_symlink() and kind_of(os.path.realpath(path)) not in ("video", "audio")):
            return None
        return path


def address(url: str) -> str:
    """The one form of the many in which an address is written.

    Of a watch page only `v` counts, wherever it starts to play; `youtu.be/ID` is YouTube's; a
    fragment, a last slash, `www.` and the case of the host never count. The path of a file stays as it is.
    """
    if url.startswith("/"):
        return url
    try:
        parts = urlsplit(url.strip())
        named = parse_qs(parts.query).get("v", [])
    except ValueError:
        return url.strip()
    host = parts.netloc.lower().removeprefix("www.").removeprefix("m.")
    path = parts.path.rstrip("/")
    if host == "youtu.be":
        return f"youtube.com/watch?v={path.lstrip('/')}"
    if named:
        return f"{host}{path}?v={named[0]}"
    return f"{host}{path}" + (f"?{parts.query}" if parts.query else "")


def read_catalogue(folder: str | os.PathLike[str]) -> Catalogue:
    """Raises `WebUnusable`, with file and line, for a web that is not there or not in order."""
    home = Path(folder)
    videos, texts = home / VIDEOS, home / PAGES
    try:
        data = videos.read_bytes(), texts.read_bytes() if texts.exists() else b""
    except OSError as error:
        raise WebUnusable(
            f"{error.filename or home}: {os_reason(error)}; a web is made with: rag web build {home} SOURCE"
        ) from error
    digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in data))
    return Catalogue(
        folder=home.absolute(),
        videos=tuple(_entries(videos, VideoEntry, data[0])),
        pages=tuple(_entries(texts, PageEntry, data[1])),
        fingerprint=digest.hexdigest()[:32],
    )


def write_catalogue(
    folder: str | os.PathLike[str], videos: Iterable[VideoEntry], pages: Iterable[PageEntry] = ()
) -> None:
    """Write both files into the folder, `web.jsonl` last; lines sorted by id. Raises `OSError`."""
    tables: tuple[tuple[str, Iterable[VideoEntry | PageEntry]], ...] = ((PAGES, pages), (VIDEOS, videos))
    for name, entries in tables:
        lines = (json.dumps(_line(entry)) + "\n" for entry in sorted(entries, key=lambda entry: entry.id))
        Path(folder, name).write_text("".join(lines), encoding="utf-8")


def _line(entry: VideoEntry | PageEntry) -> dict[str, Any]:
    """Leave out what is empty, but not what a reader looks for first."""
    fields = asdict(entry)
    if isinstance(entry, VideoEntry) and entry.transcript_timed:
        del fields["transcript_timed"]
    return {
        key: value
        for key, value in fields.items()
        if key in ("id", "url", "title", "duration", "availability") or value not in ("", (), [], None)
    }


def _entries(path: Path, kind: type[Entry], data: bytes) -> Iterator[Entry]:
    """The checked lines of one file. Raises `WebUnusable` with file and line."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    ids: set[str] = set()
    addresses: set[str] = set()
    aliases: dict[str, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry: Entry = adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            message = f"{field}: {first['msg']}" if field else first["msg"]
            raise WebUnusable(f"{path}:{number}: {message}") from error
        where = address(entry.url)
        if entry.id in ids or where in addresses:
            raise WebUnusable(f"{path}:{number}: {entry.id}: this id or url is listed twice")
        ids.add(entry.id)
        addresses.add(where)
        if isinstance(entry, VideoEntry) and entry.alias_of:
            aliases[entry.alias_of] = number
        yield entry
    for name, number in aliases.items():
        if name not in ids:
            raise WebUnusable(f"{path}:{number}: alias_of {name}: no such video")
