"""What a report is of: a row a system, a section a task; and a report as data, a task's `report.toml`:

    asked = "..."                    # what was asked, for the opening sentences
    [[pairs]]                        # systems that are compared: system, minus, claim
    [printed.NAME]                   # figures of a paper by system or model, with their place in it
    [[tables]]                       # in the order of the page
    [[figures]]                      # each is shown below the table of its name

Measures are named: those of `eval.metrics.tables.MEASURES`, and a task's own. A name that does not exist is
refused when the file is read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Scored
from eval.reports.tables import NOTHING
from eval.runs.records import Query, UnusableRow

if TYPE_CHECKING:
    from eval.reports.described import Report

OVERALL = "overall"

Figure = Annotated[float, AfterValidator(lambda value: None if isnan(value) else value)]
"""`nan` where the paper has none."""


def base_system(system: str) -> str:
    """The name without the encoder that localizes: `videorag-ren-localized` of
    `videorag-ren-localized+ENCODER`."""
    return system.partition("+")[0]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Printed(_Data):
    """What a paper printed, in percent unless a column is an amount, on other data with other models."""

    place: str
    """`EgoFact, table 3`."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Figure, ...]]
    """The figures of each of the paper's systems, by its model or by the name of ours for it."""
    decimals: int = 1
    datasets: bool = False
    """The columns are data sets; the figure over all queries of the one that was run counts."""

    @model_validator(mode="after")
    def _whole(self) -> Printed:
        short = [name for name, row in self.rows.items() if len(row) != len(self.columns)]
        if short:
            raise ValueError(f"{self.place}: {', '.join(short)}: no row with all columns")
        return self

    def on(self, dataset: Sequence[str]) -> Printed | None:
        """What counts for the data of a report; None where the paper has other data alone."""
        if not self.datasets:
            return self
        column = next((name for name in self.columns if name in dataset), None)
        if column is None:
            return None
        at = self.columns.index(column)
        rows = {name: (row[at],) for name, row in self.rows.items() if row[at] is not None}
        return Printed(place=f"{self.place}, {column}", columns=(OVERALL,), rows=rows)

    def of(self, system: str) -> Mapping[str, float | None]:
        """The figures of a row, or of a system by column; empty for one that the paper does not have."""
        row = self.rows.get(base_system(system))
        return {} if row is None else dict(zip(self.columns, row, strict=True))

    def cell(self, system: str, column: str) -> str:
        """One figure as printed."""
        value = self.of(system).get(column)
        return NOTHING if value is None else f"{value:,.{0 if value > 100 else self.decimals}f}"


class TableData(_Data):
    """One table. `note` may hold `{chance}` (percent), `{clusters}`, `{videos}`, `{tokens}` (how they were
    counted), `{unjudged}`, `{families[NAME]}` (queries), and the task's own facts."""

    name: str
    title: str
    note: str = ""
    kind: Literal["measures", "queries", "pairs", "agreement"] = "measures"
    measures: tuple[str, ...] = ()
    """Of pairs: those that are compared, accuracy by itself; of agreement: the rules."""
    by: tuple[str, ...] = ()
    """A line for each `family` of queries, for each `case` (all, right and wrong answers), for each value of
    a field of the evidence, of each system. Of pairs: `family` alone."""
    across: str = ""
    """The first measure in a column for each family, or for each value of a field; and one over all."""
    systems: tuple[str, ...] = ()
    """Those that the table shows, in this order: what a reader needs for its question; without: all.
    The page names systems that no table shows."""
    sweep: tuple[str, ...] = ()
    """Lines are the points `axis@value` of these axes."""
    base: str = ""
    """The value at which a system that is named as an axis alone counts."""
    printed: str = ""
    """Rows of a paper below ours; with `case` a column beside them."""
    shown: bool = False
    """Whether only the systems that figures show have lines, as in a table of many lines for each."""


class FigureData(_Data):
    """One figure."""

    name: str
    title: str = ""
    kind: Literal["bars", "groups", "counts", "costs", "sweep", "reliability", "own"] = "bars"
    """bars: a panel for each case of the answer. groups: a panel for each measure, over values of `across`.
    counts: how many queries have each value of `across`. costs: the first measure over the second."""
    measures: tuple[str, ...] = ()
    groups: Literal["family", "measure"] = "family"
    """What stands on the axis of bars: families, in a row of panels for each measure, or the measures."""
    across: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    sweep: tuple[str, ...] = ()
    base: str = ""
    label: str = "%"


class Pair(_Data):
    """Two systems that the report compares on the same queries."""

    system: str
    minus: str
    claim: str = ""
    """What a difference above zero shows, as a clause: `the seconds around the event answer more than the
    whole clip`."""


class Labels(_Data):
    """What things are called in a task's reports."""

    right: str = "the option that was chosen is the right one."
    """What a right answer is, as the end of a sentence that begins with "Right:"."""
    clusters: str = "videos"
    """What `Query.cluster` is, in the plural."""
    window: str = "event"
    """What `Query.window` bounds."""
    seen: str = "object shows"
    """What `Query.seen` bounds."""


class ReportData(_Data):
    """The content of a `report.toml`."""

    asked: str = ""
    """What the queries ask, as the end of a sentence: `which of six options is right`."""
    note: str = ""
    """What holds for all tables, in one paragraph; may hold `{mark}`."""
    labels: Labels = Labels()
    order: tuple[str, ...] = ()
    """Systems that come first, in this order."""
    controls: tuple[str, ...] = ()
    """Systems that come last, in this order."""
    values: Mapping[str, tuple[str, ...]] = {}
    """The order of families, and of values of fields of the evidence; others follow by name."""
    pairs: tuple[Pair, ...] = ()
    """The pairs that are compared; the one that matters most comes first."""
    printed: Mapping[str, Printed] = {}
    tables: tuple[TableData, ...] = ()
    figures: tuple[FigureData, ...] = ()

    @property
    def parts(self) -> tuple[TableData | FigureData, ...]:
        """Tables and figures."""
        return (*self.tables, *self.figures)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of sweeps. A system `axis@value` is shown in their tables and figures alone."""
        return tuple(axis for part in self.parts for axis in part.sweep)


def read_report(package: str) -> ReportData:
    """The `report.toml` in `package`. Raises `ValueError` for a key or a kind that does not exist."""
    text = resources.files(package).joinpath("report.toml").read_text(encoding="utf-8")
    return ReportData.model_validate(tomllib.loads(text))


@dataclass(frozen=True, slots=True)
class Row:
    """A run of one system."""

    label: str
    """The system's name; settings behind it where another row has the same name."""
    system: str
    settings: Mapping[str, Any]
    samples: tuple[Scored, ...]
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
    """Leave out the queries that no system was asked, and the systems that were asked none."""
    asked = {scored.query.query_id for row in section.rows for scored in row.samples}
    return replace(
        section,
        queries=tuple(query for query in section.queries if query.query_id in asked),
        rows=tuple(row for row in section.rows if row.samples),
    )


def named_systems(section: Section) -> Section:
    """Leave out the points of the report's sweeps (`localized@10`), unless all are points."""
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
