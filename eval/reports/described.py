"""From a `report.toml` (`eval.reports.spec`) to tables and figures of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.metrics.agreement import Agreement, agreement_of
from eval.metrics.calibration import brier, expected_calibration_error
from eval.metrics.intervals import Estimate
from eval.metrics.pairing import Paired, compare
from eval.metrics.scored import Measure, Scored, restricted, sample_field, unscored_reason
from eval.metrics.tables import CASES, MEASURES
from eval.reports.drawing import draw_bars, draw_costs, draw_counts, draw_reliability, draw_sweeps
from eval.reports.spec import (
    OVERALL,
    FigureData,
    ReportData,
    Row,
    Section,
    TableData,
    base_system,
    compared_rows,
    named_systems,
    read_report,
    shown,
    sweep_points,
)
from eval.reports.tables import (
    MARK,
    NOTHING,
    Cell,
    Column,
    Line,
    Table,
    agreement_table,
    as_column,
    measured,
    paired_table,
    percent,
)

CALIBRATION: Mapping[str, Measure | Column] = {
    "mean confidence": lambda scored: scored.sample.confidence,
    "expected calibration error": Column(brier, "share", over=expected_calibration_error),
}
CASE_NAMES = {"all": "all queries", "right": "answered right", "wrong": "answered wrong"}

Facts = Callable[[Section], Mapping[str, object]]
Rule = Callable[[Scored], Iterable[tuple[bool | None, bool | None]]]
"""Verdict and truth of each item of a sample, such as a candidate; None where there is none."""
OwnPairs = Callable[[Section], Mapping[tuple[str, ...], Paired]]
"""By system, minus and measure."""
OwnFigure = Callable[[Section, Path, str], list[str]]
"""Writes a figure with a title to a path; gives its name, or nothing without data."""


def load_report(
    package: str,
    measures: Mapping[str, Measure | Column] | None = None,
    *,
    rules: Mapping[str, Rule] | None = None,
    pairs: Mapping[str, OwnPairs] | None = None,
    figures: Mapping[str, OwnFigure] | None = None,
    facts: Facts = lambda _: {},
) -> Report:
    """The report of the task in `package`, of its `report.toml`.

    What the task computes itself, by name: `measures`; `rules` of tables of agreement; `pairs` of
    the table of that name; `figures`; and `facts`, what its notes may hold of a section. Raises `ValueError`
    for a file that names a measure, a rule, a printed table, a figure or a key that does not exist.
    """
    data = read_report(package)
    known = {name: as_column(one) for name, one in {**MEASURES, **CALIBRATION, **(measures or {})}.items()}
    report = Report(data, known, rules or {}, pairs or {}, figures or {}, facts)
    named = {(name, table.kind == "agreement") for table in data.tables for name in table.measures}
    named |= {(name, False) for figure in data.figures for name in figure.measures}
    unknown = {name for name, rule in named if name not in (report.rules if rule else known)}
    unknown |= {table.printed for table in data.tables} - {""} - data.printed.keys()
    unknown |= {one.name for one in data.figures if one.kind == "own"} - report.own_figures.keys()
    if unknown:
        raise ValueError(f"{package}: report.toml names {', '.join(sorted(unknown))}, which does not exist")
    return report


@dataclass(frozen=True)
class Report:
    """The report of one task."""

    data: ReportData
    known: Mapping[str, Column]
    rules: Mapping[str, Rule]
    own_pairs: Mapping[str, OwnPairs]
    own_figures: Mapping[str, OwnFigure]
    facts: Facts

    # Tables

    def tables(self, section: Section) -> list[Table]:
        """Tables without a row are left out; those with records are written as CSV too."""
        return [self._table(table, section) for table in self.data.tables]

    def _table(self, table: TableData, section: Section) -> Table:
        kinds = {
            "measures": self._measures,
            "queries": self._queries,
            "pairs": self._pairs,
            "agreement": self._agreement,
        }
        return kinds[table.kind](table, section)

    def _note(self, table: TableData, section: Section) -> str:
        sizes = [len(query.options) for query in section.queries if query.options]
        chance = percent(sum(1 / size for size in sizes) / len(sizes)) if sizes else NOTHING
        return table.note.format(
            chance=chance,
            clusters=len({query.cluster for query in section.queries}),
            videos=len({query.video for query in section.queries}),
            families=Counter(query.family for query in section.queries),
            tokens=_counting(section.rows),
            unjudged=" ".join(_unjudged(section.rows)),
            **self.facts(section),
        ).strip()

    def _rows(self, section: Section, systems: Sequence[str]) -> Sequence[Row]:
        rows = named_systems(section).rows
        if not systems:
            return rows
        chosen = [row for row in rows if base_system(row.system) in systems]
        return sorted(chosen, key=lambda row: systems.index(base_system(row.system)))

    def _split(self, samples: Sequence[Scored], key: str) -> Mapping[str, Sequence[Scored]]:
        """The samples by case, family, or a field of the evidence, in the file's order of values."""
        if key == "case":
            return {case: [one for one in samples if belongs(one)] for case, belongs in CASES.items()}
        order = self.data.values.get(key, ())
        found = {value for one in samples if (value := _value(one, key))}
        values = [*(value for value in order if value in found), *sorted(found.difference(order))]
        return {value: [one for one in samples if _value(one, key) == value] for value in values}

    def _parts(
        self, samples: Sequence[Scored], by: Sequence[str]
    ) -> Iterator[tuple[Mapping[str, str], Sequence[Scored]]]:
        if not by:
            yield {}, samples
            return
        for value, own in self._split(samples, by[0]).items():
            for labels, part in self._parts(own, by[1:]):
                yield {by[0]: value, **labels}, part

    def _lines(self, table: TableData, section: Section) -> Iterator[tuple[Row, Line]]:
        if table.sweep:
            for axis, value, row in sweep_points(section, table.sweep, table.base):
                yield row, Line({"system": axis, "at": value}, row.samples)
            return
        rows = self._rows(section, table.systems)
        for row in shown(named_systems(section)) if table.shown else rows:
            for labels, samples in self._parts(row.samples, table.by):
                yield row, Line({"system": row.label, **labels}, samples)

    def _across(self, whole: Column, samples: Sequence[Scored], key: str) -> Mapping[str, Column]:
        """The measure of each value that it applies to, and of all."""

        def of(value: str) -> Column:
            return whole._replace(measure=restricted(whole.measure, lambda one: _value(one, key) == value))

        parts = {
            value: of(value) for value, part in self._split(samples, key).items() if _applies(whole, part)
        }
        return {**parts, OVERALL: whole}

    def _measures(self, table: TableData, section: Section) -> Table:
        lines = list(self._lines(table, section))
        every = [scored for _, line in lines for scored in line.samples]
        columns = {name: self.known[name] for name in table.measures if _applies(self.known[name], every)}
        if not columns:
            return Table(table.name, table.title, "", (), (), ())
        key = "measure"
        if table.across and table.measures[0] in columns:
            columns = {**self._across(columns.pop(table.measures[0]), every, table.across), **columns}
            key = table.across
        printed = self.data.printed[table.printed].on(list(section.dataset)) if table.printed else None
        cased = printed is not None and "case" in table.by
        body: list[tuple[str, ...]] = []
        records: list[dict[str, Cell]] = []
        keys: Sequence[str] = ("system",)
        for row, line in lines:
            cells, own = measured([line], columns, key)
            end = (printed.cell(row.system, line.keys["case"]),) if printed and cased else ()
            body += [(*each, *end) for each in cells]
            records += own
            keys = tuple(line.keys)
        if printed and not cased and body:
            blank = ("",) * (len(keys) - 1)
            for name in printed.rows:
                paper = tuple(printed.cell(name, column) for column in columns)
                body += [(f"{MARK}: {name}", *blank, *paper, "")] if set(paper) != {NOTHING} else []
        head = (*keys, *columns, "n", *((f"{MARK}: {table.measures[0]}",) if cased else ()))
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

    def _pairs(self, table: TableData, section: Section) -> Table:
        keys: tuple[str, ...] = ("system", "minus", "measure")
        pairs: dict[tuple[str, ...], Paired] = {}
        if table.name in self.own_pairs:
            pairs |= self.own_pairs[table.name](section)
        else:
            keys = ("system", "minus", *(("measure",) if table.measures else ()), *table.by)
            for one, other, _ in compared_rows(section):
                for name in table.measures or ("accuracy",):
                    whole = self.known[name]
                    parts = self._across(whole, one.samples, "family") if table.by else {OVERALL: whole}
                    for family, part in parts.items():
                        found = compare(one.samples, other.samples, part.measure)
                        names = (one.label, other.label, *((name,) if table.measures else ()))
                        if found is not None:
                            pairs[*names, *((family,) if table.by else ())] = found
        note = self._note(table, section)
        return paired_table(table.name, table.title, note, keys, pairs, section.spec.data.labels.clusters)

    def _agreement(self, table: TableData, section: Section) -> Table:
        found = (
            ({"system": row.label, "rule": rule}, self._agrees(row, rule))
            for row in self._rows(section, table.systems)
            for rule in table.measures
        )
        return agreement_table(table.name, table.title, self._note(table, section), found)

    def _agrees(self, row: Row, rule: str) -> Agreement:
        return agreement_of(
            (verdict, truth, scored.query.cluster)
            for scored in row.samples
            for verdict, truth in self.rules[rule](scored)
        )

    # Figures

    def draw(self, section: Section, folder: Path) -> list[str]:
        """PNG files into `folder`; gives their names. Figures that do not apply are left out, and one named
        as a table is shown below it."""
        return [name for figure in self.data.figures for name in self._figure(figure, section, folder)]

    def _figure(self, figure: FigureData, section: Section, folder: Path) -> list[str]:
        path, title = folder / f"{figure.name}.png", figure.title
        rows = self._rows(section, figure.systems)
        few = rows if figure.systems else shown(named_systems(section))
        if figure.kind == "reliability":
            return draw_reliability(few, folder)
        if figure.kind == "own":
            return self.own_figures[figure.name](section, path, title)
        if figure.kind == "counts":
            samples = rows[0].samples if rows else ()
            counts = {key: Counter(_value(one, key) for one in samples) for key in figure.across}
            return draw_counts(path, title, counts) if samples else []
        columns = {name: self.known[name] for name in figure.measures}
        if figure.kind == "sweep":
            return draw_sweeps(path, title, section, figure.sweep, columns, figure.base)
        if figure.kind == "costs":
            return draw_costs(path, title, rows, *columns.items())
        if figure.kind == "groups":
            return self._draw_groups(figure, few, columns, path)
        return self._draw_bars(figure, few, columns, path)

    def _draw_groups(
        self, figure: FigureData, rows: Sequence[Row], columns: Mapping[str, Column], path: Path
    ) -> list[str]:
        every = [scored for row in rows for scored in row.samples]
        (key,) = figure.across
        groups = list(self._split(every, key))
        panels = {
            name: {
                row.label: [column.of(self._split(row.samples, key).get(value, ())) for value in groups]
                for row in rows
            }
            for name, column in columns.items()
            if _applies(column, every)
        }
        return (
            draw_bars(path, figure.title, [(groups, panels)], label=figure.label) if panels and groups else []
        )

    def _draw_bars(
        self, figure: FigureData, rows: Sequence[Row], columns: Mapping[str, Column], path: Path
    ) -> list[str]:
        """A row of panels for each measure (or one for all measures), a panel for each case of the answer."""
        every = [scored for row in rows for scored in row.samples]
        applied = {name: one for name, one in columns.items() if _applies(one, every)}
        if not applied:
            return []
        slices: Mapping[str, Mapping[str, Column]] = {"": applied}
        if figure.groups == "family":
            slices = {name: self._across(one, every, "family") for name, one in applied.items()}

        def panel(groups: Iterable[Column], case: str) -> dict[str, list[Estimate | None]]:
            kept = {row.label: [one for one in row.samples if CASES[case](one)] for row in rows}
            return {label: [one.of(samples) for one in groups] for label, samples in kept.items()}

        lines = [
            (
                [group.replace("-", "\n") for group in groups],
                {
                    f"{name}: {CASE_NAMES[case]}" if name else CASE_NAMES[case]: panel(groups.values(), case)
                    for case in CASES
                },
            )
            for name, groups in slices.items()
        ]
        return draw_bars(path, figure.title, lines, size=(11, 1.2 + 2.8 * len(lines)))


def _value(scored: Scored, key: str) -> str:
    """Its family, or a field of its evidence."""
    return scored.query.family if key == "family" else str(sample_field(scored, key, ""))


def _applies(column: Column, samples: Iterable[Scored]) -> bool:
    """Whether it applies to a sample."""
    return any(column.measure(each) is not None for each in samples)


def _counting(rows: Sequence[Row]) -> str:
    """How tokens were counted, as the runs' settings state; the product as a solver states nothing."""
    rows = [row for row in rows if any(scored.sample.tokens for scored in row.samples)]
    stated = sorted({str(row.settings["tokens"]) for row in rows if "tokens" in row.settings})
    if bare := ", ".join(row.label for row in rows if "tokens" not in row.settings):
        stated.append(f"{bare}: as the reasoner reports them, 0 without a language model")
    return "; ".join(stated)


def _unjudged(rows: Sequence[Row]) -> Iterator[str]:
    """How many samples could not be judged, by reason; a sentence a system and reason."""
    for row in rows:
        why = Counter(filter(None, map(unscored_reason, row.samples)))
        for reason, count in sorted(why.items()):
            yield f"{row.label}: {count} {'query' if count == 1 else 'queries'} {reason}, not counted."


GENERIC = load_report("eval.reports")
"""The report of a task that has none of its own: accuracy by family, localization and calibration."""
