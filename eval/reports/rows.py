"""The rows of a report: one a system, its seeds pooled; and the section that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.metrics.scored import Scored
from eval.reports.spec import ReportSpec
from eval.runs.records import Query


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

    def row(self, system: str) -> Row | None:
        """The first row of a system."""
        return next((row for row in self.rows if row.system == system), None)


def named_systems(section: Section) -> Section:
    """Without the points of a sweep (`localized@10`), unless there is nothing else."""
    named = tuple(row for row in section.rows if "@" not in row.system)
    return replace(section, rows=named or section.rows)


def ordered_rows(section: Section, order: Sequence[str], *, sweeps: bool = False) -> list[Row]:
    """The systems of `order` in that order, then others by label, without points of sweeps (`axis@value`).

    `sweeps`: with them.
    """
    places = {name: place for place, name in enumerate(order)}
    rows = [row for row in section.rows if sweeps or "@" not in row.system]
    return sorted(rows, key=lambda row: (places.get(row.system, len(places)), row.label))


def sweep_points(section: Section, axes: Sequence[str]) -> list[tuple[str, str, Row]]:
    """Axis, value and row of each point of a sweep (`axis@value`), by axis and by size: 9 before 16, 1x3
    before 2x1."""
    points = [(*row.system.partition("@")[::2], row) for row in section.rows if "@" in row.system]
    known = [point for point in points if point[0] in axes]
    return sorted(known, key=lambda point: (axes.index(point[0]), _size(point[1])))


def _size(value: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in value.split("x"))


def shown(section: Section) -> tuple[Row, ...]:
    """The rows that figures show: those that the task's report names, else the first two."""
    named = tuple(row for row in section.rows if row.system in section.spec.shown)
    return named or section.rows[:2]
