"""A frozen web out of what is on this machine: folders, `.info.json` files, pool rows, a library.

The same video listed twice (a pool row and its downloaded file) is one entry: what is said first counts,
the rest fills the gaps. Two entries of the same bytes are re-uploads: the later one is `alias_of` the
earlier.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.errors import os_reason, reason_of
from corpora.identity import content_hash
from corpora.kinds import kind_of
from corpora.outputs import OverwritePolicy, check_output_folder, output_folder
from corpora.passages.document import Document
from corpora.records import SPOKEN, Problem, one_transcript
from corpora.scan import FoundFile, scan
from rag.errors import FileProblem, UsageError, WebUnusable
from rag.store.sidecars import has_indexed_content
from rag.web.catalogue import PAGES, VIDEOS, PageEntry, VideoEntry, address, read_catalogue, write_catalogue
from rag.web.records import TranscriptLine
from rag.web.source_rows import Rows, catalogue_fields, read_info, read_rows

if TYPE_CHECKING:
    from corpora.video.reader import MediaReader
    from rag.library import Library

VIDEO_HOST = "https://videos.example"
PAGE_HOST = "https://pages.example"
"""Pages without an address get one here; the name can never be a real one (RFC 2606)."""
NO_IMAGES = "left out: sound without images; a web holds videos and pages of text"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build of a web read and wrote."""

    folder: str
    videos: int
    with_file: int
    """Videos that can be downloaded."""
    with_transcript: int
    aliases: int
    pages: int
    fingerprint: str
    problems: tuple[Problem, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 where there were problems, else 0."""
        return 3 if self.problems else 0


def build_web(
    out: str | os.PathLike[str],
    sources: Iterable[str | os.PathLike[str]] = (),
    *,
    library: Library | None = None,
    progress: Progress | None = None,
    policy: OverwritePolicy | None = None,
    paths: bool = False,
) -> BuildReport:
    """Write `web.jsonl` and `pages.jsonl` into `out`; those that exist are replaced by force alone.

    `sources`: folders and files, walked as `rag index` walks them; JSON lines whose rows have a `link` or
    a `webpage_url` are pool rows, all other documents become pages of text. `library`: its videos with
    the speech recognized in them, and its documents. Files are named, never copied. `paths`: the address of
    a video is the path of its file, for a web that is made for one search. Raises `UsageError` where there is
    nothing to build from, or `out` holds such files (`corpora.outputs`),
    `UnreadableFile` for a source that is not there.
    """
    home, allowed = Path(out).absolute(), policy or OverwritePolicy()
    given = [os.fspath(source) for source in sources]
    if not given and library is None:
        raise UsageError(
            "nothing to build a web from: name videos, documents or folders of them, or a library"
        )
    check_output_folder(out, allowed, (VIDEOS, PAGES))
    with ExitStack() as stack:
        builder = _Builder(home, stack, progress or (lambda _: None))
        for row_file, rows in builder.take_files(given):
            builder.take_rows(row_file, rows)
        if library is not None:
            builder.take_library(library)
        builder.finish_files()
        videos, pages = builder.entries(paths=paths)
    if not videos and not pages:
        named = ", ".join(given) or "the library"
        raise UsageError(
            f"{named}: nothing to build a web from: no videos, no rows about videos, no documents"
        )
    try:
        with output_folder(home, allowed, shared=True) as draft:
            write_catalogue(draft, videos, pages)
    except OSError as error:
        raise WebUnusable(f"{home}: the web cannot be written: {os_reason(error)}") from error
    made = read_catalogue(home)
    return BuildReport(
        folder=os.fspath(out),
        videos=len(videos),
        with_file=sum(1 for entry in videos if entry.file),
        with_transcript=sum(1 for entry in videos if entry.transcript),
        aliases=sum(1 for entry in videos if entry.alias_of),
        pages=len(pages),
        fingerprint=made.fingerprint,
        problems=tuple(builder.problems),
    )


class _Builder:
    """Gathers fields by video id; files wait until all rows are known, for a row may name its file."""

    def __init__(self, home: Path, stack: ExitStack, progress: Progress) -> None:
        self.problems: list[Problem] = []
        self._home = home
        self._stack = stack
        self._progress = progress
        self._fields: dict[str, dict[str, Any]] = {}
        self._pages: dict[str, PageEntry] = {}
        self._files: dict[str, tuple[FoundFile, dict[str, Any]]] = {}

    def take_files(
        self, sources: Iterable[str | os.PathLike[str]], known: Mapping[str, dict[str, Any]] | None = None
    ) -> list[tuple[Path, Sequence[Mapping[str, Any]]]]:
        """Videos and documents below `sources`; gives back the files of rows. `known`: fields by path."""
        roots = [os.fspath(source) for source in sources]
        if not roots:
            return []
        found = scan(roots)
        self.problems += found.problems
        rows: list[tuple[Path, Sequence[Mapping[str, Any]]]] = []
        for file in found.files:
            if file.kind == "video":
                self._files.setdefault(file.path, (file, (known or {}).get(file.path, {})))
            elif file.kind == "audio":
                self.problems.append(Problem(file.path, NO_IMAGES))
            elif not self._is_ours(file.path):
                table = _rows_of(file.path)
                if table is None:
                    self._read_pages(file.path, indexed=known is not None)
                else:
                    rows.append((Path(file.path), table.rows))
                    self.problems += [
                        Problem(f"{file.path}:{number}", "no JSON; the other rows are taken")
                        for number in table.broken
                    ]
        return rows

    def take_rows(self, path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            fields = catalogue_fields(row)
            local = self._local(path.parent, fields)
            fields.pop("file", None)
            self._merge(fields | ({"file": local} if local else {}))
            if local in self._files:
                # What the file says of itself fills the row's gaps.
                self._files[local] = self._files[local][0], {"id": fields["id"]}

    def take_library(self, library: Library) -> None:
        reader = library.engine.reader
        known: dict[str, dict[str, Any]] = {}
        for video in reader.videos():
            spans = reader.evidence(video.video_id, 0.0, video.duration + 1)
            said = [
                TranscriptLine(span.start, span.end, span.text)
                for span in one_transcript(spans)
                if span.kind in SPOKEN
            ]
            whole = next(filter(has_indexed_content, reader.files_of(video.video_id)), None)
            if whole is None:
                reason = "the file is gone or changed; rag index FOLDER --prune updates the library"
                self.problems.append(Problem(video.path, reason))
                continue
            known[whole.path] = {
                "content_id": video.video_id,
                "title": video.title,
                "description": video.description,
                "tags": video.tags,
                "duration": round(video.duration, 3),
                "transcript": tuple(said),
                "language": video.language,
            }
        documents = [path for path in reader.passage_files() if os.path.exists(path)]
        for row_file, rows in self.take_files([*known, *documents], known):
            self.take_rows(row_file, rows)

    def finish_files(self) -> None:
        """Read what the files say themselves, and put it to what is known of them."""
        for path in sorted(self._files):
            self._progress(path)
            file, fields = self._files[path]
            try:
                self._merge(self._of_file(file, fields))
            except FileProblem as error:
                self.problems.append(Problem(path, reason_of(error, path)))
        for fields in self._fields.values():
            path = fields.get("file", "")
            if path and "content_id" not in fields:
                self._progress(path)
                try:
                    fields["content_id"] = content_hash(path)
                except FileProblem as error:
                    self.problems.append(Problem(path, reason_of(error, path)))
                    del fields["file"]
                    continue
            if path and not fields.get("duration"):
                fields["duration"] = self._duration(path)

    def entries(self, *, paths: bool) -> tuple[list[VideoEntry], list[PageEntry]]:
        videos = []
        for name, fields in sorted(self._fields.items()):
            local = fields.get("file", "")
            title = fields.get("title") or (_title_of(local) if local else name)
            file = os.path.relpath(local, self._home) if local else ""
            url = os.path.abspath(local) if local and paths else fields["url"]
            videos.append(VideoEntry(**{**fields, "id": name, "url": url, "title": title, "file": file}))
        return _with_aliases(_once_an_address(videos)), sorted(self._pages.values(), key=lambda page: page.id)

    def _of_file(self, file: FoundFile, known: dict[str, Any]) -> dict[str, Any]:
        info = next((path for path in file.sidecars if path.lower().endswith(".info.json")), None)
        fields = {} if info is None else read_info(Path(info))
        fields |= {key: value for key, value in known.items() if value}
        sides = self._reader.sidecars(file.sidecars, [file.path])
        probe = self._reader.probe(file.path)
        said = one_transcript(text for text in sides.texts if text.kind in SPOKEN)
        if not said and not fields.get("transcript"):
            said = one_transcript(self._reader.texts(file.path))
        content_id = fields.get("content_id") or content_hash(file.path)
        own = {
            "id": content_id[:11],
            "title": sides.title or probe.title,
            "description": sides.description or probe.description,
            "tags": sides.tags or probe.tags,
            "language": sides.language,
            "duration": round(probe.duration, 3),
            "transcript": tuple(TranscriptLine(text.start, text.end, text.text) for text in said),
        }
        whole = {**own, **fields, "content_id": content_id, "file": file.path}
        return {key: value for key, value in whole.items() if value}

    def _merge(self, fields: dict[str, Any]) -> None:
        name = fields["id"]
        held = self._fields.setdefault(name, {})
        timed = fields.get("transcript") and fields.get("transcript_timed", True)
        if timed and not held.get("transcript_timed", True):
            del held["transcript"], held["transcript_timed"]
        for key, value in {**fields, "url": fields.get("url") or f"{VIDEO_HOST}/watch?v={name}"}.items():
            if key != "id" and not held.get(key):
                held[key] = value

    def _local(self, folder: Path, fields: Mapping[str, Any]) -> str:
        """The file of a pool row: as it says, else named by the id, beside the rows or in `videos`."""
        named = [fields["file"]] if "file" in fields else []
        guesses = [Path(folder, name) for name in named if kind_of(name) == "video"]
        wanted = fields.get("id", "")
        by_id = [path for path in self._files if wanted and Path(path).stem == wanted]
        # Unlike Path.is_file, this takes any name: rows may hold one that no disk can.
        found = next((str(path) for path in guesses if os.path.isfile(path)), by_id[0] if by_id else "")
        return os.path.abspath(found) if found else ""

    def _read_pages(self, path: str, *, indexed: bool) -> None:
        """`indexed`: what is wrong with the file was said when it was indexed."""
        try:
            for found in self._reader.documents(path):
                if isinstance(found, Problem):
                    self.problems.append(found)
                else:
                    self._add_page(found)
        except FileProblem as error:
            if not indexed:
                self.problems.append(Problem(path, reason_of(error, path)))

    def _add_page(self, found: Document) -> None:
        name = _free(_slug(found.doc_id), self._pages)
        title = found.title or " ".join(found.text.split()[:8])
        self._pages[name] = PageEntry(name, f"{PAGE_HOST}/{name}", title, found.text, "pages.example")

    def _duration(self, path: str) -> float:
        try:
            return round(self._reader.probe(path).duration, 3)
        except FileProblem:
            return 0.0

    @cached_property
    def _reader(self) -> MediaReader:
        from corpora.video.reader import MediaReader

        return self._stack.enter_context(MediaReader())

    def _is_ours(self, path: str) -> bool:
        """A web inside its own source must not be read as rows of the next."""
        return Path(path).parent == self._home


def _rows_of(path: str) -> Rows | None:
    if not path.lower().endswith((".jsonl", ".ndjson", ".json")):
        return None
    try:
        return read_rows(Path(path))
    except OSError:
        return None


def _once_an_address(videos: Iterable[VideoEntry]) -> list[VideoEntry]:
    """Two ids at one address get different addresses."""
    taken: set[str] = set()
    found = []
    for entry in videos:
        moved = replace(entry, url=f"{VIDEO_HOST}/watch?v={entry.id}")
        found.append(moved if address(entry.url) in taken else entry)
        taken.add(address(found[-1].url))
    return found


def _with_aliases(videos: list[VideoEntry]) -> list[VideoEntry]:
    first: dict[str, str] = {}
    for entry in sorted(videos, key=lambda entry: (entry.upload_date or "9999", entry.id)):
        if entry.content_id:
            first.setdefault(entry.content_id, entry.id)
    ids = {entry.id for entry in videos}

    def alias(entry: VideoEntry) -> str:
        named = entry.alias_of if entry.alias_of in ids else ""
        earliest = first.get(entry.content_id, entry.id)
        return named or ("" if earliest == entry.id else earliest)

    return [replace(entry, alias_of=alias(entry)) for entry in videos]


def _title_of(path: str) -> str:
    return " ".join(re.sub(r"[_\-.]+", " ", Path(path).stem).split())


def _slug(text: str) -> str:
    return re.sub(r"[^\w-]+", "-", text.lower()).strip("-")[:80] or "page"


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, or the first of its numbered kind that is free."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}-{number}"
    return free
