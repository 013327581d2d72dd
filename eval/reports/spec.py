"""What a report is of: a row a system, a section a task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Scored
from eval.reports.report_file import base_system
from eval.runs.records import Query, UnusableRow

if TYPE_CHECKING:
    from eval.reports.described import Report


@dataclass(frozen=True, slots=True)
class Row:
    """A run of one system."""

    label: str
    """The system's name; settings behind it where another row has the same name."""
    system: str
    settings: Mapping[str, Any]
    samples: tuple[Scored, ...]
    folder: Path
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
    spec: Report
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
    named = tuple(row for row in section.rows if not _is_point(row.system, section.spec.data.axes))
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


def compared_rows(section: Section) -> Iterator[tuple[Row, Row, Paired]]:
    """The rows of each pair that the task's report compares, where both were run, with their difference."""
    for pair in section.spec.data.pairs:
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
