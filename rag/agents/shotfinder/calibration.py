"""How far the measured tone, style, sound and copies can be believed on one's own videos.

The classifiers were fitted on rendered videos. Over labelled ones a table counts how often each true class
was measured as each class; with it a measured class becomes a probability of the class that is asked for,

    P(true | measured) = (n(measured, true) + 1) / (n(measured) + number of classes),

and "unknown" where none is likely enough. The accuracy of that rule is by cross-validation: each video is
judged by a table of the other parts' videos.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from corpora.records import AudioClass, Style, Tone
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.library import Library

Property = Literal["color", "style", "audio", "copies"]
CLASSES: Mapping[Property, tuple[str, ...]] = {
    "color": get_args(Tone),
    "style": get_args(Style),
    "audio": get_args(AudioClass),
    "copies": ("copy", "other"),
}
LIKELY = 0.5
"""Probability from which a class is taken for the true one."""
UNLIKELY = 0.1
"""Probability up to which a class is ruled out."""
FOLDS = 5
SCHEMA: Literal["rag.calibration/1"] = "rag.calibration/1"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled stretch of a video, and what was measured of it."""

    kind: Property
    video: str
    """Its path, or both of a pair: what cross-validation keeps together."""
    true: str
    measured: str


class Table(BaseModel):
    """What was measured of the labelled stretches of one property."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    counts: dict[str, dict[str, int]]
    """By measured class, then by true class."""
    n: int
    videos: int
    measured_right: float
    """Share whose measured class is the label."""
    interval: tuple[float, float]
    """95 %, Wilson, of `measured_right`."""
    decided: int
    """Of n, those that the calibrated rule does not call unknown, by cross-validation."""
    decided_right: float | None
    """Share of these that are right; None without any."""
    decided_interval: tuple[float, float] | None

    def probability(self, measured: str, wanted: str, classes: Sequence[str]) -> float:
        """P(wanted | measured), in (0, 1)."""
        return _probability(self.counts, measured, wanted, classes)


class Calibration(BaseModel):
    """The file that `rag calibrate` writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal["rag.calibration/1"] = Field(SCHEMA, alias="schema")
    encoder: str
    """Fingerprint of the image encoder that the styles were measured with; empty without one."""
    tables: dict[Property, Table]

    def probability(self, kind: Property, measured: str, wanted: str) -> float | None:
        """P(wanted | measured); None for a property without labels."""
        table = self.tables.get(kind)
        return None if table is None else round(table.probability(measured, wanted, CLASSES[kind]), 6)


def read_calibration(path: Path) -> Calibration:
    """Raises `UsageError` for a file that is missing or no calibration."""
    try:
        return Calibration.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read; write one with 'rag calibrate'") from error
    except ValidationError as error:
        raise UsageError(f"{path}: no file of 'rag calibrate'") from error


def calibrate(labelled: Sequence[Labelled], encoder: str) -> Calibration:
    """Tables of all properties that have labels."""
    by_kind = {kind: [one for one in labelled if one.kind == kind] for kind in CLASSES}
    tables = {kind: _table(kind, rows) for kind, rows in by_kind.items() if rows}
    return Calibration(encoder=encoder, tables=tables)


def _table(kind: Property, rows: Sequence[Labelled]) -> Table:
    videos = sorted({row.video for row in rows})
    fold = {video: at % FOLDS for at, video in enumerate(videos)}
    verdicts = []
    for part in range(FOLDS):
        others = _counts(row for row in rows if fold[row.video] != part)
        for row in rows:
            if fold[row.video] == part and (said := _decided(others, row.measured, CLASSES[kind])):
                verdicts.append(said == row.true)
    right = sum(row.measured == row.true for row in rows)
    return Table(
        counts=_counts(rows),
        n=len(rows),
        videos=len(videos),
        measured_right=round(right / len(rows), 6),
        interval=wilson(right, len(rows)),
        decided=len(verdicts),
        decided_right=round(sum(verdicts) / len(verdicts), 6) if verdicts else None,
        decided_interval=wilson(sum(verdicts), len(verdicts)) if verdicts else None,
    )


def _counts(rows: Iterable[Labelled]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        line = counts.setdefault(row.measured, {})
        line[row.true] = line.get(row.true, 0) + 1
    return counts


def _probability(
    counts: Mapping[str, Mapping[str, int]], measured: str, wanted: str, classes: Sequence[str]
) -> float:
    line = counts.get(measured, {})
    return (line.get(wanted, 0) + 1) / (sum(line.values()) + len(classes))


def _decided(counts: Mapping[str, Mapping[str, int]], measured: str, classes: Sequence[str]) -> str:
    """The likeliest class; empty for unknown."""
    best = max(classes, key=lambda name: _probability(counts, measured, name, classes))
    return best if _probability(counts, measured, best, classes) > LIKELY else ""


def wilson(right: int, n: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    z, share = 1.959964, right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return round(max(0.0, middle - half), 6), round(min(1.0, middle + half), 6)


class Label(BaseModel):
    """One row of a file of labels; what is left out is not labelled."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    path: Path
    start: Annotated[float, Field(ge=0)] = 0.0
    end: float | None = None
    color: Tone | None = None
    style: Style | None = None
    audio: AudioClass | None = None
    copy_of: Path | None = None

    @property
    def classes(self) -> dict[Property, str]:
        """What is labelled, by property."""
        labels: dict[Property, str | None] = {"color": self.color, "style": self.style, "audio": self.audio}
        return {kind: true for kind, true in labels.items() if true is not None}

    @model_validator(mode="after")
    def _in_order(self) -> Label:
        if self.end is not None and self.end < self.start:
            raise ValueError("start and end are seconds, start not after end")
        return self


def read_labels(file: Path, folder: Path) -> list[Label]:
    """Rows of a CSV file whose header has names of the fields of `Label`, of which only `path` is needed;
    paths below `folder`.

    Raises `UsageError` with the line of a row that cannot be used.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file}: cannot be read as CSV: {error}") from error
    if not rows:
        raise UsageError(f"{file}: no rows with a header of these columns: {', '.join(Label.model_fields)}")
    found = []
    for at, row in enumerate(rows, start=2):
        cells = {str(name): text for name, cell in row.items() if (text := str(cell or "").strip())}
        try:
            label = Label.model_validate(cells)
        except ValidationError as error:
            first = error.errors()[0]
            raise UsageError(f"{file}:{at}: {' '.join(map(str, first['loc']))}: {first['msg']}") from error
        placed = {name: folder / path for name in ("path", "copy_of") if (path := getattr(label, name))}
        if missing := [path for path in placed.values() if not path.is_file()]:
            raise UsageError(f"{file}:{at}: no file {missing[0]}")
        found.append(label.model_copy(update=placed))
    return found


def measure_labels(library: Library, labels: Sequence[Label]) -> list[Labelled]:
    """What the library measured of each label; without a measurement there is none.

    Tone and style are of the shot in the middle of the stretch, the sound is that of most of its seconds. Of
    the labelled videos every pair is a copy or another video, as far as `copy_of` is filled at all.
    """
    found = []
    for label in labels:
        video_id = library.video_id(str(label.path))
        duration = library.engine.reader.video(video_id).duration
        start, end = label.start, duration if label.end is None else label.end
        middle = (start + end) / 2
        shot = next((one for one in library.shots(video_id) if one.start <= middle < one.end), None)
        track = library.sound_track(video_id)
        seconds = track.classes[int(start) : math.ceil(end)] if track is not None else ()
        classes = Counter(one for one in seconds if one is not None)
        measured: dict[Property, str | None] = {
            "color": None if shot is None else shot.tone,
            "style": None if shot is None else shot.style,
            "audio": max(sorted(classes), key=classes.__getitem__) if classes else None,
        }
        found += [
            Labelled(kind, str(label.path), true, said)
            for kind, true in label.classes.items()
            if (said := measured[kind]) is not None
        ]
    return [*found, *_pairs(library, labels)]


def _pairs(library: Library, labels: Sequence[Label]) -> list[Labelled]:
    if not any(label.copy_of for label in labels):
        return []
    true = {frozenset((str(label.path), str(label.copy_of))) for label in labels if label.copy_of}
    paths = sorted({path for pair in true for path in pair} | {str(label.path) for label in labels})
    ids = {path: library.video_id(path) for path in paths}
    reported = {path: {one.video_id for one in library.near_duplicates(ids[path])} for path in paths}
    return [
        Labelled(
            "copies",
            f"{one} {other}",
            "copy" if frozenset((one, other)) in true else "other",
            "copy" if ids[other] in reported[one] else "other",
        )
        for one, other in combinations(paths, 2)
        if ids[one] != ids[other]
    ]
