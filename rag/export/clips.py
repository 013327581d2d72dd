"""The selects themselves, cut out as MP4 clips, in a folder or a zip archive."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from corpora.errors import FileProblem, reason_of
from corpora.file_names import output_stem
from corpora.outputs import PROGRAM
from corpora.records import Problem
from rag.export.records import Cut, Timeline
from rag.rendering.webvtt import vtt_time

Cutter = Callable[[str, float, float, Path], None]
"""Writes [start, end) seconds of the video at a path to a file. Raises `FileProblem`."""

LONGEST_STEM = 120
"""Bytes; a file system takes 255 for a whole name."""


def write_clips(timeline: Timeline, folder: Path, cutter: Cutter) -> tuple[Problem, ...]:
    """Write each select, with its handles, into a folder that exists; what cannot be cut is a problem."""
    problems: list[Problem] = []
    for cut, name in zip(timeline.cuts, clip_names(timeline), strict=True):
        start, end = _span(cut)
        try:
            cutter(cut.select.path, start, end, folder / name)
        except FileProblem as error:
            problems.append(Problem(cut.source.path, reason_of(error, cut.source.path)))
    return tuple(problems)


def write_zip(timeline: Timeline, stream: IO[bytes], cutter: Cutter) -> tuple[Problem, ...]:
    """The same as a zip archive; clips are stored as they are, since H.264 does not get smaller."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(stream, "w") as archive:
        problems = write_clips(timeline, Path(folder), cutter)
        for clip in sorted(Path(folder).iterdir()):
            archive.write(clip, clip.name)
        archive.comment = PROGRAM.encode()
    return problems


def clip_names(timeline: Timeline) -> list[str]:
    """`01_stem_00-12.500-00-17.500.mp4` for each cut: its place, minutes and seconds of the select.

    All different, and sorted by name in the order of the timeline. One alone has no place.
    """
    if len(timeline.cuts) == 1:
        return [f"{_stem(cut)}_{_clock(cut)}.mp4" for cut in timeline.cuts]
    digits = max(2, len(str(len(timeline.cuts))))
    return [
        f"{place:0{digits}d}_{_stem(cut)}_{_clock(cut)}.mp4" for place, cut in enumerate(timeline.cuts, 1)
    ]


def _span(cut: Cut) -> tuple[float, float]:
    """[start, end) seconds of the frames of a cut on the file's clock."""
    source = cut.source
    return source.offset + float(cut.first / source.rate), source.offset + float(cut.last / source.rate)


def _stem(cut: Cut) -> str:
    stem = output_stem(Path(cut.source.path).stem)
    short = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
    return short or cut.select.video_id[:12] or "clip"


def _clock(cut: Cut) -> str:
    """`00-12.500-00-17.500`; with hours where the end has any: `00-59-58.000-01-00-03.000`."""
    from_hours = 0 if cut.select.end >= 3600 else 3
    times = (vtt_time(time)[from_hours:] for time in (cut.select.start, cut.select.end))
    return "-".join(times).replace(":", "-")
