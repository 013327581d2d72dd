"""Which tables and figures belong to a benchmark: EgoFact's, unless another is named here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from eval.reports.layout import Table
from eval.reports.rows import Section


@dataclass(frozen=True, slots=True)
class ReportSpec:
    """How the runs on one kind of benchmark are told. Tables without a row are left out."""

    tables: Callable[[Section], list[Table]]
    draw: Callable[[Section, Path], list[str]]
    """Writes PNG files into a folder and gives their names; one named as a table stands below it."""
    note: str
    """What holds for all tables, in one paragraph."""


REPORT_SPECS: Mapping[str, str] = {
    "browsecomp": "eval.tasks.browsecomp.report:REPORT_SPEC",
    "rvms": "eval.tasks.rvms.report:REPORT_SPEC",
    "longvideo": "eval.tasks.longvideo.report:REPORT_SPEC",
    "shotfinder": "eval.tasks.shotfinder.report:REPORT_SPEC",
}
"""First part of a benchmark's name, before a dash, to `module:name`."""


def report_spec_of(benchmark: str) -> ReportSpec | None:
    """None for EgoFact's own, and for benchmarks that nobody wrote tables for."""
    place = REPORT_SPECS.get(benchmark.partition("-")[0])
    if place is None:
        return None
    module, _, name = place.partition(":")
    return cast("ReportSpec", getattr(importlib.import_module(module), name))
