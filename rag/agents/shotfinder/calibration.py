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
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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


@dataclass(frozen=True, slots=True)
class Label:
    """One row of a file of labels; what is empty is not labelled."""

    path: Path
    start: float | None
    end: float | None
    classes: Mapping[Property, str]
    copy_of: Path | None


COLUMNS = ("path", "start", "end", "color", "style", "audio", "copy_of")


def read_labels(file: Path, folder: Path) -> list[Label]:
    """Rows of a CSV file with a header of `COLUMNS`, of which only `path` is needed; paths below `folder`.

    Raises `UsageError` with the line of a row that cannot be used.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file}: cannot be read as CSV: {error}") from error
    names = [str(name) for name in rows[0]] if rows else []
    if "path" not in names or not {*names} <= {*COLUMNS}:
        raise UsageError(f"{file}: no rows with a header of these columns: {', '.join(COLUMNS)}")
    return [_label(row, f"{file}:{at}", folder) for at, row in enumerate(rows, start=2)]


def _label(row: Mapping[str, str | None], where: str, folder: Path) -> Label:
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    classes: dict[Property, str] = {}
    for kind in ("color", "style", "audio"):
        if (said := cells[kind]) and said not in CLASSES[kind]:
            known = ", ".join(CLASSES[kind])
            raise UsageError(f"{where}: {kind} {said!r} is none of {known}")
        if said:
            classes[kind] = said
    try:
        start, end = (float(cells[name]) if cells[name] else None for name in ("start", "end"))
    except ValueError as error:
        raise UsageError(f"{where}: start and end are seconds") from error
    if not 0 <= (first := start or 0.0) <= (first if end is None else end) < math.inf:
        raise UsageError(f"{where}: start and end are seconds, start not after end")
    if cells["copy_of"] and not (folder / cells["copy_of"]).is_file():
        raise UsageError(f"{where}: no file {cells['copy_of']!r} in {folder}")
    if not cells["path"] or not (folder / cells["path"]).is_file():
        raise UsageError(f"{where}: no file {cells['path']!r} in {folder}")
    copy_of = folder / cells["copy_of"] if cells["copy_of"] else None
    return Label(folder / cells["path"], start, end, classes, copy_of)


def measure_labels(library: Library, labels: Sequence[Label]) -> list[Labelled]:
    """What the library measured of each label; without a measurement there is none.

    Tone and style are of the shot in the middle of the stretch, the sound is that of most of its seconds. Of
    the labelled videos every pair is a copy or another video, as far as `copy_of` is filled at all.
    """
    found = []
    for label in labels:
        video_id = library.video_id(str(label.path))
        duration = library.engine.reader.video(video_id).duration
        start, end = label.start or 0.0, duration if label.end is None else label.end
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
