"""Moments with their sentences as published: QVHighlights, Charades-STA, DiDeMo, TVR, ActivityNet Captions,
TACoS, Ego4D NLQ, and others by the names of their fields.

A file has one layout (`LAYOUTS`); a benchmark (`FORMATS`) is read in its own, or in one that others have
converted it to. Windows are [start, end) seconds of the video file that a row names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from corpora.kinds import VIDEO
from eval.metrics.moments import Interval, Segments, moments_of
from eval.runs.records import Query, TaskInput, UnusableRow
from eval.tasks.jsonl import validation_reason
from eval.tasks.moments.rows import TEXT, WINDOWS, read_moment_rows
from eval.tasks.published import SUFFIXES, row_files
from rag.errors import UsageError

SEGMENT_SECONDS = 5.0
"""Of DiDeMo: moments are whole segments of a video."""
CLIP_SECONDS = 2.0
"""Of QVHighlights: the clips that have a saliency."""
LOOK_AHEAD = 100
"""Rows by which a layout is recognized."""
NAMED = 5
"""Files that an error names."""

Text = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Clipped = Annotated[float, Field(ge=0, le=86_400)]
"""Seconds of a video that is cut into clips; each takes memory, so it has at most a day."""
NoneIsEmpty = BeforeValidator(lambda value: [] if value is None else value)
"""Of a list: a table has null where a split has no gold."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One sentence with its gold."""

    query_id: str
    text: str
    video: str
    """As the row names it."""
    windows: tuple[Interval, ...] = ()
    """Gold, in seconds; of DiDeMo those of all annotators. Empty where the split has no gold."""
    duration: float = 0.0
    """Of the video in seconds; 0 where the row does not say it."""
    family: str = "all"
    segments: int = 0
    """Of DiDeMo: five-second segments of the video, whose moments are ranked; 0 for windows of any length."""
    times: tuple[Segments, ...] = ()
    """Of DiDeMo: first and last segment, by annotator."""
    saliency: tuple[tuple[int, ...], ...] = ()
    """Of QVHighlights: for each clip of the video the scores of the annotators, 0 to 4."""
    clips: int = 0
    """Of QVHighlights: clips of the video, to be scored by saliency."""


@dataclass(frozen=True, slots=True)
class MomentInput(TaskInput):
    """What a solver sees of a sentence."""

    video: str = ""
    moments: tuple[Interval, ...] = ()
    """To be ranked, all of them (DiDeMo); empty where windows of any length are asked for."""
    clips: tuple[Interval, ...] = ()
    """To be given a saliency each (QVHighlights)."""


class QVHighlightsRow(BaseModel):
    """A line of `highlight_val_release.jsonl`; also what others have converted benchmarks to."""

    qid: int | str
    query: Text
    vid: Text
    duration: Clipped
    relevant_windows: Annotated[list[tuple[Seconds, Seconds]], NoneIsEmpty] = []
    relevant_clip_ids: Annotated[list[Annotated[int, Field(ge=0)]], NoneIsEmpty] = []
    saliency_scores: Annotated[list[list[Annotated[int, Field(ge=0, le=4)]]], NoneIsEmpty] = []

    def moment(self, row_id: str) -> Moment:  # noqa: ARG002 (rows have ids)
        """Raises `ValueError` where clips and scores do not go together."""
        count, given = int(self.duration / CLIP_SECONDS), self.saliency_scores
        if len(given) != len(self.relevant_clip_ids) or len({len(scores) for scores in given}) > 1:
            raise ValueError("saliency_scores: not as many scores for each of relevant_clip_ids")
        scores = dict(zip(self.relevant_clip_ids, map(tuple, given), strict=True))
        none = (0,) * len(given[0]) if given else ()
        return Moment(
            query_id=str(self.qid),
            text=self.query,
            video=self.vid,
            windows=tuple(self.relevant_windows),
            duration=self.duration,
            saliency=tuple(scores.get(clip, none) for clip in range(count)) if given else (),
            clips=count,
        )


class CharadesRow(BaseModel):
    """An entry of the JSON that lmms-eval and others use, or a line `VIDEO START END##SENTENCE`."""

    video: Text = Field(validation_alias=AliasChoices("image_id", "video"))
    caption: Text
    timestamp: tuple[Seconds, Seconds]
    id: int | str | None = None

    def moment(self, row_id: str) -> Moment:
        """`row_id`: for rows without an id."""
        key = row_id if self.id is None else str(self.id)
        return Moment(key, self.caption, self.video, (self.timestamp,))


class DiDeMoRow(BaseModel):
    """An entry of `val_data.json`."""

    annotation_id: int | str
    description: Text
    video: Text
    num_segments: Annotated[int, Field(ge=1, le=100)] = 6
    times: Annotated[
        list[tuple[Annotated[int, Field(ge=0, le=99)], Annotated[int, Field(ge=0, le=99)]]], NoneIsEmpty
    ] = []

    def moment(self, row_id: str) -> Moment:  # noqa: ARG002 (as above)
        """Raises `ValueError` for a moment that ends before it starts."""
        if any(last < first for first, last in self.times):
            raise ValueError("times: a moment ends before it starts")
        # Some annotators chose a sixth segment of a video of five.
        count = max([self.num_segments, *(last + 1 for _, last in self.times)])
        return Moment(
            query_id=str(self.annotation_id),
            text=self.description,
            video=self.video,
            windows=tuple(seconds_of(each) for each in self.times),
            segments=count,
            times=tuple(self.times),
        )


class TVRRow(BaseModel):
    """A line of `tvr_val_release.jsonl`."""

    desc_id: int | str
    desc: Text
    vid_name: Text
    duration: Seconds
    ts: tuple[Seconds, Seconds] | None = None
    type: Text = "all"

    def moment(self, row_id: str) -> Moment:  # noqa: ARG002 (as above)
        """The family is the type: video (v), subtitles (t), or both (vt)."""
        windows = () if self.ts is None else (self.ts,)
        return Moment(str(self.desc_id), self.desc, self.vid_name, windows, self.duration, self.type)


class CaptionRow(BaseModel):
    """One sentence of an entry `VIDEO: {duration, timestamps, sentences}` of `val_1.json`."""

    video: Text
    duration: Seconds = 0.0
    sentence: Text
    window: tuple[Seconds, Seconds]
    number: int

    def moment(self, row_id: str) -> Moment:  # noqa: ARG002 (as above)
        """Its id is the video and the number of the sentence, from 0."""
        key = f"{self.video}-{self.number}"
        return Moment(key, self.sentence, self.video, (self.window,), self.duration)


class TACoSRow(CaptionRow):
    """One sentence of an entry `VIDEO: {fps, num_frames, timestamps, sentences}`; there times are frames."""

    num_frames: int


class NLQRow(BaseModel):
    """One of the `language_queries` of a clip in `nlq_val.json`; its times are the clip's."""

    clip_uid: Text
    query: Text
    clip_start_sec: Seconds | None = None
    clip_end_sec: Seconds | None = None
    clip_seconds: Seconds
    annotation: Text
    number: int

    def moment(self, row_id: str) -> Moment:  # noqa: ARG002 (as above)
        """Its id is the annotation and the number of the query, as the benchmark's server names it."""
        start, end = self.clip_start_sec, self.clip_end_sec
        windows = () if start is None or end is None else ((start, end),)
        key = f"{self.annotation}_{self.number}"
        return Moment(key, self.query, self.clip_uid, windows, self.clip_seconds)


def _windows(value: Any) -> Any:
    """A single pair of times as a list of one."""
    single = isinstance(value, list) and len(value) == 2 and not any(isinstance(one, list) for one in value)
    return [value] if single else value


class WindowsRow(BaseModel):
    """A sentence with its windows in seconds, under the names that several benchmarks have for them."""

    video: Text = Field(
        validation_alias=AliasChoices("video_id", "vid", "video", "youtube_id", "video_path", "movie")
    )
    query: Text = Field(validation_alias=AliasChoices("query", "sentence", "question"))
    windows: Annotated[list[tuple[Seconds, Seconds]], BeforeValidator(_windows)] = Field(
        validation_alias=AliasChoices(WINDOWS, "relevant_windows", "gt", "span", "segment", "timestamps"),
        min_length=1,
    )
    id: int | str | None = Field(None, validation_alias=AliasChoices("query_id", "qid", "sample_id", "id"))
    duration: Seconds = Field(
        0.0, validation_alias=AliasChoices("duration", "video_length", "movie_duration", "v_duration")
    )
    family: Text = Field("all", validation_alias=AliasChoices("query_format"))

    def moment(self, row_id: str) -> Moment:
        """`row_id`: for rows without an id. Raises `ValueError` for a window that is not of the video."""
        latest = max(start for start, _ in self.windows)
        if self.duration and latest >= self.duration:
            raise ValueError(f"window: starts at {latest:g}, after the video's {self.duration:g} seconds")
        key = row_id if self.id is None else str(self.id)
        return Moment(key, self.query, self.video, tuple(self.windows), self.duration, self.family)


Row = QVHighlightsRow | CharadesRow | DiDeMoRow | TVRRow | CaptionRow | TACoSRow | NLQRow | WindowsRow


@dataclass(frozen=True, slots=True)
class Format:
    """A benchmark: its layouts, what is one video, and its measures."""

    title: str
    layouts: tuple[type[Row], ...]
    """The published one first."""
    video: str = "(.+)"
    """Pattern of a video's name; its group is the video that the file was cut from."""
    recalls: tuple[tuple[int, float], ...] = ((1, 0.5), (1, 0.7), (5, 0.5), (5, 0.7))
    """k and IoU of each R@k, IoU >= m."""
    highlights: bool = False
    """Whether mAP is measured by range of length, clips have a saliency, and a run writes the file that the
    benchmark's server takes."""
    prefix: str = ""
    """Of the video's name, which its file may lack."""
    general: bool = False
    """Of no one benchmark: only where there is no file of another format."""


FORMATS: Mapping[str, Format] = {
    "qvhighlights": Format(
        "QVHighlights", (QVHighlightsRow,), r"(.+)_[\d.]+_[\d.]+", ((1, 0.5), (1, 0.7)), highlights=True
    ),
    "charades-sta": Format(
        "Charades-STA",
        (CharadesRow, CaptionRow, QVHighlightsRow),
        recalls=((1, 0.3), (1, 0.5), (1, 0.7), (5, 0.5), (5, 0.7)),
    ),
    "didemo": Format("DiDeMo", (DiDeMoRow,), recalls=()),
    "tvr": Format("TVR", (TVRRow, QVHighlightsRow), r"(.*s\d+e[\d-]+)_seg\d+_clip_\d+"),
    "tacos": Format(
        "TACoS",
        (TACoSRow, QVHighlightsRow),
        recalls=((1, 0.1), (1, 0.3), (1, 0.5), (5, 0.1), (5, 0.3), (5, 0.5)),
    ),
    "ego4d-nlq": Format(
        "Ego4D NLQ", (NLQRow, QVHighlightsRow), recalls=((1, 0.3), (1, 0.5), (5, 0.3), (5, 0.5))
    ),
    "activitynet": Format(
        "ActivityNet Captions",
        (CaptionRow, QVHighlightsRow),
        prefix="v_",
        recalls=((1, 0.3), (1, 0.5), (1, 0.7), (5, 0.3), (5, 0.5), (5, 0.7)),
    ),
    "windows": Format(
        "sentences with windows",
        (WindowsRow, CaptionRow),
        prefix="v_",
        recalls=((1, 0.3), (1, 0.5), (1, 0.7), (5, 0.3), (5, 0.5), (5, 0.7)),
        general=True,
    ),
}
ALIASES = {
    "charades": "charades-sta",
    "activitynet-captions": "activitynet",
    "qv-highlights": "qvhighlights",
    "nlq": "ego4d-nlq",
}


def format_name(name: str) -> str:
    """The name in `FORMATS`, of any case. Raises `UsageError` for an unknown one."""
    plain = re.sub(r"[\s_]+", "-", name.strip().lower())
    plain = ALIASES.get(plain, plain)
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
    found = {
        path: kind for path in row_files(folder, (*SUFFIXES, TEXT)) if (kind := _recognized(path, wanted))
    }
    if not found:
        known = FORMATS[wanted[0]].title if format else f"a known format ({', '.join(FORMATS)})"
        others = "; ".join(map(_what_it_is, row_files(folder, (*SUFFIXES, TEXT))[:NAMED]))
        raise UsageError(f"{folder}: no annotation file of {known}; {others or 'there is no file of rows'}")
    own = {path: kind for path, kind in found.items() if not FORMATS[kind[1]].general} or found
    published = {path: kind for path, kind in own.items() if kind[0] == 0} or own
    kept = {path: kind for path, kind in published.items() if _fits(path, split)}
    if not kept:
        names = ", ".join(sorted(path.name for path in published))
        wish = f"with {split!r} in its name" if split else "but of training"
        raise UsageError(
            f"{folder}: no annotation file {wish}; there is {names}; choose with moments:split=PART"
        )
    read = [_read(path, kind, FORMATS[kind].layouts[at]) for path, (at, kind) in kept.items()]
    if len(read) > 1:
        read = [each for each in read if any(one.windows for one in each.moments)] or read
    if len(read) > 1:
        names = ", ".join(sorted(f"{each.path.name} ({each.format})" for each in read))
        raise UsageError(
            f"{folder}: several annotation files: {names}; choose with --format NAME, or moments:split=PART, "
            "a part of a file's name"
        )
    if not read[0].moments:
        first = f": {read[0].unusable[0].reason}" if read[0].unusable else ""
        raise UsageError(f"{read[0].path}: no row can be used{first}")
    return read[0]


def seconds_of(segments: Segments) -> Interval:
    """The seconds of a moment of DiDeMo."""
    return segments[0] * SEGMENT_SECONDS, (segments[1] + 1) * SEGMENT_SECONDS


def segments_of(window: Interval) -> Segments:
    """The moment of DiDeMo that has these seconds."""
    return round(window[0] / SEGMENT_SECONDS), round(window[1] / SEGMENT_SECONDS) - 1


def query_of(moment: Moment, format: str) -> Query:
    """The first gold window is shown; the scorer knows them all. One cluster a source video."""
    name = Path(moment.video)
    stem = name.stem if name.suffix.lower() in VIDEO else name.name
    found = re.fullmatch(FORMATS[format].video, stem)
    return Query(
        query_id=moment.query_id,
        text=moment.text,
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
    clips = ((CLIP_SECONDS * number, CLIP_SECONDS * (number + 1)) for number in range(moment.clips))
    return MomentInput(
        moment.query_id,
        moment.text,
        video=moment.video,
        moments=tuple(seconds_of(each) for each in moments_of(moment.segments)),
        clips=tuple(clips),
    )


def _fits(path: Path, split: str) -> bool:
    name = path.name.lower()
    return split.lower() in name if split else "train" not in name.replace("trainval", "")


def _recognized(path: Path, formats: Sequence[str]) -> tuple[int, str] | None:
    """Place of the layout of a file's first rows among those of a format, and the format.

    The published layouts of all formats come before those that others have converted to; None for a file
    that has no layout of `formats`, or cannot be read.
    """
    rows = list(islice((row for _, row in read_moment_rows(path) if isinstance(row, Mapping)), LOOK_AHEAD))
    ranked = sorted(
        ((at, kind) for kind in formats for at in range(len(FORMATS[kind].layouts))), key=itemgetter(0)
    )
    layouts = ((at, kind, FORMATS[kind].layouts[at]) for at, kind in ranked)
    return next(((at, kind) for at, kind, layout in layouts if any(_has(row, layout) for row in rows)), None)


def _what_it_is(path: Path) -> str:
    """The keys of a file's first row, or why there is none."""
    for place, row in read_moment_rows(path):
        if isinstance(row, UnusableRow):
            return f"{place}: {row.reason}"
        if isinstance(row, Mapping):
            return f"{path.name}: its keys are {', '.join(map(str, list(row)[:8])) or 'none'}"
        return f"{place}: not an object"
    return f"{path.name}: no rows"


def _has(row: Mapping[str, Any], layout: type[Row]) -> bool:
    """Whether a row has every field that the layout needs."""
    for name, info in layout.model_fields.items():
        alias = info.validation_alias
        names = alias.choices if isinstance(alias, AliasChoices) else [name]
        if info.is_required() and not any(each in row for each in names):
            return False
    return True


def _read(path: Path, kind: str, layout: type[Row]) -> Annotations:
    moments: dict[str, Moment] = {}
    unusable: list[UnusableRow] = []
    for number, (place, row) in enumerate(read_moment_rows(path)):
        try:
            if isinstance(row, UnusableRow):
                raise ValueError(row.reason)
            if not isinstance(row, Mapping):
                raise ValueError("row: neither an object nor VIDEO START END##SENTENCE")
            moment = _checked(layout.model_validate(row).moment(str(number)), moments)
        except ValidationError as error:
            unusable.append(UnusableRow(place, validation_reason(error)))
        except ValueError as error:
            unusable.append(UnusableRow(place, str(error)))
        else:
            moments[moment.query_id] = moment
    return Annotations(path, kind, tuple(moments.values()), unusable=tuple(unusable))


def _checked(moment: Moment, known: Mapping[str, Moment]) -> Moment:
    """Raises `ValueError` for a row that cannot be a query."""
    if not moment.text.strip():
        raise ValueError("sentence: empty")
    if not moment.query_id.strip():
        raise ValueError("id: empty")
    if moment.query_id in known:
        raise ValueError(f"id: an earlier row has it: {moment.query_id!r}")
    for start, end in moment.windows:
        if not end > start:
            raise ValueError(f"window: ends before it starts: {start:g} to {end:g}")
    return replace(moment, text=moment.text.strip())
