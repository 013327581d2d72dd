"""Moments with their sentences as published: QVHighlights, Charades-STA, TVR, ActivityNet Captions, TACoS,
Ego4D NLQ, and others.

A file has one layout (`published.toml`); a benchmark (`formats.toml`) is read in its own, or in one that
others have converted it to. Windows are [start, end) seconds of the video file that a row names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from corpora.kinds import VIDEO
from eval.metrics.moments import Interval
from eval.runs.records import Query, TaskInput, UnusableRow
from eval.tasks.layouts import Entry, Layout, Row, first_keys
from eval.tasks.published import SUFFIXES, read_entries, row_files, validation_reason
from rag.errors import UsageError

CLIP_SECONDS = 2.0
"""The clips of QVHighlights that have a saliency are so long."""
NAMED = 5
"""Files that an error names."""

Text = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class MomentInput(TaskInput):
    """What a solver sees of a sentence."""

    clips: tuple[Interval, ...] = ()
    """To be given a saliency each (QVHighlights)."""


def _listed(value: Any) -> Any:
    """A single pair of times as a list of one."""
    single = isinstance(value, list) and len(value) == 2 and not any(isinstance(one, list) for one in value)
    return [value] if single else value


class Moment(BaseModel):
    """One sentence with its gold: a row, by what its fields mean; those that it lacks are left out."""

    model_config = ConfigDict(frozen=True)

    query: Text
    video: Text
    """As the row names it."""
    id: int | str
    windows: Annotated[tuple[tuple[Seconds, Seconds], ...], BeforeValidator(_listed)] = ()
    """Gold, in seconds. Empty where the split has no gold."""
    duration: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """The seconds of a video, at most a day: it is cut into clips, each of which takes memory."""
    family: Text = "all"
    clips: list[Annotated[int, Field(ge=0)]] = []
    saliency: list[list[Annotated[int, Field(ge=0, le=4)]]] = []
    """The annotators' scores for each of `clips` (QVHighlights)."""
    scored: bool = False
    """Whether all clips of the video are to be scored by saliency (QVHighlights)."""

    @property
    def query_id(self) -> str:
        """The id as text."""
        return str(self.id)

    @property
    def clip_count(self) -> int:
        """Clips of the video that are to be scored."""
        return int(self.duration / CLIP_SECONDS) if self.scored else 0

    @property
    def levels(self) -> list[list[int]]:
        """Scores of the annotators for each clip of the video, 0 where they gave none; empty without gold."""
        scores = dict(zip(self.clips, self.saliency, strict=True))
        width = len(self.saliency[0]) if self.saliency else 0
        return [scores.get(clip, [0] * width) for clip in range(self.clip_count if width else 0)]

    def check(self, bounded: bool) -> None:
        """Raises `ValueError` for a row that cannot be a query.

        `bounded`: a window there must be, and inside the video.
        """
        if not self.query.strip():
            raise ValueError("query: empty")
        if not self.query_id.strip():
            raise ValueError("id: empty")
        if len(self.saliency) != len(self.clips) or len(set(map(len, self.saliency))) > 1:
            raise ValueError("saliency: not as many scores for each of the clips")
        if bounded and not self.windows:
            raise ValueError("window: none")
        for start, end in self.windows:
            if not end > start:
                raise ValueError(f"window: ends before it starts: {start:g} to {end:g}")
            if bounded and self.duration and start >= self.duration:
                raise ValueError(f"window: starts at {start:g}, after the video's {self.duration:g} seconds")


class MomentLayout(Layout):
    """How an annotation file is laid out."""

    merged: bool = False
    """Rows of one sentence of one video are one moment with all their windows."""
    padded: bool = False
    """Windows may begin before the video."""

    def fields_of(self, row: Row) -> dict[str, Any]:
        """What a row has, by what it means, with times in seconds."""
        found = {name: held for name in Moment.model_fields if (held := self.value(row, name)) is not None}
        times = found.get("windows")
        if self.padded and isinstance(times, list):
            found["windows"] = [0.0 if isinstance(time, int | float) and time < 0 else time for time in times]
        if "frames" in self.fields and isinstance(times, list):
            try:
                rate, last = (float(self.text(row, name)) for name in ("rate", "frames"))
                found["windows"] = [min(float(time), last) / rate for time in times]
            except (TypeError, ValueError, ZeroDivisionError) as error:
                raise ValueError("windows: frames without a rate") from error
        return found


LAYOUTS = MomentLayout.read("eval.tasks.moments", "query")


class Format(BaseModel):
    """A benchmark: its layouts, what is one video, and its measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    layouts: tuple[str, ...]
    """The layouts that were published."""
    converted: tuple[str, ...] = ()
    """The layouts that others have converted it to."""
    video: str = "(.+)"
    """Pattern of a video's name; its group is the video that the file was cut from."""
    recalls: tuple[tuple[int, float], ...] = ((1, 0.5), (1, 0.7), (5, 0.5), (5, 0.7))
    """k and IoU of each R@k, IoU >= m."""
    highlights: bool = False
    """Whether mAP is measured by range of length, clips have a saliency, and a run writes the file that the
    benchmark's server takes."""
    prefix: str = ""
    """A prefix of the video's name, which its file may lack."""
    general: bool = False
    """Belongs to no benchmark: read only where there is no file of another format."""


_FORMATS = resources.files("eval.tasks.moments").joinpath("formats.toml").read_text(encoding="utf-8")
FORMATS: Mapping[str, Format] = {name: Format(**held) for name, held in tomllib.loads(_FORMATS).items()}


def format_name(name: str) -> str:
    """The name in `FORMATS`, of any case. Raises `UsageError` for an unknown one."""
    plain = re.sub(r"[\s_]+", "-", name.strip().lower())
    if plain not in FORMATS:
        raise UsageError(f"moments: no format {name!r}; there are {', '.join(FORMATS)}")
    return plain


@dataclass(frozen=True, slots=True)
class Annotations:
    """An annotation file as it was read."""

    path: Path
    format: str
    moments: tuple[Moment, ...]
    unusable: tuple[UnusableRow, ...] = field(default=(), kw_only=True)


def read_annotations(folder: Path, format: str = "", split: str = "") -> Annotations:
    """The moments of the one annotation file below `folder` that is asked for.

    `format`: of `FORMATS`; empty: the one whose layout is found. `split`: a part of the file's name; empty:
    not the training split, and of several one with gold. Raises `UsageError` where no file or several fit.
    """
    wanted = [format_name(format)] if format else list(FORMATS)
    files = {path: list(read_entries(path)) for path in row_files(folder, (*SUFFIXES, ".txt"))}
    found = {path: kind for path, entries in files.items() if (kind := _recognized(entries, wanted))}
    if not found:
        known = FORMATS[wanted[0]].title if format else f"a known format ({', '.join(FORMATS)})"
        others = "; ".join(first_keys(path.name, entries) for path, entries in [*files.items()][:NAMED])
        raise UsageError(f"{folder}: no annotation file of {known}; {others or 'there is no file of rows'}")
    own = {path: kind for path, kind in found.items() if not FORMATS[kind[0]].general} or found
    published = {path: kind for path, kind in own.items() if kind[1] in FORMATS[kind[0]].layouts} or own
    kept = {path: kind for path, kind in published.items() if _fits(path, split)}
    if not kept:
        names = ", ".join(sorted(path.name for path in published))
        wish = f"with {split!r} in its name" if split else "but of training"
        raise UsageError(
            f"{folder}: no annotation file {wish}; there is {names}; choose with moments:split=PART"
        )
    read = [_read(path, files[path], kind, LAYOUTS[layout]) for path, (kind, layout) in kept.items()]
    if len(read) > 1:
        read = [each for each in read if any(one.windows for one in each.moments)] or read
    if len(read) > 1:
        names = ", ".join(sorted(f"{each.path.name} ({each.format})" for each in read))
        raise UsageError(
            f"{folder}: several annotation files: {names}; choose with moments:format=NAME, or with "
            "moments:split=PART, a part of a file's name"
        )
    if not read[0].moments:
        first = f": {read[0].unusable[0].reason}" if read[0].unusable else ""
        raise UsageError(f"{read[0].path}: no row can be used{first}")
    return read[0]


def query_of(moment: Moment, format: str) -> Query:
    """The first gold window is shown; the scorer knows them all. One cluster a source video."""
    name = Path(moment.video)
    stem = name.stem if name.suffix.lower() in VIDEO else name.name
    found = re.fullmatch(FORMATS[format].video, stem)
    return Query(
        query_id=moment.query_id,
        text=moment.query.strip(),
        options=(),
        answer="; ".join(f"{start:g}-{end:g} s" for start, end in moment.windows),
        family=moment.family,
        video=moment.video,
        cluster=found.group(1) if found else stem,
        window=moment.windows[0] if moment.windows else (0.0, 0.0),
    )


def video_names(held: Annotations) -> dict[str, tuple[str, ...]]:
    """Names that the file of each video may have, by its name in the annotations."""
    prefix = FORMATS[held.format].prefix
    videos = dict.fromkeys(moment.video for moment in held.moments)
    return {video: tuple(dict.fromkeys((video, video.removeprefix(prefix)))) for video in videos}


def input_of(moment: Moment) -> MomentInput:
    """What a solver sees of a moment."""
    clips = ((CLIP_SECONDS * number, CLIP_SECONDS * (number + 1)) for number in range(moment.clip_count))
    return MomentInput(moment.query_id, moment.query.strip(), video=moment.video, clips=tuple(clips))


def _fits(path: Path, split: str) -> bool:
    name = path.name.lower()
    return split.lower() in name if split else "train" not in name.replace("trainval", "")


def _recognized(entries: Sequence[Entry], formats: Sequence[str]) -> tuple[str, str] | None:
    """The first of `formats` that a file is of, and its layout: the published layouts of all formats come
    before those that others have converted to."""
    pairs = [(kind, layout) for kind in formats for layout in FORMATS[kind].layouts]
    pairs += [(kind, layout) for kind in formats for layout in FORMATS[kind].converted]
    fitting = {layout for layout in {layout for _, layout in pairs} if LAYOUTS[layout].recognizes(entries)}
    return next((pair for pair in pairs if pair[1] in fitting), None)


def _read(path: Path, entries: Sequence[Entry], kind: str, layout: MomentLayout) -> Annotations:
    moments: dict[str, Moment] = {}
    steps: dict[tuple[str, str], str] = {}
    unusable: list[UnusableRow] = []
    for number, (place, row) in enumerate(layout.rows_of(entries)):
        try:
            if isinstance(row, UnusableRow):
                raise ValueError(row.reason)
            own = {"id": number, "scored": "saliency" in layout.fields, **layout.fields_of(row)}
            moment = Moment.model_validate(own)
            moment.check(FORMATS[kind].general)
            earlier = steps.setdefault((moment.video, moment.query.strip()), moment.query_id)
            if layout.merged and earlier in moments:
                windows = (*moments[earlier].windows, *moment.windows)
                moments[earlier] = moments[earlier].model_copy(update={"windows": windows})
                continue
            if moment.query_id in moments:
                raise ValueError(f"id: an earlier row has it: {moment.query_id!r}")
            moments[moment.query_id] = moment
        except ValidationError as error:
            unusable.append(UnusableRow(place, validation_reason(error)))
        except ValueError as error:
            unusable.append(UnusableRow(place, str(error)))
    return Annotations(path, kind, tuple(moments.values()), unusable=tuple(unusable))
