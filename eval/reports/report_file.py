"""A report as data: a task's `report.toml` says its tables, figures, pairs, and what papers printed.

    asked = "..."                    # what was asked, for the opening sentences
    [[pairs]]                        # systems that are compared: system, minus, claim
    [printed.NAME]                   # figures of a paper by system or model, with their place in it
    [[tables]]                       # in the order of the page
    [[figures]]                      # each is shown below the table of its name

Measures are named: those of `eval.metrics.tables.MEASURES`, and a task's own. A name that does not exist is
refused when the file is read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from math import isnan
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from eval.reports.tables import NOTHING

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
    """Those that the table shows, in this order; without: all."""
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
