"""A table in its two forms: Markdown to read, CSV to reckon with."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.metrics.estimate import Estimate

NOTHING = "–"

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
