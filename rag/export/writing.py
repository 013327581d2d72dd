"""The formats by name, and exports into files, folders and bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from corpora.errors import UnreadableFile
from corpora.outputs import DEFAULT_POLICY, OverwritePolicy, StrPath, output_folder, replace_file
from corpora.records import Problem
from corpora.settings import StorageSettings
from corpora.video.reader import cut_clip
from rag.export.clips import Cutter, write_clips, write_zip
from rag.export.edl import render_edl, render_markers
from rag.export.fcpxml import render_fcpxml
from rag.export.otio import render_otio
from rag.export.planning import check_selects, plan_timeline, read_sources
from rag.export.records import Exported, FormatName, Select, Timeline
from rag.export.tables import notes_on_chapters, render_chapter_list, render_chapters, render_csv


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How selects become a file."""

    suffix: str
    media_type: str
    render: Callable[[Timeline], str] | None
    """The text of the file; None for the clips themselves, in an archive."""
    notes: Callable[[Timeline], tuple[str, ...]] = lambda _: ()
    """What a user must know of what was written, one line each."""


def _on_rates(timeline: Timeline) -> tuple[str, ...]:
    return timeline.notes


def _on_one_rate(timeline: Timeline) -> tuple[str, ...]:
    """Notes for formats that count all frames at the rate of the timeline."""
    return timeline.notes + timeline.recounted


FORMATS: dict[FormatName, ExportFormat] = {
    "otio": ExportFormat(".otio", "application/json", render_otio, _on_rates),
    "edl": ExportFormat(".edl", "text/plain", render_edl, _on_one_rate),
    "markers": ExportFormat(".markers.edl", "text/plain", render_markers, _on_one_rate),
    "fcpxml": ExportFormat(".fcpxml", "application/xml", render_fcpxml, _on_one_rate),
    "csv": ExportFormat(".csv", "text/csv", render_csv, _on_rates),
    "vtt": ExportFormat(".vtt", "text/vtt", render_chapters),
    "chapters": ExportFormat(".chapters.txt", "text/plain", render_chapter_list, notes_on_chapters),
    "clips": ExportFormat(".zip", "application/zip", None),
}
"""`.otio` first: it loses least."""


def write_export(
    selects: Sequence[Select],
    form: FormatName,
    destination: StrPath,
    *,
    title: str = "",
    handles: float = 0.0,
    policy: OverwritePolicy = DEFAULT_POLICY,
    storage: StorageSettings | None = None,
    audio_track: str = "",
) -> Exported:
    """Write selects to a file; clips into a folder, unless `destination` ends with `.zip`. Folders are made.

    `handles`: seconds before and after each select. Videos that cannot be read are skipped. The videos
    count as inputs of `policy`. `storage`: how those on object stores are reached. `audio_track`: which of
    several is in the clips, as the setting `video.audio_track`. Raises `UsageError` for windows that are none
    and for a destination that must not be replaced, `FileProblem` where no video can be read, `ExtraMissing`
    for `.otio` without opentimelineio, `OSError` where the destination cannot be written.
    """
    timeline, skipped = _plan(selects, title, handles, storage)
    cutter = partial(cut_clip, storage=storage, audio_track=audio_track)
    allowed = policy.with_inputs(*(cut.source.path for cut in timeline.cuts))
    if form == "clips" and not os.fspath(destination).lower().endswith(".zip"):
        with output_folder(destination, allowed, shared=True) as folder:
            skipped += write_clips(timeline, folder, cutter)
    else:
        Path(destination).parent.mkdir(parents=True, exist_ok=True)
        with replace_file(destination, allowed) as draft, draft.open("wb") as stream:
            skipped += _write(form, timeline, stream, cutter)
    return _exported(form, timeline, skipped)


def render_export(
    selects: Sequence[Select],
    form: FormatName,
    stream: IO[bytes],
    *,
    title: str = "",
    handles: float = 0.0,
    cutter: Cutter = cut_clip,
    storage: StorageSettings | None = None,
) -> Exported:
    """Write the bytes of the file that `write_export` writes, clips as a zip archive; raises as that does.

    `cutter` makes the clips.
    """
    timeline, skipped = _plan(selects, title, handles, storage)
    return _exported(form, timeline, skipped + _write(form, timeline, stream, cutter))


def _plan(
    selects: Sequence[Select], title: str, handles: float, storage: StorageSettings | None
) -> tuple[Timeline, tuple[Problem, ...]]:
    check_selects(selects, handles)
    sources, problems = read_sources((select.path for select in selects), storage)
    kept = [select for select in selects if select.path in sources]
    if not kept:
        raise UnreadableFile("; ".join(f"{problem.path}: {problem.reason}" for problem in problems))
    return plan_timeline(kept, sources, title, handles), problems


def _write(form: FormatName, timeline: Timeline, stream: IO[bytes], cutter: Cutter) -> tuple[Problem, ...]:
    render = FORMATS[form].render
    if render is None:
        return write_zip(timeline, stream, cutter)
    stream.write(render(timeline).encode())
    return ()


def _exported(form: FormatName, timeline: Timeline, skipped: tuple[Problem, ...]) -> Exported:
    return Exported(form, len(timeline.cuts), FORMATS[form].notes(timeline), skipped)
