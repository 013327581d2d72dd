"""A report as data: a task's `report.toml` says its tables, figures, pairs, and what papers printed.

    asked = "..."                    # what was asked, for the opening sentences
    [[pairs]]                        # systems that are compared: system, minus, claim
    [printed.NAME]                   # figures of a paper by system, with their place in it
    [[tables]]                       # in the order of the page
    [[figures]]                      # each is shown below the table of its name
    [[compared]]                     # measures on the page of all tasks

Measures are named: those of `eval.metrics.tables.MEASURES`, and a task's own. A name that does not exist is
refused when the file is read.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired
from eval.metrics.scored import Measure, Scored
from eval.metrics.tables import CASES, MEASURES, estimate, families
from eval.reports.drawing import draw, draw_sweeps, draw_systems, grouped_bars, legend_below
from eval.reports.measured import calibration_table, draw_reliability, localization_table, reliability_table
from eval.reports.spec import (
    Compared,
    Labels,
    Pair,
    ReportSpec,
    Row,
    Section,
    base_system,
    compared_rows,
    named_systems,
    printed_figure,
    shown,
    sweep_points,
)
from eval.reports.tables import MARK, NOTHING, Cell, Line, Table, by_family, measured, paired_table, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERALL = "overall"
CASE_NAMES = {"all": "all queries", "right": "answered right", "wrong": "answered wrong"}


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Printed(_Data):
    """What a paper printed, in percent, on other data with other models."""

    place: str
    """`EgoFact, table 3`."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float | None, ...]]
    """The figures of each of the paper's systems, by the name of ours for it."""
    decimals: int = 1

    def of(self, system: str) -> Mapping[str, float | None]:
        """The figures of a system by column; empty for one that the paper does not have."""
        row = self.rows.get(base_system(system))
        return {} if row is None else dict(zip(self.columns, row, strict=True))

    def cell(self, system: str, column: str) -> str:
        """One figure as printed."""
        value = self.of(system).get(column)
        return NOTHING if value is None else f"{value:.{self.decimals}f}"


class TableData(_Data):
    """One table. `note` may hold `{chance}` (percent), `{clusters}`, `{videos}`, and the task's own facts."""

    name: str
    title: str
    note: str = ""
    kind: Literal["measures", "queries", "pairs", "localization", "calibration", "reliability"] = "measures"
    measures: tuple[str, ...] = ()
    by: tuple[Literal["family", "case"], ...] = ()
    """A line for each family of queries, and for all, right and wrong answers, of each system."""
    across: bool = False
    """The one measure in a column for each family, and one over all."""
    sweep: tuple[str, ...] = ()
    """Lines are the points `axis@value` of these axes."""
    base: str = ""
    """The value at which a system that is named as an axis alone counts."""
    printed: str = ""
    shown: bool = False
    """Whether only the systems that figures show have lines, as in a table of many lines for each."""


class FigureData(_Data):
    """One figure."""

    name: str
    title: str = ""
    kind: Literal["bars", "sweep", "systems", "reliability"] = "bars"
    measures: tuple[str, ...] = ()
    groups: Literal["family", "measure"] = "family"
    """What stands on the axis of bars: families, in a row of panels for each measure, or the measures."""
    sweep: tuple[str, ...] = ()
    base: str = ""
    label: str = "%"


class ComparedData(_Data):
    """A measure on the page of all tasks, with the column of a printed table beside it."""

    label: str
    measure: str = "accuracy"
    about: str = ""
    printed: str = ""
    column: str = OVERALL


class PairData(_Data):
    """See `eval.reports.spec.Pair`."""

    system: str
    minus: str
    claim: str = ""


class ReportData(_Data):
    """The content of a `report.toml`."""

    asked: str = ""
    note: str = ""
    paper_note: str = ""
    labels: Mapping[str, str] = {}
    order: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    pairs: tuple[PairData, ...] = ()
    printed: Mapping[str, Printed] = {}
    tables: tuple[TableData, ...] = ()
    figures: tuple[FigureData, ...] = ()
    compared: tuple[ComparedData, ...] = ()


Facts = Callable[[Section], Mapping[str, str]]


def load_report(
    package: str, measures: Mapping[str, Measure] | None = None, facts: Facts = lambda _: {}
) -> ReportSpec:
    """The report of the task in `package`, of its `report.toml`.

    `measures`: the task's own, by name. `facts`: what its notes may hold, by name, of a section. Raises
    `ValueError` for a file that names a measure, a printed table or a key that does not exist.
    """
    text = resources.files(package).joinpath("report.toml").read_text(encoding="utf-8")
    data, known = ReportData.model_validate(tomllib.loads(text)), {**MEASURES, **(measures or {})}
    lists = [table.measures for table in data.tables] + [figure.measures for figure in data.figures]
    printed = [table.printed for table in data.tables] + [one.printed for one in data.compared]
    named, tables = {one.measure for one in data.compared}.union(*lists), set(filter(None, printed))
    unknown = sorted((named - known.keys()) | (tables - data.printed.keys()))
    if unknown:
        raise ValueError(f"{package}: report.toml names {', '.join(unknown)}, which does not exist")
    report = _Report(data, known, facts)
    own = {one.name: data.labels[one.name] for one in fields(Labels) if one.name in data.labels}
    return ReportSpec(
        report.tables,
        report.figures,
        data.note.format(mark=MARK),
        labels=Labels(**own),
        compared=tuple(map(report.compared, data.compared)),
        paper_note=data.paper_note,
        order=data.order,
        controls=data.controls,
        asked=data.asked,
        pairs=tuple(Pair(one.system, one.minus, one.claim) for one in data.pairs),
    )


@dataclass(frozen=True)
class _Report:
    data: ReportData
    known: Mapping[str, Measure]
    facts: Facts

    def compared(self, one: ComparedData) -> Compared:
        printed = self.data.printed.get(one.printed)

        def text(system: str) -> str:
            assert printed is not None, "it is asked where there is one"
            return printed_figure(printed.of(system).get(one.column), printed.place)

        return Compared(one.label, self.known[one.measure], one.about, text if printed else None)

    # Tables

    def tables(self, section: Section) -> list[Table]:
        return [self._table(table, section) for table in self.data.tables]

    def _table(self, table: TableData, section: Section) -> Table:
        named = named_systems(section)
        if table.kind == "measures":
            return self._measures(table, section)
        if table.kind == "queries":
            return self._queries(table, section)
        if table.kind == "pairs":
            keys, note, clusters = (
                ("system", "minus"),
                self._note(table, section),
                section.spec.labels.clusters,
            )
            pairs: dict[tuple[str, ...], Paired] = {
                (one.label, other.label): found for one, other, found in compared_rows(section)
            }
            return paired_table(table.name, table.title, note, keys, pairs, clusters)
        return {
            "localization": localization_table,
            "calibration": calibration_table,
            "reliability": reliability_table,
        }[table.kind](named)

    def _note(self, table: TableData, section: Section) -> str:
        sizes = [len(query.options) for query in section.queries if query.options]
        chance = percent(sum(1 / size for size in sizes) / len(sizes)) if sizes else NOTHING
        return table.note.format(
            chance=chance,
            clusters=len({query.cluster for query in section.queries}),
            videos=len({query.video for query in section.queries}),
            **self.facts(section),
        )

    def _lines(self, table: TableData, section: Section) -> Iterator[tuple[Row, Line]]:
        if table.sweep:
            for axis, value, row in sweep_points(section, table.sweep, table.base):
                yield row, Line({"system": axis, "at": value}, row.samples)
            return
        named = named_systems(section)
        for row in shown(named) if table.shown else named.rows:
            for labels, samples in _parts(row.samples, table.by):
                yield row, Line({"system": row.label, **labels}, samples)

    def _measures(self, table: TableData, section: Section) -> Table:
        every = [scored for row in section.rows for scored in row.samples]
        columns = {name: self.known[name] for name in table.measures if _applies(self.known[name], every)}
        key = "measure"
        if not columns:
            return Table(table.name, table.title, "", (), (), ())
        if table.across:
            (measure,) = columns.values()
            names = families(every)
            columns, key = by_family(measure, names, OVERALL), "family"
        printed = self.data.printed.get(table.printed)
        beside = _beside(table, columns, printed)
        body: list[tuple[str, ...]] = []
        records: list[dict[str, Cell]] = []
        keys: Sequence[str] = ()
        for row, line in self._lines(table, section):
            cells, own = measured([line], columns, key=key, count=True)
            paper = printed.of(row.system) if printed else {}
            if table.across:
                own = [each | {MARK: _share(paper.get(str(each[key])))} for each in own]
            places = [line.keys["case"]] if "case" in table.by else beside
            end = tuple(printed.cell(row.system, place) for place in places) if printed and beside else ()
            body += [(*each, *end) for each in cells]
            records += own
            keys = tuple(line.keys)
        head = (*keys, *columns, "n", *(f"{MARK}: {name}" for name in beside))
        return Table(table.name, table.title, self._note(table, section), head, tuple(body), tuple(records))

    def _queries(self, table: TableData, section: Section) -> Table:
        """How many queries there are of each family, beside the paper's count."""
        counts, printed = Counter(query.family for query in section.queries), self.data.printed[table.printed]
        paper = printed.of("queries")
        order = [*sorted(counts), *(("all",) if len(counts) > 1 else ())]
        counts["all"] = len(section.queries)
        body = tuple((name, str(counts[name]), printed.cell("queries", name)) for name in order)
        records: list[dict[str, Cell]] = [
            {"family": name, "queries": counts[name], MARK: paper.get(name)} for name in sorted(counts)
        ]
        head, note = ("family", "queries", MARK), self._note(table, section)
        return Table(table.name, table.title, note, head, body, tuple(records))

    # Figures

    def figures(self, section: Section, folder: Path) -> list[str]:
        """PNG files into `folder`; gives their names. Figures that do not apply are left out."""
        made: list[str] = []
        for figure in self.data.figures:
            path = folder / f"{figure.name}.png"
            columns = {name: self.known[name] for name in figure.measures}
            if figure.kind == "reliability":
                made += draw_reliability(shown(named_systems(section)), folder)
            elif figure.kind == "sweep":
                made += draw_sweeps(path, figure.title, section, figure.sweep, columns, {}, figure.base)
            elif figure.kind == "systems":
                ours = {row.system for row in section.rows} - set(self.data.controls)
                made += draw_systems(path, figure.title, section.rows, ours, figure.label, width=8.0)
            else:
                made += _bars(path, figure, shown(named_systems(section)), columns)
        return made


def _beside(table: TableData, columns: Mapping[str, Measure], printed: Printed | None) -> Sequence[str]:
    """The columns that have the paper's figures beside them."""
    if printed is None:
        return ()
    if "case" in table.by:
        return [name for name in table.measures[:1] if name in columns]
    return [name for name in columns if name in printed.columns]


def _share(value: float | None) -> float | None:
    return None if value is None else value / 100


def _parts(
    samples: Sequence[Scored], by: Sequence[str]
) -> Iterator[tuple[Mapping[str, str], Sequence[Scored]]]:
    for family in families(samples) if "family" in by else [None]:
        for case, belongs in CASES.items() if "case" in by else [("", None)]:
            labels = {**({"family": family} if family else {}), **({"case": case} if case else {})}
            yield (
                labels,
                [
                    each
                    for each in samples
                    if family in (None, each.query.family) and (belongs is None or belongs(each))
                ],
            )


def _bars(path: Path, figure: FigureData, rows: Sequence[Row], columns: Mapping[str, Measure]) -> list[str]:
    """A row of panels for each measure (or one for all measures), a panel for each case of the answer."""
    every = [scored for row in rows for scored in row.samples]
    applied = {name: one for name, one in columns.items() if _applies(one, every)}
    if not applied:
        return []
    lines: Mapping[str, Mapping[str, Measure]] = {"": applied}
    if figure.groups == "family":
        lines = {name: _families_of(one, every) for name, one in applied.items()}

    def paint(canvas: Figure) -> None:
        canvas.suptitle(figure.title)
        panels = canvas.subplots(len(lines), len(CASES), squeeze=False, sharey=True)
        for (name, groups), line in zip(lines.items(), panels, strict=True):
            for (case, belongs), axes in zip(CASES.items(), line, strict=True):
                bars: dict[str, list[Estimate | None]] = {
                    row.label: [
                        estimate(one, [each for each in row.samples if belongs(each)])
                        for one in groups.values()
                    ]
                    for row in rows
                }
                grouped_bars(axes, [group.replace("-", "\n") for group in groups], bars)
                axes.set_title(f"{name}: {CASE_NAMES[case]}" if name else CASE_NAMES[case])
        legend_below(canvas, panels[0][0])

    draw(path, (11, 1.2 + 2.8 * len(lines)), paint)
    return [path.name]


def _families_of(measure: Measure, samples: Sequence[Scored]) -> Mapping[str, Measure]:
    """The measure of each family that it applies to, and of all."""
    names = [name for name in families(samples) if _applies(measure, samples, name)]
    return by_family(measure, names, "all")


def _applies(measure: Measure, samples: Sequence[Scored], family: str | None = None) -> bool:
    """Whether it applies to a sample, of one family or of any."""
    return any(family in (None, each.query.family) and measure(each) is not None for each in samples)


GENERIC = load_report("eval.reports")
"""The report of a task that has none of its own: accuracy by family, localization and calibration."""
