"""`rag show`: a contact sheet of a cited window, the clip cut out, or the text of a passage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from corpora.errors import file_error
from corpora.escaping import visible
from corpora.file_names import output_stem
from corpora.objects import is_url
from corpora.outputs import OverwritePolicy, check_outputs
from corpora.records import Frames, cited_title
from corpora.settings import StorageSettings
from rag._cli.options import argument, option
from rag._cli.output import echo_stderr
from rag._cli.session import Force, Session, given_path, with_indexed_file, with_session
from rag.errors import FileProblem, UsageError
from rag.records import PassageCitation, VideoCitation, is_still, span_name
from rag.rendering.shapes import citation_shape, plain, with_copies
from rag.rendering.terminal import copy_lines, evidence_name, excerpt, located, span
from rag.settings import Settings

SHORT_SIDE = 360
"""Pixels of a sheet's frames before they are scaled."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was written for one window; None where it was not asked for or could not be."""

    sheet: Path | None = None
    clip: Path | None = None


@with_session(several=True)
def show(
    session: Session,
    citation: Annotated[
        Path,
        argument(
            "CITATION",
            "PATH@START-END, VIDEO_ID@START-END (seconds, or 01:02:03), or the id of a passage.",
            parser=given_path,
        ),
    ],
    out: Annotated[
        Path | None,
        option("--out FILE.png", "Write the contact sheet to this file. Default: a name made of the window."),
    ] = None,
    clip: Annotated[
        Path | None, option("--clip FILE.mp4", "Write the window as a clip to this file.")
    ] = None,
    frames: Annotated[int, option("--frames N", "Number of frames on the sheet.", min=1, max=60)] = 9,
    force: Force = False,
) -> int:
    """Show a citation: a video's window as a contact sheet, a passage as text."""
    from rag.store.lookup import file_states, other_paths, window_seconds

    with session.open_library() as opened:
        found = opened.resolve(os.fsdecode(citation))
        if isinstance(found, VideoCitation):
            found = with_indexed_file(opened, found)
        else:
            copies = opened.engine.reader.copies([found.path])
            rows = [row for _, held in copies for row in held if row.path == found.path]
            if "changed" in file_states(rows, session.settings.storage).values():
                echo_stderr(
                    f"rag: {found.path}: changed since it was indexed, and this is its text of then; "
                    "run rag index on its folder"
                )
        others = other_paths(opened.engine.reader, [found.path])
    shown = Shown()
    if isinstance(found, VideoCitation):
        _, at, window = os.fsdecode(citation).rpartition("@")
        # Citations are printed to the millisecond.
        if at and found.end < window_seconds(window, window)[1] - 0.001:
            echo_stderr(f"rag: the video ends at {found.end:g} s: shown is {found.start:g}-{found.end:g} s")
        policy = session.overwrite_policy(force, Path(found.path))
        shown = _show_video(found, out, clip, frames, policy, session.settings)
    elif out is not None or clip is not None:
        raise UsageError("a passage has no frames; --out and --clip are for videos")
    (cited,) = with_copies([citation_shape(found)], others)
    lines = [*_lines(found, shown), *copy_lines(others.get(found.path, ()))]
    session.report("rag.show/1", {"citation": cited, **plain(shown)}, lines)
    nothing = isinstance(found, VideoCitation) and shown == Shown()
    return 1 if nothing else 0


def _show_video(
    found: VideoCitation,
    out: Path | None,
    clip: Path | None,
    frames: int,
    policy: OverwritePolicy,
    settings: Settings,
) -> Shown:
    """Write the clip, if asked for, and the sheet, unless only the clip is."""
    sheet_file = None if clip is not None and out is None else out or Path(sheet_name(found))
    for path, what, suffix in ((clip, "an MP4 clip", ".mp4"), (sheet_file, "a PNG image", ".png")):
        if path is not None and path.suffix[1:2].isalpha() and path.suffix.lower() != suffix:
            raise UsageError(f"{path}: {what} is written; name it {path.with_suffix(suffix)}")
    check_outputs(policy, clip, sheet_file)
    if clip is not None:
        from corpora.video.reader import cut_clip

        try:
            track = settings.video.audio_track
            cut_clip(found.path, found.start, found.end, clip, policy, settings.storage, track)
        except OSError as error:
            raise file_error(clip, error) from error
    if sheet_file is None:
        return Shown(clip=clip)
    return Shown(render_sheet(found, sheet_file, frames, policy, settings.storage), clip)


def sheet_name(citation: VideoCitation) -> str:
    """A file name for a window's sheet: `lecture_12.5-17.5.png`."""
    stem = output_stem(Path(citation.path).stem)[:80] or citation.video_id[:12]
    still = is_still(citation.start, citation.end)
    return f"{stem}_{'sheet' if still else span_name(citation.start, citation.end)}.png"


def render_sheet(
    citation: VideoCitation,
    out: Path,
    count: int = 9,
    policy: OverwritePolicy | None = None,
    storage: StorageSettings | None = None,
) -> Path | None:
    """Decode `count` frames of the window and write the sheet; None if nothing decodes."""
    import numpy as np

    from corpora.video.reader import MediaReader
    from rag.rendering.contact_sheet import contact_sheet, save_png, sheet_times
    from rag.store.lookup import NEXT_OF_GONE

    still = is_still(citation.start, citation.end)
    try:
        with MediaReader(storage=storage) as reader:
            times = sheet_times(citation.start, citation.end, 1 if still else count)
            images = reader.frames_at(citation.path, times, short_side=SHORT_SIDE).images
    except FileProblem as error:
        gone = not is_url(citation.path) and not os.path.exists(citation.path)
        advice = f"; {NEXT_OF_GONE}" if gone else ""
        echo_stderr(f"rag: no frame to show: {error}{advice}")
        return None
    name = Path(citation.path).name
    # The labels are the times asked for; a frame may have come on screen before the window.
    frames = Frames(np.array(times), images)
    subtitle = "" if still else span(citation.start, citation.end)
    try:
        save_png(contact_sheet(name, subtitle, frames, citation.evidence), out, policy)
    except OSError as error:
        raise file_error(out, error) from error
    return out


def _lines(found: VideoCitation | PassageCitation, shown: Shown) -> Iterator[str]:
    match found:
        case VideoCitation():
            yield located(found.path, found.start, found.end)
            for item in found.evidence:
                yield f"    {evidence_name(item)}  “{excerpt(item.text, 1000)}”"
            if shown.sheet is not None:
                yield f"contact sheet: {visible(os.fspath(shown.sheet))}"
            if shown.clip is not None:
                yield f"clip: {visible(os.fspath(shown.clip))}"
        case PassageCitation():
            title = cited_title(found.title, found.pages, found.path)
            yield f"{visible(title)}  ({visible(found.path)})".strip()
            yield ""
            for line in found.text.splitlines():
                yield visible(line)
