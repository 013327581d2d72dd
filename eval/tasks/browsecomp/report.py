"""The report of runs on a web of videos, for `rag eval report`."""

from __future__ import annotations

from eval.reports.spec import ReportSpec
from eval.tasks.browsecomp.figures import draw_browsing
from eval.tasks.browsecomp.paper import MARK
from eval.tasks.browsecomp.tables import all_tables

REPORT_SPEC = ReportSpec(
    all_tables,
    draw_browsing,
    "Intervals are 95 %, by drawing whole videos 5,000 times; n counts answers. Columns marked "
    f'"{MARK}" repeat what the Video-Browser paper printed, on other videos, questions and models: '
    "they are there to be looked at, not to be compared.",
)
