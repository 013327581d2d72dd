"""The report of runs on queries by memory, for `rag eval report`."""

from __future__ import annotations

from eval.benchmarks.rvms.figures import draw_remembering
from eval.benchmarks.rvms.paper import MARK
from eval.benchmarks.rvms.tables import all_tables
from eval.reports.dialects import Dialect

__all__ = ["DIALECT"]

DIALECT = Dialect(
    all_tables,
    draw_remembering,
    "Intervals are 95 %, by drawing whole videos 5,000 times; n counts queries. Rows marked "
    f'"{MARK}" repeat what the RACLO paper printed, on other videos, queries and models: they are there '
    "to be looked at, not to be compared.",
)
