"""Selects for people, web players and hosting sites: CSV and chapters."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator
from fractions import Fraction

from corpora.outputs import PROGRAM
from corpora.records import clock
from rag.export.planning import clock_span, is_one_video
from rag.export.records import Cut, Timeline
from rag.export.text import file_name, name_of, note_of, one_line
from rag.export.timecode import rate_text, timecode
from rag.rendering.webvtt import webvtt

COLUMNS = (
    *("name", "video", "start", "end", "source_in", "source_out", "frames_per_second"),
    *("query", "score", "note", "citation", "path"),
)
FORMULA = ("=", "+", "-", "@", "\u200b", "＝", "＋", "－", "＠")
"""A cell that begins so is a formula to a spreadsheet; an apostrophe before it makes it text."""


def render_csv(timeline: Timeline) -> str:
    """One row a select: seconds of the select, timecode of the source with its handles."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(COLUMNS)
    table.writerows(_row(cut) for cut in timeline.cuts)
    return text.getvalue()


def _row(cut: Cut) -> Iterator[str]:
    source, select = cut.source, cut.select
    ends = (timecode(source.first + at, source.rate, source.drop) for at in (cut.first, cut.last))
    cells = (
        *(name_of(select), file_name(select.path), f"{select.start:.3f}", f"{select.end:.3f}"),
        *(*ends, rate_text(source.rate), one_line(select.query)),
        "" if select.score is None else f"{select.score:g}",
        *(note_of(select), one_line(select.citation), one_line(select.path)),
    )
    return (f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells)


def render_chapters(timeline: Timeline) -> str:
    """WebVTT chapters in order of time; one that reaches into the next ends where that begins.

    Of one video at its own times, of several at those of the timeline.
    """
    spans = _spans(timeline)
    cues = []
    for index, (start, end, cut) in enumerate(spans):
        if index + 1 < len(spans) and start < spans[index + 1][0] < end:
            end = spans[index + 1][0]
        cues.append((start, end, name_of(cut.select)))
    return webvtt(cues, PROGRAM)


FEWEST_CHAPTERS = 3
SHORTEST_CHAPTER = 10
"""Seconds."""


def render_chapter_list(timeline: Timeline) -> str:
    """`00:00 name`, a line a chapter, as hosting sites of videos read them in a description."""
    return "".join(f"{clock(start)} {name}\n" for start, _, name in _chapters(timeline))


def notes_on_chapters(timeline: Timeline) -> tuple[str, ...]:
    """Why hosting sites take a list for none; empty where they take it."""
    chapters = _chapters(timeline)
    short = sum(end - start < SHORTEST_CHAPTER for start, end, _ in chapters)
    notes = []
    if len(chapters) < FEWEST_CHAPTERS:
        notes.append(f"hosting sites want {FEWEST_CHAPTERS} chapters at least; here are {len(chapters)}")
    if short:
        notes.append(
            f"hosting sites want chapters of {SHORTEST_CHAPTER} s at least; {short} of {len(chapters)} "
            "are shorter"
        )
    return tuple(notes)


def _chapters(timeline: Timeline) -> list[tuple[int, int, str]]:
    """(start, end, name) in whole seconds, ascending, from 0 to the end of the video or the timeline.

    Of selects that begin in one second the first is named.
    """
    last, source = timeline.cuts[-1], timeline.cuts[0].source
    if is_one_video(timeline):
        whole, end = (
            os.path.splitext(file_name(source.path))[0],
            Fraction(source.offset) + source.frames / source.rate,
        )
    else:
        whole, end = timeline.title, (last.record + last.length) / timeline.rate
    names = {0: whole}
    for start, _, cut in reversed(_spans(timeline)):
        names[math.floor(start)] = name_of(cut.select)
    starts = sorted(names)
    ends = [*starts[1:], math.floor(end)]
    return [(start, until, names[start]) for start, until in zip(starts, ends, strict=True)]


def _spans(timeline: Timeline) -> list[tuple[float, float, Cut]]:
    """[start, end) seconds of each select, in order of time."""
    found = [(*clock_span(timeline, cut), cut) for cut in timeline.cuts]
    return sorted(found, key=lambda span: span[:2])
