"""Videos of published data: found by their names below a folder, indexed, and why one cannot be used."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from corpora.globs import composed
from corpora.kinds import SUBTITLES, VIDEO, sidecar_base
from corpora.sidecar_names import sidecar_owners, spelled
from eval.runs.records import VIDEO_MISSING, VIDEO_UNREADABLE, Query
from eval.task import Footage, ProgressCallback
from eval.tasks.libraries import indexing
from rag.errors import UsageError
from rag.library import Library

if TYPE_CHECKING:
    from rag.settings import Settings

OWN_FOLDERS = ("library", "runs")
"""Below the data's folder: of this program, and without videos of the data."""
_DOWNLOADED = re.compile(r"\[([\w-]{6,})\]$")
"""How yt-dlp ends the stem of a file: with the video's id."""


class VideoFiles:
    """Every video file below a folder, links followed, to be found by name.

    A name is a path, a file's name with or without its suffix, an id, or a web address; only its last parts
    decide, so that it never leads out of the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._by_stem: dict[str, list[PurePosixPath]] = defaultdict(list)
        for path in _walk(folder):
            stem = _stem(path.name)
            self._by_stem[stem].append(path)
            if downloaded := _DOWNLOADED.search(stem):
                self._by_stem[downloaded.group(1)].append(path)

    def find(self, names: Sequence[str], near: Sequence[str] = ()) -> str:
        """Absolute path of the first of `names` that a file has.

        Of several files the best is the one with the asked suffix, then the one whose folders end as the
        name's do, then one below a folder of a name in `near` (a task's), then the one that is less deep.
        Raises `LookupError` that says why there is none, or that two different files fit equally well.
        """
        for name in filter(None, names):
            wanted = _parts(name)
            found = self._by_stem.get(_stem(wanted[-1]), ()) if wanted else ()
            if not found:
                continue
            ranked = sorted(found, key=lambda path: (_rank(path, wanted, near), str(path)))
            best = self.folder / ranked[0]
            for other in ranked[1:]:
                if _rank(other, wanted, near) == _rank(ranked[0], wanted, near):
                    self._require_alike(best, self.folder / other)
            return os.path.abspath(best)
        raise LookupError(f"{VIDEO_MISSING}: {next(filter(None, names), 'without a name')}")

    def _require_alike(self, first: Path, second: Path) -> None:
        if first.stat().st_size != second.stat().st_size:
            shown = [os.path.relpath(path, self.folder) for path in (first, second)]
            raise LookupError(f"{VIDEO_MISSING}: {first.name}: two different files: {', '.join(shown)}")


def _walk(folder: Path) -> Iterator[PurePosixPath]:
    """Relative paths of the videos, and of files without a suffix."""
    for path in files_below(folder):
        suffix = path.suffix.lower()
        if (not suffix or suffix in VIDEO) and os.path.isfile(folder / path):
            yield path


def files_below(folder: Path) -> Iterator[PurePosixPath]:
    """Relative paths of all files, links followed; hidden ones and `OWN_FOLDERS` are left out."""
    entered = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        place = os.path.realpath(root)
        if place in entered:
            folders.clear()
            continue
        entered.add(place)
        own = OWN_FOLDERS if Path(root) == folder else ()
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in own)
        for name in sorted(files):
            if not name.startswith("."):
                yield PurePosixPath(Path(os.path.join(root, name)).relative_to(folder).as_posix())


def _stem(name: str) -> str:
    """Without the suffixes of videos: `a` of `a.mp4` and of `a.mov.mp4`, `v.1` of `v.1`; letters composed."""
    name = composed(name)
    while (path := PurePosixPath(name)).suffix.lower() in VIDEO:
        name = path.stem
    return name


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the file of a name; the id of an address."""
    if "://" in name:
        try:
            address = urlsplit(name)
        except ValueError:
            return ()
        asked = parse_qs(address.query).get("v")
        return (asked[0],) if asked else PurePosixPath(address.path).parts[-1:]
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return tuple(part for part in parts if part not in ("/", ".", ".."))


def _rank(path: PurePosixPath, wanted: Sequence[str], near: Sequence[str]) -> tuple[int, ...]:
    shared = 0
    for mine, asked in zip(reversed(path.parts[:-1]), reversed(wanted[:-1]), strict=False):
        if mine != asked:
            break
        shared += 1
    folders, suffix = {_plain(part) for part in path.parts[:-1]}, path.suffix.lower()
    close = any(_plain(name) in folders for name in near)
    return (
        path.name != wanted[-1],
        -shared,
        not close,
        len(path.parts),
        VIDEO.index(suffix) if suffix in VIDEO else len(VIDEO),
    )


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "", composed(name)).casefold()


@dataclass(frozen=True)
class FoundVideos:
    """Files of videos by the names in the data."""

    paths: Mapping[str, str]
    """Absolute file of each video that was found."""
    missing: Mapping[str, str]
    """Why there is none, of each other."""


def find_videos(
    folder: Path, names: Mapping[str, Sequence[str]], near: Mapping[str, Sequence[str]]
) -> FoundVideos:
    """Videos below a folder. `names`, `near`: as in `VideoFiles.find`, by the name of each video."""
    files, paths, missing = VideoFiles(folder), {}, {}
    for video in sorted(names):
        try:
            paths[video] = files.find(names[video], near.get(video, ()))
        except LookupError as error:
            missing[video] = str(error)
    return FoundVideos(paths, missing)


def with_subtitles(settings: Settings, folder: Path, found: FoundVideos) -> Settings:
    """Settings that read subtitle files of these videos from any folder below `folder`, where benchmarks
    publish them apart (`subtitle/ID.srt`)."""
    stems = {spelled(_stem(os.path.basename(path))): [path] for path in found.paths.values()}
    own = {os.path.dirname(path) for path in found.paths.values()}
    apart = {
        place
        for name in files_below(folder)
        if (place := os.path.abspath(os.path.dirname(folder / name))) not in own
        and sidecar_owners(sidecar_base(name.name, SUBTITLES) or "", stems)
    }
    scan = settings.scan.model_copy(update={"subtitles": (*settings.scan.subtitles, *sorted(apart))})
    return settings.model_copy(update={"scan": scan})


@dataclass(frozen=True)
class NamedVideos:
    """A library, and the videos of a task in it by their names in the data."""

    library: Library
    paths: Mapping[str, str]
    """File of each video, by its name."""

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Content id by name."""
        return {name: self.library.video_id(path) for name, path in self.paths.items()}

    def footage(self, name: str) -> Footage | None:
        """A whole video, to be looked at."""
        return Footage(self.library, self.ids[name]) if name in self.paths else None


@dataclass(frozen=True)
class IndexedVideos(NamedVideos):
    """The videos that were found and can be used, and why the others cannot."""

    skipped: Mapping[str, str]
    """Why not, by the name of each other."""

    def skipped_queries(self, queries: Iterable[Query]) -> dict[str, str]:
        """Why a query cannot be asked, by its id: of each whose `video` is skipped."""
        return {one.query_id: self.skipped[one.video] for one in queries if one.video in self.skipped}


def index_videos(
    found: FoundVideos,
    settings: Settings,
    progress: ProgressCallback | None,
    beside: Iterable[str | os.PathLike[str]] = (),
) -> IndexedVideos:
    """Index what is not indexed yet, and open the library.

    `beside`: files to index with them. Raises `UsageError` where no video was found at all, and the errors of
    `Library.index`; a video that cannot be read is skipped.
    """
    paths, missing = found.paths, found.missing
    if not paths:
        first = next(iter(missing.values()), f"{VIDEO_MISSING}: none is named")
        raise UsageError(f"no video of the data is on this machine ({len(missing)} are named): {first}")
    Library.index([*sorted(set(paths.values())), *beside], settings=settings, progress=indexing(progress))
    library = Library.open(settings.library, settings=settings)
    reader = library.engine.reader
    held = {os.fspath(path) for video in reader.videos() for path in reader.paths(video.video_id)}
    reasons = {problem.path: problem.reason for problem in library.problems()}
    broken = {
        name: f"{VIDEO_UNREADABLE}: {name}: {reasons.get(path, 'it could not be indexed')}"
        for name, path in paths.items()
        if path not in held
    }
    usable = {name: path for name, path in paths.items() if name not in broken}
    return IndexedVideos(library, usable, {**missing, **broken})
