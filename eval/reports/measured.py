"""Tables that every task may have: localization and calibration, and the reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.calibration import BINS, brier, expected_calibration_error, reliability
from eval.metrics.localization import ORACLE_SECONDS, THRESHOLDS, oracle_iou, recall_at_one
from eval.metrics.tables import MEASURES, estimate
from eval.reports.drawing import COLOURS, draw, percent_axis
from eval.reports.spec import Row, Section
from eval.reports.tables import Table, measured, percent, percent_range, record, system_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RECALLS = {f"R@1 IoU>={threshold}": threshold for threshold in THRESHOLDS}
WITHIN = (*RECALLS, "mIoU", "ceiling of mIoU", "event coverage>=0.8")
OVER_CORPUS = (*(f"corpus {name}" for name in RECALLS), "corpus mIoU")


def localization_table(section: Section) -> Table:
    """R@1 at IoU 0.3, 0.5 and 0.7, mIoU and coverage, with what windows of their length can reach."""
    columns = {name: MEASURES[name] for name in WITHIN + OVER_CORPUS}
    found = measured(system_lines(section.rows), columns, count=True)
    if found.body:
        label, samples = f"oracle {ORACLE_SECONDS:g} s", section.rows[0].samples
        oracle = estimate(oracle_iou, samples)
        reached = {
            name: estimate(recall_at_one(least, oracle_iou), samples) for name, least in RECALLS.items()
        }
        reached |= {"mIoU": oracle, "ceiling of mIoU": oracle}
        ceiling = [percent(each.value if (each := reached.get(name)) else None) for name in columns]
        found.body.append((label, *ceiling, ""))
        found.records.append(record(oracle, system=label, measure="mIoU"))
    note = (
        "Percent. Within the gold clip, whether or not it was retrieved; over the corpus, the window of "
        "the first clip, 0 where that is another. The ceiling is what windows of the lengths found could "
        f"reach; the oracle is the best placed window of {ORACLE_SECONDS:g} s."
    )
    head = ("system", *columns, "n")
    return Table("localization", "Localization", note, head, tuple(found.body), tuple(found.records))


def calibration_table(section: Section) -> Table:
    """Expected calibration error and Brier score by system."""
    body, records = [], []
    for row in section.rows:
        error, score = expected_calibration_error(row.samples), estimate(brier, row.samples)
        mean = sum(scored.sample.confidence for scored in row.samples) / len(row.samples)
        body.append((row.label, percent_range(error), percent_range(score), f"{100 * mean:.1f}"))
        records.append(record(error, system=row.label, measure="expected calibration error"))
        records.append(record(score, system=row.label, measure="Brier score"))
    return Table(
        name="calibration",
        title="Calibration",
        note=f"Percent; lower is better. {BINS} bins of equal width.",
        head=("system", "expected calibration error", "Brier score", "mean confidence"),
        body=tuple(body),
        records=tuple(records),
    )


def reliability_table(section: Section) -> Table:
    """The bins of every system, as the diagram shows them. For its CSV alone."""
    records = [
        record(
            each.accuracy, system=row.label, bin_low=each.low, bin_high=each.high, confidence=each.confidence
        )
        for row in section.rows
        for each in reliability(row.samples)
    ]
    return Table("reliability", "Reliability", "", (), (), tuple(records))


def draw_reliability(rows: Sequence[Row], folder: Path) -> list[str]:
    """The reliability diagram of each row, side by side; gives its name."""

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(rows), squeeze=False, sharey=True)
        for number, (row, axes) in enumerate(zip(rows, panels[0], strict=True)):
            bins = reliability(row.samples)
            axes.plot([0, 100], [0, 100], color="#999999", linewidth=0.8, linestyle="--")
            axes.bar(
                [50 * (each.low + each.high) for each in bins],
                [100 * each.accuracy.value for each in bins],
                [95 * (each.high - each.low) for each in bins],
                color=COLOURS[number % len(COLOURS)],
                alpha=0.6,
            )
            axes.plot(
                [100 * each.confidence for each in bins],
                [100 * each.accuracy.value for each in bins],
                marker="o",
                linestyle="none",
                color="#222222",
                markersize=3,
            )
            for each in bins:
                axes.annotate(str(each.accuracy.n), (50 * (each.low + each.high), 2), ha="center", fontsize=7)
            axes.set_xlim(0, 100)
            axes.set_xlabel("confidence (%)")
            axes.set_title(row.label)
            percent_axis(axes, "right (%)")

    return draw(folder / "reliability.png", (1.0 + 4.0 * len(rows), 4), paint)
