"""What is exported: selected windows, the files that they are in, and the timeline that is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from corpora.records import Problem

FormatName = Literal["otio", "edl", "markers", "fcpxml", "csv", "vtt", "chapters", "clips"]


@dataclass(frozen=True, slots=True)
class Select:
    """A window of a video, [start, end) seconds on the file's own clock, selected for export."""

    path: str
    video_id: str
    start: float
    end: float
    name: str = ""
    """The name of its clip and marker; where empty, the query, else the stem of the file."""
    note: str = ""
    """The note of its marker; where empty, the evidence."""
    query: str = ""
    """The text that found it."""
    score: float | None = None
    evidence: tuple[str, ...] = ()
    """One line each."""

    @property
    def citation(self) -> str:
        """`VIDEO_ID@START-END`, as `rag show` takes it; with the path where the id is unknown."""
        return f"{self.video_id or self.path}@{self.start:.3f}-{self.end:.3f}"


@dataclass(frozen=True, slots=True)
class Source:
    """A video file as a program for editing counts it: frames of one standard rate."""

    path: str
    rate: Fraction
    """Frames a second, one of `rag.export.timecode.STANDARD_RATES`."""
    frames: int
    """Length in frames of `rate`."""
    offset: float = 0.0
    """Seconds on the file's clock at which frame 0 is shown."""
    first: int = 0
    """Number of frame 0 by the timecode of the file; 0 without one."""
    drop: bool = False
    """Whether its timecode is drop-frame."""
    timecoded: bool = False
    """Whether the file has a timecode."""
    width: int = 0
    """Upright pixels."""
    height: int = 0
    channels: int = 0
    """The channels of its sound; 0 without any."""
    sample_rate: int = 0
    """Samples a second of its sound; 0 without any."""
    notes: tuple[str, ...] = ()
    """What was changed to fit a standard rate, one line each."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A select as frames of its source, and its place on the timeline."""

    select: Select
    source: Source
    first: int
    """First frame of the source, counted from 0, handles included."""
    last: int
    """The frame after its last one, handles included."""
    mark: int
    """The first frame of the select itself."""
    mark_end: int
    """The frame after the last one of the select itself."""
    record: int
    """Where it starts on the timeline, in frames of the timeline's rate from its start."""
    length: int
    """Its length on the timeline, in frames of the timeline's rate."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Cuts one after another, at one rate, from 01:00:00:00 on."""

    title: str
    rate: Fraction
    drop: bool
    start: int
    """Number of the first frame by its timecode."""
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...] = ()
    """What an editor must know of the files' rates and timecode, one line each."""
    recounted: tuple[str, ...] = ()
    """Files whose frames are counted at the timeline's rate instead of their own, one line each."""


@dataclass(frozen=True, slots=True)
class Exported:
    """How an export went."""

    format: FormatName
    selects: int
    """How many were written."""
    notes: tuple[str, ...] = ()
    skipped: tuple[Problem, ...] = ()
    """Videos and clips that could not be read, and why."""
