"""Edit decision lists: CMX3600 for every program for editing, and markers as DaVinci Resolve reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from corpora.outputs import PROGRAM
from rag.export.planning import is_one_video, mark_span
from rag.export.records import Cut, Timeline
from rag.export.text import file_name, name_of, note_of, one_line
from rag.export.timecode import convert_number, timecode

REEL_LENGTH = 8
RESERVED_REELS = frozenset({"AX", "BL"})
"""An unknown source, and black."""
LONGEST_TITLE = 70
MARKER_COLOR = "Blue"


def render_edl(timeline: Timeline) -> str:
    """CMX3600: one event a cut, all at the timeline's rate.

    Source times are the timecode of the file, else its running time; of a file of another rate, hours,
    minutes and seconds stay and frames are counted again.
    """
    lines = _head(timeline)
    reels = reel_names(list(dict.fromkeys(cut.source.path for cut in timeline.cuts)))
    for number, cut in enumerate(timeline.cuts, 1):
        lines += _event(timeline, cut, number, reels[cut.source.path])
    return "\n".join(lines) + "\n"


def render_markers(timeline: Timeline) -> str:
    """An EDL of markers for Resolve ("Timeline markers from EDL").

    Of one video, markers at the places in that video, from its timecode or 01:00:00:00 on; of several, at
    their places on the timeline that the other formats make.
    """
    lines = _head(timeline)
    source = timeline.cuts[0].source
    origin, drop = timeline.start, timeline.drop
    if is_one_video(timeline) and source.timecoded:
        origin, drop = convert_number(source.first, source.rate, source.drop, timeline.rate)
    placed = sorted(((mark_span(timeline, cut), cut) for cut in timeline.cuts), key=lambda pair: pair[0])
    for number, ((first, last), cut) in enumerate(placed, 1):
        begin, until = (timecode(origin + at, timeline.rate, drop) for at in (first, first + 1))
        name, note = (text.replace("|", "/") for text in (name_of(cut.select), note_of(cut.select)))
        lines += [
            f"{number:03d}  001      V     C        {begin} {until} {begin} {until}  ",
            f"{note} |C:ResolveColor{MARKER_COLOR} |M:{name} |D:{last - first}",
            "",
        ]
    return "\n".join(lines)


def reel_names(paths: list[str]) -> Mapping[str, str]:
    """Name a reel for each path: at most 8 of A-Z and 0-9, different for different paths."""
    reels: dict[str, str] = {}
    taken = set(RESERVED_REELS)
    for path in paths:
        stem = os.path.splitext(os.path.basename(path))[0].upper()
        name = re.sub(r"[^A-Z0-9]", "", stem)[:REEL_LENGTH] or "REEL"
        reel, count = name, 1
        while reel in taken:
            count += 1
            reel = f"{name[: REEL_LENGTH - len(str(count))]}{count}"
        taken.add(reel)
        reels[path] = reel
    return reels


def _head(timeline: Timeline) -> list[str]:
    mode = "DROP FRAME" if timeline.drop else "NON-DROP FRAME"
    title = timeline.title[: LONGEST_TITLE - len(PROGRAM) - 3].rstrip()
    return [f"TITLE: {title} ({PROGRAM})", f"FCM: {mode}", ""]


def _event(timeline: Timeline, cut: Cut, number: int, reel: str) -> Iterator[str]:
    rate, source = timeline.rate, cut.source
    first, drop = convert_number(source.first + cut.first, source.rate, source.drop, rate)
    record = timeline.start + cut.record
    times = [
        *(timecode(at, rate, drop) for at in (first, first + cut.length)),
        *(timecode(at, rate, timeline.drop) for at in (record, record + cut.length)),
    ]
    channels = "B" if source.channels else "V"
    yield f"{number:03d}  {reel:<{REEL_LENGTH}} {channels:<5} C        {' '.join(times)}"
    yield f"* FROM CLIP NAME: {file_name(source.path)}"
    at = record + (cut.mark - cut.first) * rate // source.rate
    yield f"* LOC: {timecode(int(at), rate, timeline.drop)} {MARKER_COLOR.upper()} {name_of(cut.select)}"
    if note := note_of(cut.select):
        yield f"* COMMENT: {note}"
    yield f"* COMMENT: {one_line(cut.select.citation)}"
    yield ""
