"""rvms as a task, for now by the adapter of the older protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from eval.reports.spec import RIGHT, Compared, Labels, printed_figure
from eval.tasks.adapter import legacy
from eval.tasks.rvms import benchmark
from eval.tasks.rvms.report import LOCALIZED, MEASURES, MODEL_RULE, REPORT_SPEC, RULE_ONLY


def _printed(table: Mapping[str, tuple[float | None, ...]], model: str, place: str) -> Callable[[str], str]:
    best = table[model][-1]
    return lambda system: printed_figure(best, f"RACLO, {place}, {model}") if system == "raclo" else ""


REPORT = replace(
    REPORT_SPEC,
    labels=Labels(
        "the answer, recognized or guessed, is the video in any of its uploads, and its moment, where one is "
        "asked for, lies within 2 s of the event (where its time is not known: its frame matches).",
        clusters="films",
        window="shot",
        seen="event",
    ),
    compared=(
        Compared(
            "rule only",
            MEASURES["rule"],
            "the video's own address is among the candidates.",
            _printed(RULE_ONLY, "Gemini-3-Pro", "table 1, rule only"),
        ),
        Compared(
            "model + rule",
            MEASURES["model+rule"],
            "it is, or the judges take a candidate for the video; tasks with G.",
            _printed(MODEL_RULE, "Gemini-3-Pro", "table 1, model + rule"),
        ),
        Compared(
            "localization",
            MEASURES["frame"],
            "a located frame of any candidate matches text and reference frame, by the judge; tasks with K.",
            _printed(LOCALIZED, "GPT-5.2", "table 2"),
        ),
        RIGHT,
    ),
    paper_note="The paper: 1,440 rows over the open web, commercial models, the best of each table.",
)


open_workbench = legacy(
    benchmark.open_workbench,
    REPORT,
    "432 queries by memory for 48 moments of 16 rendered videos, under nine sets of cues",
)
open_mini = legacy(
    benchmark.open_mini,
    REPORT,
    "18 of them over a small web, for trying out",
)
open_folder = legacy(
    benchmark.open_folder,
    REPORT,
    "RVMS-Bench's published rows over a web of one's own: --data DIR",
)
