"""Report of runs on moments; `report.toml` has its tables."""

from __future__ import annotations

from eval.reports.described import load_report
from eval.tasks.moments.scorer import MEASURES

REPORT = load_report("eval.tasks.moments", MEASURES)
