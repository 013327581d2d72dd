"""The report of runs on shots, for `rag eval report`."""

from __future__ import annotations

from eval.reports.spec import ReportSpec
from eval.tasks.shotfinder.figures import draw_shots
from eval.tasks.shotfinder.paper import MARK
from eval.tasks.shotfinder.tables import all_tables

REPORT_SPEC = ReportSpec(
    all_tables,
    draw_shots,
    "Intervals are 95 %, by drawing whole families of films 5,000 times; n counts answers. Rows marked "
    f'"{MARK}" repeat what the ShotFinder paper printed, on other videos, queries and models: '
    "they are there to be looked at, not to be compared.",
)
