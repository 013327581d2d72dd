"""EgoFact's report: the paper's tables and figures beside the paper's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.intervals import Estimate
from eval.metrics.scored import Measure, correct
from eval.metrics.tables import CASES, estimate, families
from eval.reports.drawing import COLOURS, draw, grouped_bars, legend_below, percent_axis
from eval.reports.generic import draw_reliability
from eval.reports.spec import Compared, Labels, ReportSpec, Section, named_systems, printed_figure, shown
from eval.reports.tables import MARK
from eval.tasks.egofact import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CASE_NAMES = {"all": "all queries", "right": "answered right", "wrong": "answered wrong"}


def draw_figures(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written into `folder`; figures that do not apply are left out."""
    made = []
    for name, title, measures in (
        ("figure3_retrieval.png", "Retrieval success", tables.RETRIEVALS),
        ("figure4_understanding.png", "Video understanding, gold clip retrieved", tables.UNDERSTANDINGS),
    ):
        if _cases(section, folder / name, title, measures):
            made.append(name)
    if _letters(section, folder / "figure5_letters.png"):
        made.append("figure5_letters.png")
    if tables.window_points(section):
        _windows(section, folder / "figure8_windows.png")
        made.append("figure8_windows.png")
    return made + draw_reliability(named_systems(section), folder)


def _cases(section: Section, path: Path, title: str, measures: Mapping[str, Measure]) -> bool:
    """A row of panels for each measure, a panel for each case, bars by family."""
    rows = shown(section)
    applied = {
        name: measure
        for name, measure in measures.items()
        if any(estimate(measure, row.samples) is not None for row in rows)
    }
    if not applied:
        return False

    def paint(figure: Figure) -> None:
        figure.suptitle(title)
        panels = figure.subplots(len(applied), len(CASES), squeeze=False, sharey=True)
        for (name, measure), line in zip(applied.items(), panels, strict=True):
            parts = [
                part
                for part in families(rows[0].samples)
                if any(tables.case_estimates(measure, row.samples, part)["all"] for row in rows)
            ]
            for case, axes in zip(CASES, line, strict=True):
                bars: dict[str, list[Estimate | None]] = {
                    row.label: [
                        tables.case_estimates(measure, row.samples, part)[case] for part in (*parts, None)
                    ]
                    for row in rows
                }
                grouped_bars(
                    axes, [tables.family_name(part).replace(" ", "\n") for part in parts] + ["all"], bars
                )
                axes.set_title(f"{name}: {CASE_NAMES[case]}")
        legend_below(figure, panels[0][0])

    draw(path, (11, 1.2 + 2.8 * len(applied)), paint)
    return True


def _letters(section: Section, path: Path) -> bool:
    rows = [row for row in shown(section) if estimate(tables.chose_fact, row.samples) is not None]
    if not rows:
        return False

    def paint(figure: Figure) -> None:
        figure.suptitle("Answers over the unshuffled letters: B, D, F are facts, F is right")
        panels = figure.subplots(1, len(CASES), squeeze=False, sharey=True)
        for (case, belongs), axes in zip(CASES.items(), panels[0], strict=True):
            shares = {
                row.label: tables.letter_shares([each for each in row.samples if belongs(each)])
                for row in rows
            }
            letters = list(next(iter(shares.values())))
            bars = {label: [_free(case, *each) for each in share.items()] for label, share in shares.items()}
            grouped_bars(axes, letters, bars)
            axes.set_title(CASE_NAMES[case])
        legend_below(figure, panels[0][0])

    draw(path, (11, 3.6), paint)
    return True


def _free(case: str, letter: str, share: Estimate | None) -> Estimate | None:
    """Without an interval where the case alone decides the share: what is answered right is F."""
    if share is None or not (case == "right" or (case == "wrong" and letter == "F")):
        return share
    return replace(share, low=None, high=None)


def _windows(section: Section, path: Path) -> None:
    points = tables.window_points(section)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for series, colour in zip(tables.SERIES, (COLOURS[1], COLOURS[0]), strict=True):
            own = [point for point in points if point.series == series]
            if not own:
                continue
            at, values = [point.seconds for point in own], [100 * point.accuracy.value for point in own]
            axes.plot(at, values, marker="o", color=colour, label=series)
            bounded = [point for point in own if point.accuracy.low is not None]
            axes.vlines(
                [point.seconds for point in bounded],
                [100 * (point.accuracy.low or 0.0) for point in bounded],
                [100 * (point.accuracy.high or 0.0) for point in bounded],
                color=colour,
                linewidth=0.8,
            )
        axes.set_xlabel("window (s)")
        axes.set_title("Accuracy over window sizes")
        percent_axis(axes, "accuracy (%)")
        axes.legend(frameon=False)

    draw(path, (6, 4), paint)


def _printed(system: str) -> str:
    return printed_figure(tables.ACCURACY.get(system, {}).get("overall"), "EgoFact, table 3")


REPORT = ReportSpec(
    tables=tables.egofact_tables,
    draw=draw_figures,
    note=(
        "Intervals are 95 %, by drawing whole videos 5,000 times; n counts answers. Columns marked "
        f'"{MARK}" repeat what the EgoFact paper printed, on other videos, questions and models.'
    ),
    labels=Labels(),
    compared=(Compared("right", correct, printed=_printed),),
    paper_note="The paper: Ego4D clips, GPT-4o-mini.",
    order=("graphrag", "videorag-jeong", tables.BASELINE, "localized", "rag-ask"),
    controls=("blind", "passages-only", "random", "oracle-clip", "oracle-window"),
    shown=(tables.BASELINE, "localized"),
)
