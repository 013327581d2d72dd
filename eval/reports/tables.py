"""Tables of a report as Markdown and CSV: measures by system, agreement, paired differences.

A line has a label of one or more columns (`keys`, such as system, or axis and value) and the
samples that it is about."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from corpora.errors import file_error
from corpora.outputs import OverwritePolicy, output_folder
from eval.metrics.agreement import Agreement
from eval.metrics.intervals import Estimate, Quantity
from eval.metrics.pairing import Paired, holm
from eval.metrics.scored import Measure, Scored
from eval.metrics.tables import estimate

NOTHING = "–"
MARK = "paper, other data"
"""Of a column or row that repeats what a paper printed."""

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as Markdown cells and as records of a CSV file."""

    name: str
    """The name of its CSV file."""
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


def p_text(p: float) -> str:
    """`0.0123`, or `< 0.0001`."""
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
    """A folder that becomes `out` once it is whole. A report that is there is replaced, where nobody changed
    or added a file. Raises `RagError` where that cannot be written, and `UsageError` where it must not be
    (`corpora.outputs`)."""
    try:
        old = _digests(out)
        mine = bool(old) and old == _listed(out)
        with output_folder(out, replace(policy, force=policy.force or mine)) as draft:
            yield draft
            made = _digests(draft)
            (draft / FILES).write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        for name in old if mine else ():
            if name not in made:
                (out / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    (out / name).parent.rmdir()
    except OSError as error:
        raise file_error(out, error) from error


FILES = ".files.json"
"""In a report: its files and their SHA-256."""


def _digests(folder: Path) -> dict[str, str]:
    """Of every file below a folder, but for hidden ones, by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


def _listed(out: Path) -> object:
    """What the last report into a folder wrote down; None without one."""
    try:
        return json.loads((out / FILES).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


class Line(NamedTuple):
    """A label of one or more columns, and the samples that it is about."""

    keys: Mapping[str, str]
    samples: Sequence[Scored]


class Column(NamedTuple):
    """A measure that is no share of queries, or whose figure is not its mean."""

    measure: Measure
    """Says to which samples it applies, where `over` makes the figure."""
    quantity: Quantity = "amount"
    decimals: int = 0
    over: Callable[[Sequence[Scored]], Estimate | None] | None = None
    """The figure of samples in place of the mean."""

    def of(self, samples: Sequence[Scored]) -> Estimate | None:
        """The figure; None where it does not apply."""
        return self.over(samples) if self.over else estimate(self.measure, samples, self.quantity)


def as_column(measure: Measure | Column) -> Column:
    """A measure alone is a share."""
    return measure if isinstance(measure, Column) else Column(measure, "share")


def measured(
    lines: Iterable[Line], columns: Mapping[str, Column], key: str = "measure"
) -> tuple[list[tuple[str, ...]], list[dict[str, Cell]]]:
    """Each measure of each line, and last the number of samples: cells to show, and records for the CSV file.

    A line to which no measure applies is left out. `key`: the name of the measure's column in the CSV file.
    """
    body: list[tuple[str, ...]] = []
    records: list[dict[str, Cell]] = []
    for line in lines:
        found = {name: column.of(line.samples) for name, column in columns.items()}
        if all(each is None for each in found.values()):
            continue
        cells = (
            percent_range(each)
            if columns[name].quantity == "share"
            else amount_range(each, columns[name].decimals)
            for name, each in found.items()
        )
        body.append((*line.keys.values(), *cells, str(len(line.samples))))
        records += [record(each, **line.keys, **{key: name}) for name, each in found.items()]
    return body, records


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
    counted = ("both yes", "rule only", "truth only", "both no")
    head = (*keys, *counted, "agreement", "precision", "recall", "kappa")
    return Table(name, title, note, head, tuple(body), tuple(records))


def paired_table(
    name: str,
    title: str,
    note: str,
    keys: Sequence[str],
    pairs: Mapping[tuple[str, ...], Paired],
    clusters: str,
) -> Table:
    """A line for each pair, with Holm's correction over all of them.

    `keys`: columns of a pair's key. `clusters`: what is permuted, in the plural.
    """
    body, records = [], []
    for (key, pair), adjusted in zip(pairs.items(), holm([pair.p for pair in pairs.values()]), strict=True):
        shown, p = percent_range(pair.difference), map(p_text, (pair.p, adjusted, pair.p_mcnemar))
        body.append((*key, shown, str(pair.difference.clusters), *p))
        tests: dict[str, Cell] = {"p": pair.p, "p_holm": adjusted, "p_mcnemar": pair.p_mcnemar}
        records.append(record(pair.difference, **dict(zip(keys, key, strict=True))) | tests)
    head = (*keys, "difference", clusters, "p", "p Holm", "p McNemar")
    return Table(name, title, note + unpaired_note(pairs.values()), head, tuple(body), tuple(records))


def unpaired_note(pairs: Iterable[Paired]) -> str:
    """Says how many queries pairs leave out, since they do not count for both systems; else nothing."""
    most = max((pair.unpaired for pair in pairs), default=0)
    said = f" Up to {most} queries a pair were asked or judged of one system only, and count in none."
    return said if most else ""
