"""Figures of a report on queries by memory: success by task and by duration, the sweeps, and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.estimate import Estimate
from eval.reports.drawing import draw, grouped_bars, legend_below, lines_apart
from eval.reports.rows import Row, Section
from eval.tasks.rvms.measures import (
    MEASURES,
    agreement,
    evidence,
    mean_of,
    of_task,
)
from eval.tasks.rvms.ordering import OURS, ordered, points
from eval.tasks.rvms.records import GROUPS, TASKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = ("raclo", "raclo-stored", "wo-abduction", "metadata-only", "oracle-video")
SWEPT = {"rule": "rule only", "model+rule": "model + rule", "frame": "frame", "shot": "in the shot"}


def draw_remembering(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written; what does not apply is not drawn."""
    made = []
    rows = [row for row in ordered(section) if row.system in SHOWN]
    if rows:
        _by_task(rows, folder / "found.png")
        _by_duration(rows, folder / "by_duration.png")
        made += ["found.png", "by_duration.png"]
    if points(section):
        _sweeps(section, folder / "figure4_sweeps.png")
        made.append("figure4_sweeps.png")
    ours = next((row for row in rows if row.system == OURS), None)
    if ours is not None:
        _agreement(ours, folder / "figure9_agreement.png")
        made.append("figure9_agreement.png")
    return made


def _by_task(rows: Sequence[Row], path: Path) -> None:
    """Success by task (figure 6): found, end to end."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        series = {
            row.label: [mean_of(MEASURES["found"], of_task(row.samples, task)) for task in TASKS]
            for row in rows
        }
        grouped_bars(axes, TASKS, series)
        axes.set_title("Found: the answer's video, and the event in it")
        legend_below(figure, axes)

    draw(path, (10, 4.2), paint)


def _by_duration(rows: Sequence[Row], path: Path) -> None:
    """Success by duration (figure 8), of the groups that occur."""
    present = {evidence(one, "group") for row in rows for one in row.samples}
    groups = [group for group in GROUPS if group in present]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, name in zip(panels, ("content", "shot"), strict=True):
            series: dict[str, list[Estimate | None]] = {
                row.label: [
                    mean_of(MEASURES[name], [one for one in row.samples if evidence(one, "group") == group])
                    for group in groups
                ]
                for row in rows
            }
            grouped_bars(axes, [group.removesuffix(" minutes") for group in groups], series)
            axes.set_title({"content": "the video is a candidate", "shot": "a moment in its shot"}[name])
            axes.set_xlabel("minutes")
        legend_below(figure, panels[0])

    draw(path, (10, 4.0), paint)


def _sweeps(section: Section, path: Path) -> None:
    found = points(section)
    axes_names = list(dict.fromkeys(axis for axis, _, _ in found))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(axes_names), squeeze=False, sharey=True)[0]
        for axes, name in zip(panels, axes_names, strict=True):
            mine = [(value, row) for axis, value, row in found if axis == name]
            series = {
                label: [mean_of(MEASURES[measure], row.samples) for _, row in mine]
                for measure, label in SWEPT.items()
            }
            lines_apart(axes, [value for value, _ in mine], series)
            axes.set_xlabel(
                {"search": "searches x videos of each", "frames": "frames of a video"}.get(name, name)
            )
        figure.suptitle("Sweeps of raclo, intervals by film")
        legend_below(figure, panels[0])

    draw(path, (11, 4.2), paint)


def _agreement(row: Row, path: Path) -> None:
    """Figure 9: two by two, shares of the candidates."""

    def paint(figure: Figure) -> None:
        kinds = ("video", "moment")
        panels = figure.subplots(len(kinds), 2, squeeze=False)
        for line, kind in zip(panels, kinds, strict=True):
            for axes, (rule, counts) in zip(line, agreement(row.samples, kind).items(), strict=False):
                total = max(1, sum(counts))
                grid = [[counts[0] / total, counts[1] / total], [counts[2] / total, counts[3] / total]]
                axes.imshow(grid, cmap="Blues", vmin=0, vmax=1)
                for y, cells in enumerate(grid):
                    for x, share in enumerate(cells):
                        ink = "white" if share > 0.55 else "black"
                        told = f"{100 * share:.1f} %\n{counts[2 * y + x]}"
                        axes.text(x, y, told, ha="center", va="center", color=ink)
                axes.set_xticks((0, 1), ("true", "not true"))
                axes.set_yticks((0, 1), ("yes", "no"))
                axes.set_title(f"{kind}: {rule}, n={sum(counts)}", fontsize=9)
        figure.suptitle(f"{row.label}: judgement against truth, candidates")

    draw(path, (6.4, 6.4), paint)
