"""shotfinder as a task, for now by the adapter of the older protocol."""

from __future__ import annotations

from dataclasses import replace

from eval.reports.spec import RIGHT, Compared, Labels, printed_figure
from eval.tasks.adapter import legacy
from eval.tasks.shotfinder import benchmark
from eval.tasks.shotfinder.report import REPORT_SPEC, TABLE_1, by_rule
from eval.tasks.shotfinder.systems import ASKED, OURS


def _printed(system: str) -> str:
    best = TABLE_1["GPT-5.2"]["overall"] if system in (OURS, ASKED) else None
    return printed_figure(best, "ShotFinder, table 1, GPT-5.2")


REPORT = replace(
    REPORT_SPEC,
    labels=Labels(
        "the frame that was given lies in the right shot of the right film (where its time is not known: the "
        "verifier says that text and image match).",
        clusters="families of films",
        window="shot",
    ),
    compared=(
        Compared(
            "strict",
            by_rule("strict"),
            "the verifier says of the shot that was given that text and image match (the paper's rule).",
            _printed,
        ),
        RIGHT,
    ),
    paper_note=(
        "The paper: 1,210 rows over the open web, commercial models, GPT-5.2 without the task of "
        "sound; people reach 88.5."
    ),
)


open_workbench = legacy(
    benchmark.open_workbench,
    REPORT,
    "240 shots with one constraint each, over a rendered web of short videos in families",
)
open_mini = legacy(
    benchmark.open_mini,
    REPORT,
    "22 of them over a small web, for trying out",
)
open_folder = legacy(
    benchmark.open_folder,
    REPORT,
    "ShotFinder's published rows over a web of one's own: --data DIR",
)
