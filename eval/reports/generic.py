"""The report of a task without one of its own: accuracy by family, localization, calibration."""

from __future__ import annotations

from pathlib import Path

from eval.metrics.accuracy import correct
from eval.metrics.tables import families
from eval.reports.calibration import calibration_table, draw_reliability, reliability_table
from eval.reports.layout import Table
from eval.reports.localization import localization_table
from eval.reports.rows import Section, named_systems
from eval.reports.spec import ReportSpec
from eval.reports.tables import by_family, measured, system_lines


def generic_tables(section: Section) -> list[Table]:
    """Accuracy by family, localization and calibration of a section."""
    named = named_systems(section)
    return [
        accuracy_table(named),
        localization_table(named),
        calibration_table(named),
        reliability_table(named),
    ]


def generic_figures(section: Section, folder: Path) -> list[str]:
    """The reliability diagram, as PNG into `folder`; gives its name."""
    return draw_reliability(named_systems(section), folder)


def accuracy_table(section: Section) -> Table:
    """Percent right by family and overall."""
    order = families(section.rows[0].samples)
    columns = by_family(correct, order, "overall")
    body, records = measured(system_lines(section.rows), columns, key="family", count=True)
    return Table(
        name="accuracy",
        title="Accuracy",
        note="Percent right, with 95 % intervals clustered by video.",
        head=("system", *columns, "n"),
        body=tuple(body),
        records=tuple(records),
    )


GENERIC = ReportSpec(
    tables=generic_tables,
    draw=generic_figures,
    note="Intervals are 95 %, by drawing whole videos 5,000 times; n counts answers.",
)
