"""How a task is reported (`ReportSpec`), and what a report is of: a row a system, a section a task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, correct
from eval.runs.records import Query, UnusableRow

if TYPE_CHECKING:
    from eval.reports.tables import Table


@dataclass(frozen=True, slots=True)
class Row:
    """One system under one set of settings."""

    label: str
    """The system's name; settings behind it where another row has the same name."""
    system: str
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]
    samples: tuple[Scored, ...]
    """Of all seeds: n counts each, intervals draw videos and are none the narrower for it."""
    folders: tuple[Path, ...]
    commits: tuple[str, ...]
    """Of every session that made it; empty outside a checkout."""
    scorer: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the scorer. `judge`: which one; `judge_model`: its model, where that is not under test."""
    skipped: tuple[str, ...] = ()
    """Why each query that was not asked was not; such queries have no sample here."""


@dataclass(frozen=True, slots=True)
class Section:
    """All runs on one set of queries."""

    benchmark: str
    spec: ReportSpec
    dataset: Mapping[str, str]
    queries: tuple[Query, ...]
    rows: tuple[Row, ...]
    unlike: tuple[str, ...] = ()
    """Names of the runs' `encoders`, such as "reasoner", that were not the same in all of them."""
    unusable: tuple[UnusableRow, ...] = ()
    """Rows of the data that are no query."""

    def row(self, system: str) -> Row | None:
        """The first row of a system."""
        return next((row for row in self.rows if row.system == system), None)


def answered(section: Section) -> Section:
    """Without the queries that no system was asked, and the systems that were asked none."""
    asked = {scored.query.query_id for row in section.rows for scored in row.samples}
    return replace(
        section,
        queries=tuple(query for query in section.queries if query.query_id in asked),
        rows=tuple(row for row in section.rows if row.samples),
    )


def named_systems(section: Section) -> Section:
    """Without the points of the report's sweeps (`localized@10`), unless there is nothing else."""
    named = tuple(row for row in section.rows if not _is_point(row.system, section.spec.axes))
    return replace(section, rows=named or section.rows)


def _is_point(system: str, axes: Sequence[str]) -> bool:
    axis, at, _ = system.partition("@")
    return bool(at) and axis in axes


def sweep_points(section: Section, axes: Sequence[str], base: str = "") -> list[tuple[str, str, Row]]:
    """Axis, value and row of each point of a sweep (`axis@value`), by axis and by size: 9 before 16, 1x3
    before 2x1.

    `base`: the value at which a system that is named as an axis alone counts, where the axis has other
    points; empty: such a one is no point.
    """
    split = [(*row.system.partition("@"), row) for row in section.rows]
    swept = {axis for axis, at, _, _ in split if at and axis in axes}
    points = [(axis, value or base, row) for axis, at, value, row in split if axis in swept and (at or base)]
    return sorted(points, key=lambda point: (axes.index(point[0]), _size(point[1])))


def _size(value: str) -> tuple[float, ...]:
    return tuple(
        float(part) if part.replace(".", "", 1).isdecimal() else 0.0 for part in re.split("[x-]", value)
    )


def base_system(system: str) -> str:
    """The name without the encoder that localizes: `videorag-ren-localized` of
    `videorag-ren-localized+ENCODER`."""
    return system.partition("+")[0]


def compared_rows(section: Section) -> Iterator[tuple[Row, Row, Paired]]:
    """The rows of each pair that the task's report compares, where both were run, with their difference."""
    for pair in section.spec.pairs:
        other = section.row(pair.minus)
        for row in section.rows:
            if other is not None and base_system(row.system) == pair.system and "@" not in row.system:
                found = compare(row.samples, other.samples)
                if found is not None:
                    yield row, other, found


def shown(section: Section) -> tuple[Row, ...]:
    """The rows that figures of few systems show: the first pair that was run, else the first two rows."""
    for one, other, _ in compared_rows(section):
        return other, one
    return section.rows[:2]


CHOSEN = "the option that was chosen is the right one."


@dataclass(frozen=True, slots=True)
class Labels:
    """What things are called in a task's reports."""

    right: str = CHOSEN
    """What a right answer is, as the end of a sentence that begins with "Right:"."""
    clusters: str = "videos"
    """What `Query.cluster` is, in the plural."""
    window: str = "event"
    """What `Query.window` bounds."""
    seen: str = "object shows"
    """What `Query.seen` bounds."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure on the page of all tasks, and what the task's paper printed of that same measure."""

    label: str
    measure: Measure
    about: str = ""
    """What is counted, in a sentence; empty for `RIGHT`, which `Labels.right` describes."""
    printed: Callable[[str], str] | None = None
    """From the name of a solver of ours: `33.6 (EgoFact, table 3)`; empty where the paper has nothing."""


RIGHT = Compared("right", correct)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems that the report compares on the same queries."""

    system: str
    minus: str
    claim: str = ""
    """What a difference above zero shows, as a clause: `the seconds around the event answer more than the
    whole clip`."""


def printed_figure(value: float | None, place: str) -> str:
    """`33.6 (EgoFact, table 3)`; empty for None."""
    return "" if value is None else f"{value:.1f} ({place})"


@dataclass(frozen=True, slots=True)
class ReportSpec:
    """The report of one task."""

    tables: Callable[[Section], list[Table]]
    """Tables without a row are left out; those with records are written as CSV too."""
    draw: Callable[[Section, Path], list[str]]
    """Writes PNG files into a folder and gives their names; one named as a table is shown below it."""
    note: str
    """What holds for all tables, in one paragraph."""
    labels: Labels = Labels()
    compared: tuple[Compared, ...] = (RIGHT,)
    paper_note: str = ""
    """What the paper measured with: why its figures are not to be compared."""
    order: tuple[str, ...] = ()
    """Systems that come first, in this order."""
    controls: tuple[str, ...] = ()
    """Systems that come last, in this order."""
    asked: str = ""
    """What the queries ask, as the end of a sentence: `which of six options is right`."""
    pairs: tuple[Pair, ...] = ()
    """Systems that are compared, the one that matters most first."""
    axes: tuple[str, ...] = ()
    """Of sweeps: a system `axis@value` is shown in their tables and figures alone."""
