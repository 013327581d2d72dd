"""Videos, files and citations by the names that users give them."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from corpora.escaping import visible
from corpora.globs import composed
from corpora.identity import content_hash
from corpora.objects import StoredObject, StoreError, is_url, object_states
from corpora.scan import path_or_address
from corpora.settings import LOCAL, ScanSettings, StorageSettings
from rag.errors import StaleFile, UnreadableFile, UsageError
from rag.records import (
    STILL_SECONDS,
    PassageCitation,
    PassageHit,
    VideoCitation,
    VideoHit,
    is_still,
    passage_citation,
)
from rag.store.filters import nearest_names, path_matches
from rag.store.reading import Reader
from rag.store.records import FileProgress, FileRow, FileState, FileStatus
from rag.store.sidecars import file_state, has_indexed_content, other_sidecars

HitT = TypeVar("HitT", bound=VideoHit | PassageHit)

SHORTEST_ID = 4
"""Characters of a video id that are enough to name it, where no other begins with them."""

MOST_IDS = 5
"""An error names at most so many ids of passages."""

NEXT_OF_GONE = "index the folder it was moved to, or remove it with rag index FOLDER --prune"
"""What to do where an indexed file no longer exists."""

MOST_HASHED = 4 * 2**30
"""Bytes of a file that is hashed while a question waits."""

STATE_SECONDS = 3.0
"""How long a store is waited for that is asked whether objects are there."""


def find_video(reader: Reader, name: str) -> str:
    """The id of a video given by its path, as it is or as it is shown, the last parts of it, its id, or the
    start of its id.

    A file that is not in the library is the video whose content it has. Raises `UsageError` where no video or
    several have it, with the nearest names.
    """
    if not name.strip():
        raise UsageError("the name of a video is empty; give its path or its id")
    with contextlib.suppress(KeyError):
        return reader.video(name).video_id
    path = path_or_address(name)
    videos = [video.video_id for video in reader.videos()]
    named: list[str] = []
    for form in (str, composed, visible):
        named = named or [v for v in videos if form(path) in map(form, reader.paths(v))]
    if not named and len(name) >= SHORTEST_ID:
        named = [video_id for video_id in videos if video_id.startswith(name)]
    named = named or [v for v in videos if path_matches(reader.paths(v), (glob.escape(name),))]
    if len(named) == 1:
        return named[0]
    if named:
        raise UsageError(f"{name}: {len(named)} videos have a path or an id like this; give more of it")
    if copied := _video_of_copy(reader, path):
        return copied
    _refuse_document(reader, name)
    near = nearest_names(name, (path for video_id in videos for path in reader.paths(video_id)))
    hint = f"did you mean {' or '.join(near)}? Else," if near else "index it first,"
    command = f"rag index {shlex.quote(name)}"
    raise UsageError(f"{name}: no such video in the library; {hint} if the file exists: {command}")


def _video_of_copy(reader: Reader, path: str) -> str | None:
    """The id of the video that a file, which is not in the library, has the content of."""
    with contextlib.suppress(OSError, ValueError, UnreadableFile, KeyError):
        size = os.stat(path).st_size
        # Another size is another content: most files need not be read.
        if any(row.size == size for row in reader.file_rows() if row.kind != "passages"):
            return reader.video(content_hash(path)).video_id
    return None


def _refuse_document(reader: Reader, name: str) -> None:
    """Raises `UsageError` with ids of its passages where a document has this path, or this end of one."""
    path, end = path_or_address(name), f"/{name.removeprefix('./')}"
    for row in reader.file_rows():
        forms = (composed, visible) if row.kind == "passages" else ()
        if any(form(row.path) == form(path) or form(row.path).endswith(form(end)) for form in forms):
            ids = sorted(passage.passage_id for passage in reader.passages_of(row.content_id))
            shown = ", ".join(ids[:MOST_IDS]) + ", ..." * (len(ids) > MOST_IDS)
            raise UsageError(f"{name}: is a document; its passages are shown by their ids: {shown}")


def globs_of(name: str) -> tuple[str, ...]:
    """The globs that only a path that has this name, or ends with it, fits; none for an empty name."""
    return (glob.escape(path_or_address(name)), glob.escape(name)) if name else ()


def path_of(reader: Reader, content_id: str, named: tuple[str, ...] = ()) -> str:
    """The first path of a content where the file is the one that was indexed, else the first that exists,
    else the first it had. Paths that fit `named`, globs, come first. Raises KeyError for an unknown id.

    An object is taken to be as it was: its store is asked when it is read.
    """
    paths = reader.paths(content_id)
    if len(paths) == 1:
        return paths[0]
    rows = _named_first(reader.files_of(content_id), named)
    whole = (row.path for row in rows if is_url(row.path) or file_state(row) == "ok")
    return next(whole, next(filter(os.path.exists, (row.path for row in rows)), paths[0]))


def other_paths(reader: Reader, paths: Iterable[str]) -> dict[str, list[str]]:
    """Find for each path the other files with the same content, where there are any."""
    copies = reader.copies(paths)
    others = {path: [row.path for row in rows if row.path != path] for path, rows in copies}
    return {path: rest for path, rest in others.items() if rest}


def as_named(reader: Reader, hits: Iterable[HitT], named: tuple[str, ...]) -> list[HitT]:
    """The hits, each with the path of its content that fits one of `named`, globs, where there are any."""
    found = list(hits)
    contents = {path: rows[0].content_id for path, rows in reader.copies(hit.path for hit in found if named)}
    return [
        replace(hit, path=path_of(reader, contents[hit.path], named)) if hit.path in contents else hit
        for hit in found
    ]


def _named_first(rows: Iterable[FileRow], named: tuple[str, ...]) -> list[FileRow]:
    return sorted(rows, key=lambda row: not path_matches((row.path,), named))


def indexed_file(reader: Reader, video_id: str, storage: StorageSettings, named: tuple[str, ...] = ()) -> str:
    """The first path of a video where the file is the one that was indexed; those that fit `named` first.

    Raises `StaleFile` where it was changed since, `UnreadableFile` where it is gone or cannot be read, and
    KeyError for an unknown id.
    """
    states = file_states(_named_first(reader.files_of(video_id), named), storage)
    for path, state in states.items():
        if state == "ok":
            return path
    shown = path_of(reader, video_id, named)
    if "changed" in states.values():
        raise StaleFile(shown)
    if "unreadable" in states.values():
        raise UnreadableFile(f"{shown}: cannot be read; check permissions, links and mounts")
    if reader.is_pulled:
        raise UnreadableFile(f"{shown}: is not on this machine; the library was pulled from a store")
    raise UnreadableFile(f"{shown}: no longer exists; {NEXT_OF_GONE}")


def whole_file(reader: Reader, video_id: str, path: str) -> str:
    """`path` of a video, or that of a copy where the file there is gone or changed; of this machine alone.

    Raises `StaleFile` where it was changed since it was indexed, and no copy has the content still. One with
    another time of change and more than `MOST_HASHED` bytes counts as changed.
    """
    rows = {row.path: row for row in reader.files_of(video_id) if not is_url(row.path)}
    if path not in rows:
        return path
    asked = rows.pop(path)
    small = (row for row in (asked, *rows.values()) if row.size <= MOST_HASHED or file_state(row) == "ok")
    whole = next(filter(has_indexed_content, small), None)
    if whole is None and file_state(asked) == "changed":
        raise StaleFile(path)
    return path if whole is None else whole.path


def file_states(rows: Iterable[FileRow], storage: StorageSettings) -> dict[str, FileState]:
    """Tell by path whether a file is still the one that was indexed, by its size and time of change. One
    that several libraries indexed with several contents is not.

    Stores are asked for all objects at once, and once: a page waits for the answer.
    """
    rows = list(rows)
    seconds = min(STATE_SECONDS, storage.timeout_seconds)
    storage = storage.model_copy(update={"retries": 0, "timeout_seconds": seconds})
    objects = object_states((row.path for row in rows if is_url(row.path)), storage)
    states = dict[str, FileState]()
    for row in rows:
        if states.get(row.path, "ok") == "ok":
            found = objects.get(row.path)
            states[row.path] = _object_state(row, found) if row.path in objects else file_state(row)
    return states


def content_states(
    reader: Reader, rows: Iterable[FileRow], storage: StorageSettings, chosen: ScanSettings
) -> dict[str, FileState]:
    """Refine `file_states`: a video with other sidecars than it was indexed with is changed too, and a file
    of a pulled library that is not on this machine is unreadable.

    `rows`: all files of each of their contents. `chosen`: where sidecars are found.
    """
    rows = list(rows)
    states = file_states(rows, storage)
    if reader.is_pulled:
        states = {path: "unreadable" if state == "missing" else state for path, state in states.items()}
    unchanged = {row.content_id for row in rows if states[row.path] == "ok"}
    others = other_sidecars(reader, (row for row in rows if row.content_id in unchanged), chosen)
    changed = {row.path for row in rows if row.content_id in others}
    return {path: "changed" if path in changed and state == "ok" else state for path, state in states.items()}


def file_statuses(
    reader: Reader, storage: StorageSettings, chosen: ScanSettings, text: str = ""
) -> list[FileStatus]:
    """Each file that is indexed or has a problem, by path; `text`: only paths with these letters.

    Files of kinds that no reader reads are not known to the library: `rag index` names them.
    """
    wanted = composed(text).casefold()
    videos = {video.video_id: video for video in reader.videos()}
    damage = {video_id: video.damage for video_id, video in videos.items()}
    damage |= dict.fromkeys(reader.taken_out(), "taken out by a repair; rag index indexes it again")
    problems = {problem.path: problem for problem in reader.problems()}
    rows, first = {row.path: row for row in reader.file_rows()}, dict[str, str]()
    for each in rows.values():
        first.setdefault(each.content_id, each.path)
    shown = [path for path in sorted({*rows, *problems}) if wanted in composed(path).casefold()]
    contents = {rows[path].content_id for path in shown if path in rows}
    states = content_states(reader, [r for r in rows.values() if r.content_id in contents], storage, chosen)
    found = []
    for path in shown:
        problem, row = problems.get(path), rows.get(path)
        reason, original = "", path
        if row is not None:
            reason, original = damage.get(row.content_id, ""), first[row.content_id]
        if problem is not None:
            reason = f"{problem.reason} ({problem.action})"
        status: FileProgress = "partly" if reason else "indexed"
        if row is None and problem is not None and not problem.was_read:
            status = "failed"
        copy_of = original if original != path else ""
        video = videos.get(row.content_id) if row is not None else None
        subtitles = video.subtitles if video is not None else ()
        found.append(FileStatus(path, status, reason, states.get(path), copy_of, subtitles))
    return found


def best_state(states: Iterable[FileState]) -> FileState:
    """The state of a content that is at paths with these."""
    order: tuple[FileState, ...] = ("ok", "changed", "unreadable", "missing")
    return min(states, key=order.index, default="missing")


def stale_files(reader: Reader, paths: Iterable[str], chosen: ScanSettings) -> dict[str, FileState]:
    """Return the state of each path that is not "ok"; of a content at several paths, the best one.

    A video whose sidecars are others than it was indexed with is changed. No network is used: objects are
    left out, and so are all files of a library on an object store, which are those of another machine. One
    that was pulled from there does not miss its files. `chosen`: where sidecars are found.
    """
    if not all(isinstance(folder, Path) for folder in reader.folders):
        return {}
    copies = [
        (path, rows) for path, rows in reader.copies(paths) if not any(is_url(row.path) for row in rows)
    ]
    states = content_states(reader, (row for _, rows in copies for row in rows), LOCAL, chosen)
    found = [(path, best_state(states[row.path] for row in rows)) for path, rows in copies]
    fine = ("ok", "unreadable") if reader.is_pulled else ("ok",)
    return {path: state for path, state in found if state not in fine}


def _object_state(row: FileRow, found: StoredObject | StoreError | None) -> FileState:
    if found is None:
        return "missing"
    if isinstance(found, StoreError):
        return "unreadable"
    return "ok" if (found.size, found.modified_ns) == (row.size, row.mtime_ns) else "changed"


def resolve_citation(reader: Reader, citation: str) -> VideoCitation | PassageCitation:
    """`PATH@START-END` or `VIDEO_ID@START-END`, times as `seconds` takes them; the path or the id of a
    photograph; or a passage id.

    Raises `UsageError` for anything else, with the forms that are accepted.
    """
    name, at, span = citation.rpartition("@")
    if at:
        start, end = window_seconds(citation, span)
        video = reader.video(find_video(reader, name))
        if end <= start:
            raise UsageError(f"{citation}: a window ends after it starts")
        if not 0 <= start < video.duration:
            raise UsageError(f"{citation}: the video is {video.duration:g} s long")
        end = min(end, video.duration)
        evidence = tuple(reader.evidence(video.video_id, start, end))
        path = path_of(reader, video.video_id, globs_of(name))
        return VideoCitation(path, video.video_id, start, end, 1.0, evidence)
    try:
        ((passage, path),) = reader.passages_with_paths([citation])
    except KeyError:
        _refuse_document(reader, citation)
        why = "no such passage; a window is cited as PATH@START-END, a passage by its id"
        with contextlib.suppress(UsageError):
            found = reader.video(find_video(reader, citation))
            if is_still(0.0, found.duration):
                return resolve_citation(reader, f"{citation}@0-{STILL_SECONDS}")
            why = f"is a video; a window of it is cited with its times: {citation}@0-5"
        raise UsageError(f"{citation}: {why}") from None
    return passage_citation(path, passage, 1.0)


def window_seconds(citation: str, text: str) -> tuple[float, float]:
    """Start and end of the `START-END` of a citation, as `seconds`. Raises `UsageError` for anything else."""
    start, _, end = text.partition("-")
    try:
        return seconds(start), seconds(end)
    except ValueError:
        raise UsageError(
            f"{citation}: a window is cited as PATH@START-END, in seconds or as 01:02:03"
        ) from None


_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d*)?|\.\d+)", re.ASCII)


def seconds(text: str) -> float:
    """`83.5`, `01:23.5` or `0:01:23.5` in seconds. Raises `ValueError` for anything else."""
    clock = _CLOCK.fullmatch(text.strip())
    if clock is None:
        given = float(text)
        if not math.isfinite(given):
            raise ValueError(f"{text}: not finite")
        return given
    hours, minutes, rest = (float(part or 0) for part in clock.groups())
    if (clock[1] and minutes >= 60) or (clock[2] and rest >= 60):
        raise ValueError(f"{text}: minutes and seconds of a clock are below 60")
    return 3600 * hours + 60 * minutes + rest
