"""The report of runs on queries by memory, for `rag eval report`."""

from __future__ import annotations

from eval.reports.spec import ReportSpec
from eval.tasks.rvms.figures import draw_remembering
from eval.tasks.rvms.paper import MARK
from eval.tasks.rvms.tables import all_tables

REPORT_SPEC = ReportSpec(
    all_tables,
    draw_remembering,
    "Intervals are 95 %, by drawing whole videos 5,000 times; n counts queries. Rows marked "
    f'"{MARK}" repeat what the RACLO paper printed, on other videos, queries and models: they are there '
    "to be looked at, not to be compared.",
)
