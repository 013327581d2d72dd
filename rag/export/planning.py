"""From selects to a timeline: the files are read, windows become frames, one rate is chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from corpora.errors import FileProblem, UnsupportedFile, UsageError, reason_of
from corpora.records import Problem
from corpora.settings import StorageSettings
from corpora.video.reader import MediaReader
from corpora.video.records import Probe
from rag.export.records import Cut, Select, Source, Timeline
from rag.export.text import file_name, one_line
from rag.export.timecode import (
    EQUAL_RATES,
    ROUNDING,
    can_drop,
    cut_frames,
    frame_number,
    nominal,
    rate_text,
    read_timecode,
    standard_rate,
    timeline_rate,
)

LONGEST_HANDLES = 3600.0
"""Seconds."""


def check_selects(selects: Sequence[Select], handles: float) -> None:
    """Raises `UsageError` for no selects, an empty or endless window, and handles outside [0, 3600] s."""
    if not selects:
        raise UsageError("nothing to export: give a window, as talk.mp4@12.5-17.5, or a search that matches")
    if not 0 <= handles <= LONGEST_HANDLES:
        raise UsageError(f"handles of {handles:g} s: between 0 and {LONGEST_HANDLES:g} s are possible")
    for select in selects:
        if not (0 <= select.start < select.end < math.inf):
            raise UsageError(f"{select.citation}: a window starts at 0 or later, and ends after it starts")


def read_sources(
    paths: Iterable[str], storage: StorageSettings | None = None
) -> tuple[dict[str, Source], tuple[Problem, ...]]:
    """The files, each opened once; what cannot be read is a problem."""
    sources: dict[str, Source] = {}
    problems: list[Problem] = []
    with MediaReader(storage=storage) as reader:
        for path in dict.fromkeys(paths):
            try:
                sources[path] = make_source(path, reader.probe(path))
            except FileProblem as error:
                problems.append(Problem(path, reason_of(error, path)))
    return sources, tuple(problems)


def make_source(path: str, probe: Probe) -> Source:
    """A file counted in frames of a standard rate; `notes` say what that changes."""
    if probe.stream < 0:
        raise UnsupportedFile(f"{path}: it holds no images")
    mean = probe.rate
    rate = standard_rate(mean)
    times = round(rate / mean) or 1
    exact = abs(rate / (mean * times) - 1) <= EQUAL_RATES
    shown, name, notes = rate_text(rate), file_name(path), []
    if probe.variable:
        notes.append(
            f"{name}: variable frame rate, {rate_text(mean)} on average; cut points are counted at {shown}"
        )
    elif not exact or times > 1:
        notes.append(f"{name}: {rate_text(mean)} frames a second; cut points are counted at {shown}")
    if exact and probe.frames and not probe.variable:
        frames = probe.frames * times
    else:
        frames = math.floor((Fraction(probe.duration) - Fraction(probe.video_start) + ROUNDING) * rate)
    named = read_timecode(probe.timecode, rate)
    if probe.timecode and named is None:
        notes.append(f"{name}: its timecode {one_line(probe.timecode)[:40]} is none of {shown}; left out")
    first, drop = named or (0, False)
    return Source(
        path=path,
        rate=rate,
        frames=max(1, frames),
        offset=probe.video_start,
        first=first,
        drop=drop,
        timecoded=named is not None,
        width=probe.width,
        height=probe.height,
        channels=probe.channels,
        sample_rate=probe.sample_rate,
        notes=tuple(notes),
    )


def plan_timeline(
    selects: Sequence[Select], sources: Mapping[str, Source], title: str = "", handles: float = 0.0
) -> Timeline:
    """The selects in their order, each with `handles` seconds before and after, as far as the file has them.

    The timeline has the rate of most selects, the first of equals, at most 60; it is drop-frame where the
    timecode of a file of that rate is. Raises `UsageError` for a window after the end of its video.
    """
    rates = Counter(timeline_rate(sources[select.path].rate) for select in selects)
    rate = rates.most_common(1)[0][0]
    used = list({select.path: sources[select.path] for select in selects}.values())
    drop = can_drop(rate) and any(source.drop for source in used if timeline_rate(source.rate) == rate)
    cuts: list[Cut] = []
    record = 0
    for select in selects:
        cut = replace(_cut(select, sources[select.path], rate, handles), record=record)
        record += cut.length
        cuts.append(cut)
    return Timeline(
        title=one_line(title) or "selects",
        rate=rate,
        drop=drop,
        start=frame_number(1, 0, 0, 0, rate, drop),
        cuts=tuple(cuts),
        notes=tuple(note for source in used for note in source.notes),
        recounted=tuple(_recounted(source, rate) for source in used if source.rate != rate),
    )


def _recounted(source: Source, rate: Fraction) -> str:
    return (
        f"{file_name(source.path)}: {rate_text(source.rate)} frames a second on a timeline of "
        f"{rate_text(rate)}; its frames are counted again, to less than a frame"
    )


def _cut(select: Select, source: Source, rate: Fraction, handles: float) -> Cut:
    begin, until = (max(0.0, time - source.offset) for time in (select.start, select.end))
    mark, mark_end = cut_frames(begin, until, source.rate)
    mark = min(mark, source.frames - 1)
    if Fraction(begin) * source.rate >= source.frames:
        seconds = float(source.frames / source.rate) + source.offset
        raise UsageError(f"{select.citation}: {file_name(select.path)} is {seconds:.3f} s long")
    mark_end = min(mark_end, source.frames)
    around = max(0, math.ceil((Fraction(handles) - ROUNDING) * source.rate))
    first, last = max(0, mark - around), min(source.frames, mark_end + around)
    return Cut(select, source, first, last, mark, mark_end, 0, _length(source, first, last, rate))


def _length(source: Source, first: int, last: int, rate: Fraction) -> int:
    """Frames of `rate` in [first, last) of the source, up to the one that `last` falls in.

    They begin on a frame of `rate`, which may be before `first` (`rag.export.timecode.convert_number`).
    """
    before = (source.first + first) * Fraction(nominal(rate), nominal(source.rate)) % 1
    return max(1, math.floor((last - first) / source.rate * rate + before))


def is_one_video(timeline: Timeline) -> bool:
    """Whether all cuts are of one file: positions are then its own, else those on the timeline."""
    return len({cut.source.path for cut in timeline.cuts}) == 1


def mark_span(timeline: Timeline, cut: Cut) -> tuple[int, int]:
    """[first, last) frames of the timeline's rate that the select itself covers, counted from its start.

    Of one video, its own frames from its first one on; else the place of the cut on the timeline.
    """
    ratio = timeline.rate / cut.source.rate
    base, origin = (0, 0) if is_one_video(timeline) else (cut.record, cut.first)
    first = base + math.floor((cut.mark - origin) * ratio)
    return first, max(first + 1, base + math.ceil((cut.mark_end - origin) * ratio))


def clock_span(timeline: Timeline, cut: Cut) -> tuple[float, float]:
    """[start, end) seconds of the select itself: in its video where all are of one, else on the timeline."""
    if is_one_video(timeline):
        return cut.select.start, cut.select.end
    begin = cut.record / timeline.rate
    start, end = (begin + (at - cut.first) / cut.source.rate for at in (cut.mark, cut.mark_end))
    return float(start), float(end)
