"""The report of a task without one of its own: accuracy by family, localization, calibration."""

from __future__ import annotations

from pathlib import Path

from eval.metrics.accuracy import correct
from eval.metrics.tables import estimate, families
from eval.reports.calibration import calibration_table, draw_reliability, reliability_table
from eval.reports.layout import Table, percent_range, record
from eval.reports.localization import localization_table
from eval.reports.rows import Section, named_systems
from eval.reports.spec import ReportSpec


def generic_tables(section: Section) -> list[Table]:
    named = named_systems(section)
    return [
        accuracy_table(named),
        localization_table(named),
        calibration_table(named),
        reliability_table(named),
    ]


def generic_figures(section: Section, folder: Path) -> list[str]:
    return draw_reliability(named_systems(section), folder)


def accuracy_table(section: Section) -> Table:
    """Percent right by family and overall."""
    order = families(section.rows[0].samples)
    body, records = [], []
    for row in section.rows:
        parts = {
            name: estimate(correct, [each for each in row.samples if name in ("overall", each.query.family)])
            for name in (*order, "overall")
        }
        body.append((row.label, *map(percent_range, parts.values())))
        records += [record(part, system=row.label, family=name) for name, part in parts.items()]
    return Table(
        name="accuracy",
        title="Accuracy",
        note="Percent right, with 95 % intervals clustered by video.",
        head=("system", *order, "overall"),
        body=tuple(body),
        records=tuple(records),
    )


GENERIC = ReportSpec(
    tables=generic_tables,
    draw=generic_figures,
    note="Intervals are 95 %, by drawing whole videos 5,000 times; n counts answers.",
)
