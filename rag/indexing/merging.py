"""Libraries made with the same encoders, or a part of one, copied into another without encoding anything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from corpora.objects import is_url
from corpora.records import Problem, Video
from indexers.models.lookup import readable_size
from rag.errors import StoreError, UsageError
from rag.indexing.calibrating import calibrate_scores
from rag.indexing.passages import document_seconds
from rag.indexing.report import Progress
from rag.settings import Settings, load_settings
from rag.store.copying import CopyPlan, chosen_files, copy_contents, plan_copies, put_paths
from rag.store.finding import library_location, nothing_indexed, path_list, real_name, writable_library
from rag.store.joined import require_same_encoders
from rag.store.layout import Location, open_layout
from rag.store.reading import Reader
from rag.store.records import PULLED, FileRow, Meta
from rag.store.writing import Writer

GROUP = 256
"""Contents that are committed together: about ten commits, and one scan of the tables they come from."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What one merge or export copied."""

    libraries: tuple[Location, ...]
    into: Location
    files: int = 0
    """Paths that the library did not have."""
    videos: int = 0
    """Videos copied, by content."""
    sources: int = 0
    """Files of passages copied, by content."""
    video_seconds: float = 0.0
    """Length of the videos copied."""
    known: int = 0
    """Contents that the library had."""
    left_out: int = 0
    """Contents left out, because none of the libraries has finished them."""
    problems: tuple[Problem, ...] = ()
    """Paths under which different contents were indexed, of which one is kept."""
    seconds: float = 0.0
    bytes: int = 0
    """Size of the library on disk."""
    stages: tuple[str, ...] = ()
    """What was not copied or could not be done at the end: other subtitles, calibration."""

    @property
    def exit_code(self) -> int:
        """0 all copied or already there, 1 nothing to copy, 3 copied in part."""
        if self.problems or self.left_out:
            return 3
        return 1 if self.nothing else 0

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to copy."""
        return not (self.files or self.videos or self.sources or self.known or self.left_out)


def merge_libraries(
    libraries: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    into: str | os.PathLike[str],
    *,
    settings: Settings | None = None,
    paths: str | tuple[str, ...] = (),
    newer: bool = False,
    progress: Progress | None = None,
) -> MergeReport:
    """Copy what the libraries hold into the library `into`, new or made with the same encoders.

    Each content is copied once, under all its paths, and what `into` has is kept. `newer`: what the libraries
    have takes the place of what `into` has under the same paths, and of contents that it has with other
    subtitles or stages. `paths`: globs of the files to copy, as of a search; all without any. The libraries
    are read as they are when it begins, and may be written meanwhile. Killed at any instant and run again,
    it continues after the last committed group.

    Raises `UsageError` for folders that contain each other, `StoreError` where the store of any library
    fails, and the errors of the libraries. Example: `merge_libraries([".rag"], into="all").videos`.
    """
    started, watch = time.monotonic(), progress or Progress()
    settings, paths = settings or load_settings(), (paths,) if isinstance(paths, str) else paths
    *folders, target = (library_location(each, settings.storage) for each in (*path_list(libraries), into))
    _require_apart([*folders, target])
    writable_library(target)
    with Reader.open(*folders) as reader:
        if reader.meta is None:
            raise nothing_indexed(reader.folder)
        if reader.left_out:
            raise StoreError(reader.left_out[0])
        if not reader.ask(lambda s: chosen_files(s, paths)):
            return MergeReport(tuple(folders), target, seconds=time.monotonic() - started)
        with Writer.open(target) as writer:
            plan = copy_library(reader, writer, paths, newer=newer, progress=watch)
            writer.maintain(settings.search.exact_rows)
            lines = list[str]()
            if line := calibrate_scores(writer, settings):
                lines.append(line)
            if plan.subtitles and not newer:
                lines.append(
                    f"videos of which the libraries have different subtitle files: {plan.subtitles}; those "
                    "of one library are kept; to have all, run rag index on their folders"
                )
    watch.done()
    videos = sum(video.video_id in plan.copied for video in plan.videos)
    return MergeReport(
        tuple(folders),
        target,
        files=plan.files,
        videos=videos,
        sources=len(plan.copied) - videos,
        video_seconds=sum(video.duration for video in plan.videos),
        known=plan.known,
        left_out=plan.left_out + len(plan.contents) - len(plan.copied),
        problems=tuple(plan.conflicts),
        seconds=time.monotonic() - started,
        bytes=open_layout(target).size(),
        stages=tuple(lines),
    )


def copy_library(
    reader: Reader,
    writer: Writer,
    paths: tuple[str, ...] = (),
    *,
    newer: bool = False,
    progress: Progress | None = None,
) -> CopyPlan:
    """Copy from an open reader to an open writer, as `merge_libraries`; gives the plan,
    which says what was copied."""
    meta = reader.meta
    assert meta is not None, "a library with content is made with encoders"
    _prepare(writer, meta, reader.folder)
    plan = reader.ask(lambda s: plan_copies(s, writer, paths, newer=newer))
    progress = progress or Progress()
    if count := len(plan.contents):
        contents, size = reader.ask(lambda s: (len(s.sources | s.video_rows.keys()), s.row_bytes()))
        about = readable_size(size * count // contents)
        progress.note(f"copying {count} of {contents} contents, about {about}")
    _copy(reader, writer, plan, progress)
    return plan


def _require_apart(folders: Sequence[Location]) -> None:
    """Raise `UsageError` where one folder is another, or inside it: a library is written as a whole."""
    real = [os.path.join(real_name(each), "") for each in folders]
    for at, folder in enumerate(folders):
        for other, path in zip(folders[:at], real, strict=False):
            if real[at] == path:
                raise UsageError(f"{folder}: this library is named twice")
            if real[at].startswith(path) or path.startswith(real[at]):
                raise UsageError(f"{folder} and {other}: one is inside the other; name a folder outside")


def _prepare(writer: Writer, meta: Meta, folder: Location) -> None:
    """Give a new library the encoders and settings of `meta`; refuse an old one that has others."""
    if writer.meta is None:
        pulled = {PULLED: str(folder)} if is_url(folder) and not is_url(writer.folder) else {}
        writer.set_meta(Meta(meta.image_encoder, meta.text_encoder, {**meta.settings, **pulled}))
    else:
        require_same_encoders(writer.folder, writer.meta, folder, meta)


def _copy(reader: Reader, writer: Writer, plan: CopyPlan, progress: Progress) -> None:
    """Copy group by group."""
    contents = plan.contents
    progress.start(sum(map(_seconds, contents)), len(contents))
    rows = {row.path: row for rows in plan.paths.values() for row in rows}
    held = {path: row for path in rows if (row := writer.file(path)) is not None}
    other = [path for path, row in held.items() if row.content_id != rows[path].content_id]
    if plan.lost or other:
        writer.remove_paths([*plan.lost, *other], keep=plan.paths.keys())
    # Before the paths: of a path that the library knows, no problem is taken.
    noted = {problem.path for problem, _ in plan.problems}
    writer.clear_problem(*(writer.problems().keys() & rows.keys() - noted))
    for problem, stamp in plan.problems:
        writer.put_problem(problem, stamp)
    writer.flush()
    missing = {each.video_id if isinstance(each, Video) else each.content_id for each in contents}
    put_paths(writer, plan, plan.paths.keys() - missing)
    for at in range(0, len(contents), GROUP):
        group = contents[at : at + GROUP]
        for each in group:
            progress.file(each.path)
        reader.ask(partial(copy_contents, writer=writer, plan=plan, group=group))
        progress.advance(sum(map(_seconds, group)))
    writer.flush()


def _seconds(content: Video | FileRow) -> float:
    return content.duration if isinstance(content, Video) else document_seconds(content)
