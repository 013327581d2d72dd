"""longvideo as a task, for now by the adapter of the older protocol."""

from __future__ import annotations

from dataclasses import replace

from eval.metrics.accuracy import correct
from eval.reports.spec import Compared, Labels, printed_figure
from eval.tasks.adapter import legacy
from eval.tasks.longvideo import benchmark
from eval.tasks.longvideo.report import REPORT_SPEC, printed


def _printed(system: str) -> str:
    found = printed(system)
    return "" if found is None else printed_figure(found[0], f"VideoDetective, {found[1]}")


REPORT = replace(
    REPORT_SPEC,
    labels=Labels(clusters="films", window="deciding moment"),
    compared=(Compared("right", correct, printed=_printed),),
    paper_note="The paper: VideoMME-long, Qwen3-8B with Qwen3-VL-8B.",
)


open_workbench = legacy(
    benchmark.open_workbench,
    REPORT,
    "312 questions over 12 rendered videos of 30 to 60 minutes",
)
open_mini = legacy(
    benchmark.open_mini,
    REPORT,
    "24 questions over two short videos, for trying out",
)
open_tables = legacy(
    benchmark.open_tables,
    REPORT,
    "tables of questions as VideoMME or LVBench are used with, and their videos: --data DIR",
)
