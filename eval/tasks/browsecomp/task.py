"""browsecomp as a task, for now by the adapter of the older protocol."""

from __future__ import annotations

from dataclasses import replace

from eval.metrics.accuracy import correct
from eval.reports.spec import Compared, Labels, printed_figure
from eval.tasks.adapter import legacy
from eval.tasks.browsecomp import benchmark
from eval.tasks.browsecomp.report import ABLATIONS, MAIN_RESULTS, PARADIGMS, REPORT_SPEC


def _printed(system: str) -> str:
    for table, rows in (("table 1", MAIN_RESULTS), ("table 2", PARADIGMS), ("table 3", ABLATIONS)):
        if system in rows:
            return printed_figure(rows[system].accuracy, f"Video-Browser, {table}")
    return ""


REPORT = replace(
    REPORT_SPEC,
    labels=Labels(
        "the judge calls the answer right; of given options, the right one alone is.",
        window="last evidence",
    ),
    compared=(Compared("right", correct, printed=_printed),),
    paper_note="The paper: 210 questions over the open web, commercial models.",
)


open_workbench = legacy(
    benchmark.open_workbench,
    REPORT,
    "over 150 questions in three levels over a rendered web of videos",
)
open_mini = legacy(
    benchmark.open_mini,
    REPORT,
    "a handful of them over a small web, for trying out",
)
open_folder = legacy(
    benchmark.open_folder,
    REPORT,
    "Video-BrowseComp's published files over a web of one's own: --data DIR",
)
