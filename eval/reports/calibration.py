"""Calibration by system, and the reliability diagram with its bins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.calibration import BINS, brier, expected_calibration_error, reliability
from eval.metrics.tables import estimate
from eval.reports.drawing import COLOURS, draw, percent_axis
from eval.reports.layout import Table, percent_range, record
from eval.reports.rows import Section, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    """The bins of every system, as drawn in the diagram. For its CSV alone."""
    records = [
        record(
            each.accuracy, system=row.label, bin_low=each.low, bin_high=each.high, confidence=each.confidence
        )
        for row in section.rows
        for each in reliability(row.samples)
    ]
    return Table("reliability", "Reliability", "", (), (), tuple(records))


def draw_reliability(section: Section, folder: Path) -> list[str]:
    """The reliability diagram alone; gives its name."""
    rows = shown(section)

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

    draw(folder / "reliability.png", (1.0 + 4.0 * len(rows), 4), paint)
    return ["reliability.png"]
