"""Tables of a report as Markdown and CSV: measures by system, agreement, paired differences, failures.

A line has a label of one or more columns (`keys`, such as system, or axis and value) and the
samples that it is about."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from corpora.errors import file_error
from corpora.outputs import OverwritePolicy, output_folder
from eval.metrics.agreement import Agreement
from eval.metrics.intervals import Estimate, Quantity
from eval.metrics.pairing import Paired, compare, holm
from eval.metrics.scored import Measure, Scored, restricted
from eval.metrics.tables import estimate, of_family
from eval.reports.spec import Row, Section, sweep_points

NOTHING = "–"
MARK = "paper, other data"
"""Of a column or row that repeats what a paper printed."""

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as Markdown cells and as records of a CSV file."""

    name: str
    """Of its CSV file."""
    title: str
    note: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    records: tuple[Mapping[str, Cell], ...]
    """Long form, one figure a record; floats as fractions, not percent."""


def percent(value: float | None) -> str:
    """`33.6` for the share 0.336."""
    return NOTHING if value is None else f"{100 * value:.1f}"


def percent_range(estimate: Estimate | None, n: bool = True) -> str:
    """`33.6 [29.1, 38.4] n=396`; without `n` where its table has it once for all cells."""
    if estimate is None:
        return NOTHING
    text = percent(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        text += f" [{percent(estimate.low)}, {percent(estimate.high)}]"
    return f"{text} n={estimate.n}" if n else text


def amount_range(estimate: Estimate | None, decimals: int = 0) -> str:
    """`44,746 [41,100, 48,212] n=312`: a mean of counts or seconds, not of shares."""
    if estimate is None:
        return NOTHING
    text = f"{estimate.value:,.{decimals}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:,.{decimals}f}, {estimate.high:,.{decimals}f}]"
    return f"{text} n={estimate.n}"


def p_text(p: float | None) -> str:
    """`0.0123`, or `< 0.0001`."""
    if p is None:
        return NOTHING
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def record(estimate: Estimate | None, **keys: Cell) -> dict[str, Cell]:
    """A record of the long form: the keys, then the figure with its interval."""
    if estimate is None:
        return {**keys, "value": None, "low": None, "high": None, "n": 0, "clusters": 0}
    return {
        **keys,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "clusters": estimate.clusters,
    }


def markdown_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Pipes are escaped, line ends become blanks."""
    rows = [list(head), ["---"] * len(head), *(list(row) for row in body)]
    return "".join("| " + " | ".join(_escaped(cell) for cell in row) + " |\n" for row in rows)


def _escaped(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").split())


def csv_text(records: Sequence[Mapping[str, Cell]]) -> str:
    """All keys that occur, in the order in which they first do; floats with 6 decimals."""
    columns = list(dict.fromkeys(key for each in records for key in each))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for each in records:
        writer.writerow(
            {key: f"{cell:.6f}" if isinstance(cell, float) else cell for key, cell in each.items()}
        )
    return out.getvalue()


@contextlib.contextmanager
def report_folder(out: Path, policy: OverwritePolicy) -> Iterator[Path]:
    """A folder that becomes `out` once it is whole. Raises `RagError` where that cannot be written."""
    try:
        with output_folder(out, policy) as draft:
            yield draft
    except OSError as error:
        raise file_error(out, error) from error


Key = TypeVar("Key", bound=Hashable)
PAIR_HEAD = ("p Holm", "p McNemar")


class Line(NamedTuple):
    """A label of one or more columns, and the samples that it is about."""

    keys: Mapping[str, str]
    samples: Sequence[Scored]


class Column(NamedTuple):
    """A measure that is no share of queries."""

    measure: Measure
    quantity: Quantity
    decimals: int = 0


class Lines(NamedTuple):
    """Cells to show, and records for the CSV file."""

    body: list[tuple[str, ...]]
    records: list[dict[str, Cell]]


def system_lines(rows: Iterable[Row]) -> list[Line]:
    """A line for each system."""
    return [Line({"system": row.label}, row.samples) for row in rows]


def category_lines(rows: Iterable[Row], categories: Sequence[str], overall: str) -> list[Line]:
    """A line for each system and family of queries, and one over all families."""
    return [
        Line(
            {"system": row.label, "task": name},
            row.samples if name == overall else of_family(row.samples, name),
        )
        for row in rows
        for name in (*categories, overall)
    ]


def measured(
    lines: Iterable[Line],
    columns: Mapping[str, Measure | Column],
    *,
    key: str = "measure",
    count: bool = False,
) -> Lines:
    """Each measure of each line; a line to which none applies is left out.

    `key`: the name of the measure's column in the CSV file. `count`: a last cell with the number of samples.
    """
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for line in lines:
        parts = {name: Column(each, "share") if callable(each) else each for name, each in columns.items()}
        found = {name: estimate(part.measure, line.samples, part.quantity) for name, part in parts.items()}
        if all(each is None for each in found.values()):
            continue
        cells = (
            percent_range(each)
            if parts[name].quantity == "share"
            else amount_range(each, parts[name].decimals)
            for name, each in found.items()
        )
        body.append((*line.keys.values(), *cells, *((str(len(line.samples)),) if count else ())))
        records += [record(each, **line.keys, **{key: name}) for name, each in found.items()]
    return Lines(body, records)


def measures_table(
    name: str,
    title: str,
    note: str,
    lines: Iterable[Line],
    columns: Mapping[str, Measure | Column],
    *,
    keys: Sequence[str] = (),
    key: str = "measure",
    count: bool = False,
    printed: Iterable[tuple[str, ...]] = (),
) -> Table:
    """A line for each of `lines`, a column for each measure; see `measured`.

    `keys`: heads of the labels; default: their names. `printed`: rows of the paper's figures below them.
    """
    lines = list(lines)
    found = measured(lines, columns, key=key, count=count)
    labels = keys or tuple(lines[0].keys if lines else ())
    head = (*labels, *columns, *(("n",) if count else ()))
    body = (*found.body, *(printed if found.body else ()))
    return Table(name, title, note, head, body, tuple(found.records))


def printed_rows(
    printed: Mapping[str, Sequence[float | None]], names: Sequence[str], columns: Iterable[str]
) -> list[tuple[str, ...]]:
    """A row for each model of a paper: of its percentages, which `names` are the columns of, `columns`."""
    places = [names.index(column) for column in columns]
    return [
        (f"{MARK}: {model}", *(NOTHING if (value := values[at]) is None else f"{value:.1f}" for at in places))
        for model, values in printed.items()
    ]


def sweep_lines(section: Section, axes: Sequence[str], names: tuple[str, str]) -> list[Line]:
    """A line for each point of a sweep; `names`: of the keys for axis and value."""
    return [
        Line(dict(zip(names, (axis, value), strict=True)), row.samples)
        for axis, value, row in sweep_points(section, axes)
    ]


def by_family(measure: Measure, families: Sequence[str], overall: str) -> dict[str, Measure]:
    """The measure of each family of queries, and of all of these families, as columns of `measured`."""

    def of(*names: str) -> Measure:
        return restricted(measure, lambda scored: scored.query.family in names)

    return {**{name: of(name) for name in families}, overall: of(*families)}


def agreement_table(
    name: str, title: str, note: str, found: Iterable[tuple[Mapping[str, str], Agreement]]
) -> Table:
    """`found`: keys of each line, and its agreement; lines without items are left out."""
    body, records = [], []
    keys: tuple[str, ...] = ()
    for labels, each in found:
        if not each.n:
            continue
        keys = tuple(labels)
        kappa = NOTHING if each.kappa is None else f"{each.kappa:.2f}"
        shares = (percent(each.precision), percent(each.recall))
        counts = map(str, each.counts.values())
        body.append((*labels.values(), *counts, percent_range(each.share), *shares, kappa))
        extra: dict[str, Cell] = {"precision": each.precision, "recall": each.recall, "kappa": each.kappa}
        records.append(record(each.share, **labels) | each.counts | extra)
    head = (
        *keys,
        "both yes",
        "rule only",
        "truth only",
        "both no",
        "agreement",
        "precision",
        "recall",
        "kappa",
    )
    return Table(name, title, note, head, tuple(body), tuple(records))


def failure_table(
    name: str, note: str, lines: Iterable[Line], stages: Sequence[str], stage: Callable[[Scored], str]
) -> Table:
    """Counts of failed samples by the stage at which they failed; `stage` gives "" for a correct one."""
    body, records = [], []
    keys: tuple[str, ...] = ()
    for line in lines:
        if not line.samples:
            continue
        keys = tuple(line.keys)
        counts = {one: sum(stage(scored) == one for scored in line.samples) for one in stages}
        right, n = sum(scored.sample.correct for scored in line.samples), len(line.samples)
        body.append((*line.keys.values(), *map(str, counts.values()), str(right), str(n)))
        keyed: dict[str, Cell] = {**line.keys, **counts, "right": right, "n": n}
        records.append(keyed)
    head = (*keys, *stages, "right", "n")
    return Table(name, "Failures by stage", note, head, tuple(body), tuple(records))


def holm_adjusted(pairs: Mapping[Key, Paired]) -> dict[Key, float]:
    """The p values after Holm's correction over all pairs."""
    return dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))


def compare_rows(rows: Iterable[Row], base: Row | None) -> dict[str, Paired]:
    """Each system minus `base`, by label; empty without a base."""
    found = {
        row.label: compare(row.samples, base.samples) for row in rows if base is not None and row is not base
    }
    return {label: pair for label, pair in found.items() if pair is not None}


def pair_cells(pair: Paired | None, adjusted: float | None) -> tuple[str, str, str, str]:
    """Difference in percent points, p, p after Holm's correction, McNemar's p."""
    return (
        percent_range(pair.difference if pair else None),
        p_text(pair.p if pair else None),
        p_text(adjusted),
        p_text(pair.p_mcnemar if pair else None),
    )


def pair_record(pair: Paired, adjusted: float, **keys: Cell) -> dict[str, Cell]:
    """A paired difference as a record of the CSV file."""
    p: dict[str, Cell] = {"p": pair.p, "p_holm": adjusted, "p_mcnemar": pair.p_mcnemar}
    return record(pair.difference, **keys) | p


def paired_table(
    name: str,
    title: str,
    note: str,
    keys: Sequence[str],
    pairs: Mapping[tuple[str, ...], Paired],
    clusters: str,
) -> Table:
    """A line for each pair. `keys`: columns of a pair's key. `clusters`: what is permuted, in the plural."""
    adjusted = holm_adjusted(pairs)
    body, records = [], []
    for key, pair in pairs.items():
        difference, *p = pair_cells(pair, adjusted[key])
        body.append((*key, difference, str(pair.difference.clusters), *p))
        records.append(pair_record(pair, adjusted[key], **dict(zip(keys, key, strict=True))))
    head = (*keys, "difference", clusters, "p", *PAIR_HEAD)
    return Table(name, title, note + unpaired_note(pairs.values()), head, tuple(body), tuple(records))


def unpaired_note(pairs: Iterable[Paired]) -> str:
    """Says how many queries pairs leave out, since one system was not asked them; else nothing."""
    most = max((pair.unpaired for pair in pairs), default=0)
    return f" Up to {most} queries a pair were asked of one system only, and count in none." if most else ""
