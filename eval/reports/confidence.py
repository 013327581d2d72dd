"""Calibration by system, and the bins of the reliability diagram."""

from __future__ import annotations

from eval.metrics.calibration import BINS, brier, expected_calibration_error, reliability
from eval.metrics.tables import estimate
from eval.reports.layout import Table, percent_range, record
from eval.reports.rows import Section


def calibration_table(section: Section) -> Table:
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
        note=f"Percent; lower is better. {BINS} bins of equal width. The paper has no such figures.",
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
