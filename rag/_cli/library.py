"""`rag stats`, `rag remove`, `rag localize`, `rag shots`: short commands on a library."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from corpora.escaping import visible
from rag._cli.ask import unsearchable_lines
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, is_confirmed
from rag._cli.session import (
    IndexedVideo,
    Session,
    given_path,
    given_seconds,
    weak_hits_line,
    with_session,
    words,
)
from rag.errors import UsageError
from rag.rendering.shapes import windows_shape, with_copies, with_states
from rag.rendering.terminal import (
    STATES,
    byte_count,
    copy_lines,
    counted,
    duration,
    problem_line,
    span,
    table_lines,
    taken_out_line,
    window_lines,
)

if TYPE_CHECKING:
    from rag.store.records import FileStatus, Stats


@with_session()
def stats(
    session: Session,
    problems: Annotated[bool, option("--problems", "List the files with problems instead.")] = False,
    files: Annotated[
        bool, option("--files", "List every file instead: indexed, partly or failed, and why.")
    ] = False,
) -> int:
    """Show library statistics: counts and size."""
    if problems and files:
        raise UsageError("--problems and --files list different files; give one of them")
    with session.open_library() as opened:
        if problems:
            found = opened.problems()
            session.report(
                "rag.problems/1", {"problems": found}, (problem_line(problem) for problem in found)
            )
            return 0
        if files:
            from rag.store.lookup import file_statuses

            settings = session.settings
            rows = file_statuses(opened.engine.reader, settings.storage, settings.scan)
            session.report("rag.files/1", {"files": rows}, (line for row in rows for line in file_lines(row)))
            return 0
        held = opened.stats()
    session.report("rag.stats/1", held, stats_lines(held))
    return 0


def file_lines(row: FileStatus) -> Iterator[str]:
    """`partly   talk.mp4: damaged at 60 s (indexed 58 of 60 s); the file is gone since it was indexed`, and a
    line for each of its subtitles."""
    now = [] if row.state in (None, "ok") else [STATES[row.state]]
    copy = f"a copy of {row.copy_of}" if row.copy_of else ""
    why = "; ".join([*filter(None, (copy, row.reason)), *now])
    yield f"{row.status:<8} {visible(row.path)}" + (f": {visible(why)}" if why else "")
    for track in row.subtitles:
        unread = track.unread and f"not read: {track.unread}"
        said = "; ".join(filter(None, (str(track), unread))) or "language unknown"
        yield f"         subtitles {visible(track.source)}: {visible(said)}"


def stats_lines(held: Stats) -> Iterator[str]:
    """The statistics as text."""
    yield (
        f"{counted(held.files, 'file')}: {counted(held.videos, 'video')} "
        f"of {duration(held.video_hours * 3600)} in {counted(held.clips, 'clip')}, "
        + (f"{counted(held.photographs, 'photograph')}, " if held.photographs else "")
        + f"{counted(held.documents, 'document')} in {counted(held.passages, 'passage')}, "
        f"{counted(held.evidence, 'span')} of evidence"
    )
    if held.taken_out:
        yield taken_out_line(held.taken_out)
    if held.problems:
        yield f"{counted(held.problems, 'file')} with problems; list them with 'rag stats --problems'"
    yield f"{byte_count(held.bytes)} on disk"


@with_session()
def remove(
    session: Session,
    paths: Annotated[
        list[Path],
        argument(
            "PATH",
            "Files, or folders and addresses with everything below them.",
            show_default=False,
            parser=given_path,
        ),
    ],
    yes: Annotated[
        bool, option("--yes", "Do not ask before more than half of the library is removed.")
    ] = False,
) -> int:
    """Remove files from the library. Nothing else on disk is changed.

    Removing more than half of the library asks first; without a terminal it needs --yes.
    """
    from rag.store.filters import MAX_SUGGESTIONS, at_or_below, nearest_names
    from rag.store.finding import absolute_path

    named = [os.fsdecode(path) for path in paths]
    with session.open_library() as opened:
        going, held = opened.share_of(named)
        share = f"this removes {going} of {held} files of the library"
        if 2 * going > held and not yes and not is_confirmed(share, "nothing was removed"):
            echo_stderr("rag: nothing was removed")
            return 1
        removed = opened.remove(named)
        known = opened.indexed_paths()
    absent = [name for name in named if not at_or_below(removed.paths, [absolute_path(name)])]
    near = {held for name in absent[:MAX_SUGGESTIONS] for held in nearest_names(name, known)}
    meant = [path for path in known if path in near or os.path.basename(path) in near][:MAX_SUGGESTIONS]
    hint = f"; did you mean {' or '.join(map(visible, meant))}?" if meant else ""
    missing = f"in the library: {', '.join(map(visible, absent))}{hint}"
    if not removed.paths:
        raise UsageError(f"none of these is {missing}")
    session.report("rag.remove/1", removed, (f"removed {visible(path)}" for path in removed.paths))
    if absent:
        echo_stderr(f"rag: not {missing}")
    return 0


@with_session(several=True)
def localize(
    session: Session,
    video: IndexedVideo,
    query: Annotated[str, argument("QUERY", "What to find in it.")],
    count: Annotated[int, option("--count N", "Number of windows.", min=1, max=1000)] = 1,
    window: Annotated[
        float | None,
        option(
            "--window TIME", "Length of a window: seconds, or 01:02:03. Default: 5.", parser=given_seconds
        ),
    ] = None,
) -> int:
    """Find the best windows of a video for QUERY from stored embeddings, under the settings of [localize]."""
    name = os.fsdecode(video)
    if window is not None and not 0.001 <= window < math.inf:
        raise UsageError("--window is a length above 0 in seconds")
    from rag.store.lookup import other_paths

    with session.open_library() as opened:
        video_id = opened.video_id(name)
        windows = opened.localize(video_id, words(query), count=count, window_seconds=window)
        least = session.settings.search.threshold
        path = opened.path_of(video_id, name)
        stale = opened.stale_files([path])
        made = with_states([windows_shape(name, path, video_id, query, windows, least)], stale)
        copies = other_paths(opened.engine.reader, [path])
        (shape,) = with_copies(made, copies)
        unread = () if shape["matched"] else tuple(unsearchable_lines(opened, {video_id}))
    states = (STATES[state] for state in stale.values())
    lines = window_lines(windows, shape["verdict"])
    session.print(shape, [*lines, *states, *copy_lines(copies.get(path, ()))])
    if windows and not shape["matched"]:
        best = max(window["relevance"] for window in shape["windows"])
        echo_stderr(weak_hits_line("video", "windows", best, least))
    for line in unread:
        echo_stderr(line)
    return 0


@with_session(several=True)
def shots(session: Session, video: IndexedVideo) -> int:
    """List the shots of a video, with their tone, style and sound as measured."""
    with session.open_library() as opened:
        found = opened.measurements(os.fsdecode(video))
    session.report("rag.shots/1", found, _lines(found))
    return 0


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"{visible(found['path'])}  {found['width']}x{found['height']}"
    if not found["shots"] and found["sound"] is None:
        yield "not measured yet; run rag index on its folder"
    if found["shots"]:
        rows = [
            [span(shot.start, shot.end), shot.tone, f"{shot.warmth:.1f}", shot.style]
            for shot in found["shots"]
        ]
        yield from table_lines([["shot", "tone", "warmth", "style"], *rows])
        yield "The style is a guess: it was fitted to rendered videos, and is often wrong on real ones."
    for run in found["sound"] or ():
        sound = "not measured" if run["class"] is None else f"{run['class']}, {run['loudness']:.1f} LUFS"
        yield f"{span(run['start'], run['end'])}  {sound}"
