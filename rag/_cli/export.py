"""`rag export`: windows of videos as a timeline, markers, a table, chapters, or clips."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from corpora.errors import file_error
from corpora.escaping import visible
from corpora.kinds import VIDEO
from corpora.objects import is_url
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr, print_bytes
from rag._cli.session import Force, Session, given_path, with_indexed_file, with_session
from rag.errors import RagError, StaleFile, UsageError
from rag.export.found import read_documents, select_of
from rag.export.records import Exported, FormatName, Select
from rag.records import VideoCitation, is_still
from rag.rendering.shapes import plain
from rag.rendering.terminal import counted, problem_line

if TYPE_CHECKING:
    from rag.library import Library

DEFAULT: FormatName = "otio"
STREAM = Path("-")
"""Standard input or output, in place of a file."""
SEVERAL = "clips are several files; name a folder or a .zip file with --out"


@with_session(several=True)
def export(
    session: Session,
    citations: Annotated[
        list[Path] | None,
        argument(
            "CITATION...",
            "Windows, PATH@START-END or VIDEO_ID@START-END, in the order of the timeline. "
            "Times are seconds, or 01:02:03.",
            parser=given_path,
            show_default=False,
        ),
    ] = None,
    found: Annotated[
        Path | None,
        option(
            "--from FILE",
            "Windows from the JSON of 'rag search', 'rag ask' or 'rag localize'; - is standard input.",
            parser=given_path,
        ),
    ] = None,
    form: Annotated[
        FormatName | None,
        option("--format", "Format. Default: by the name of --out, else otio.", show_default=False),
    ] = None,
    handles: Annotated[
        float, option("--handles SECONDS", "Seconds to add before and after each window.", min=0.0)
    ] = 0.0,
    out: Annotated[
        Path | None,
        option(
            "--out FILE",
            "Write to this file, - is standard output; clips to this folder, or to a .zip file. "
            "Default: selects, with the ending of the format.",
            parser=given_path,
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> int:
    """Export windows of videos to an editing program.

    otio: OpenTimelineIO. edl: CMX3600. markers: EDL of markers for DaVinci Resolve. fcpxml: Final Cut Pro
    XML 1.10. csv: a table. vtt: WebVTT chapters. chapters: chapters for a
    description. clips: MP4 files.
    """
    from rag.export.writing import FORMATS, write_export

    chosen = form or _named(out)
    if out == STREAM:
        return _stream(session, _selects(session, citations or (), found), chosen, handles)
    path = out or Path("selects" if chosen == "clips" else f"selects{FORMATS[chosen].suffix}")
    if chosen == "clips" and path.suffix.lower() in VIDEO:
        raise UsageError(f"{path}: {SEVERAL}")
    selects = _selects(session, citations or (), found)
    policy = session.overwrite_policy(force, None if found == STREAM else found)
    try:
        done = write_export(
            selects,
            chosen,
            path,
            title=path.stem,
            handles=handles,
            policy=policy,
            storage=session.settings.storage,
            audio_track=session.settings.video.audio_track,
        )
    except OSError as error:
        raise file_error(path, error) from error
    lines = [f"{visible(str(path))}: {counted(done.selects, 'window')}"]
    session.report("rag.export/1", {**plain(done), "path": path}, lines)
    return _say_what_is_odd(done)


def _stream(session: Session, selects: Sequence[Select], form: FormatName, handles: float) -> int:
    """The file on standard output, in place of a report. Raises `UsageError` for clips, which are several."""
    from rag.export.writing import render_export

    if form == "clips":
        raise UsageError(SEVERAL)
    stream, storage = io.BytesIO(), session.settings.storage
    done = render_export(selects, form, stream, title="selects", handles=handles, storage=storage)
    print_bytes(stream.getvalue())
    return _say_what_is_odd(done)


def _say_what_is_odd(done: Exported) -> int:
    """Notes and videos left out on stderr; the exit status: 3, done in part, where videos are left out."""
    for line in (*done.notes, *map(problem_line, done.skipped)):
        echo_stderr(f"rag: {line}")
    return 3 if done.skipped else 0


def _named(out: Path | None) -> FormatName:
    """The format that the ending of `out` names. Raises `UsageError` where no format has that ending."""
    from rag.export.writing import FORMATS

    if out is None or "." not in out.name:
        return DEFAULT
    # The longest suffix first: `.markers.edl` before `.edl`.
    for name in sorted(FORMATS, key=lambda each: -len(FORMATS[each].suffix)):
        if out.name.lower().endswith(FORMATS[name].suffix):
            return name
    endings = ", ".join(row.suffix for row in FORMATS.values())
    raise UsageError(f"{out}: no format has this ending; use one of {endings}, or --format")


def _selects(session: Session, citations: Sequence[Path], found: Path | None) -> list[Select]:
    with contextlib.ExitStack() as stack:

        @functools.cache
        def library() -> Library:
            return stack.enter_context(session.open_library())

        def find_path(path: str, video_id: str) -> str:
            """Where the library has the video now, or the path as it is.

            Raises `StaleFile`, and `UsageError` where the library has another video at the path now.
            """
            if not video_id:
                return path
            exists = bool(path) and (is_url(path) or os.path.exists(path))
            contents: set[str] = set()
            try:
                opened = library()
                if exists:
                    copies = opened.engine.reader.copies([path])
                    contents = {row.content_id for _, rows in copies for row in rows}
                    if not contents:
                        return path
                return opened.indexed_file(opened.video_id(video_id))
            except StaleFile:
                raise
            except RagError as error:
                if contents - {video_id}:
                    reason = "another video is there than was found; search again"
                    raise UsageError(f"{path}: {reason}") from error
                if path:
                    return path
                raise

        selects = [_resolved(library(), os.fsdecode(citation)) for citation in citations]
        if found is not None:
            selects += read_documents(_text(found), find_path)
        return selects


def _resolved(library: Library, citation: str) -> Select:
    from rag.store.lookup import window_seconds

    resolved = library.resolve(citation)
    if not isinstance(resolved, VideoCitation) or is_still(resolved.start, resolved.end):
        what = "photograph" if isinstance(resolved, VideoCitation) else "passage"
        raise UsageError(f"{citation}: is a {what}; only windows of videos are exported")
    if window_seconds(citation, citation.rpartition("@")[2])[1] > resolved.end:
        echo_stderr(f"rag: {citation}: cut to the end of its video, at {resolved.end:g} s")
    return select_of(with_indexed_file(library, resolved))


def _text(path: Path) -> str:
    try:
        return (sys.stdin.buffer.read() if path == STREAM else path.read_bytes()).decode()
    except OSError as error:
        raise file_error(path, error, "read") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is no UTF-8 text") from error
