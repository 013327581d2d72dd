"""Figures of a report on shots: accuracy by constraint, sweeps, agreement, failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.accuracy import correct
from eval.metrics.tables import estimate
from eval.reports.drawing import (
    COLOURS,
    draw,
    grouped_bars,
    legend_below,
    lines_apart,
    n_text,
    percent_axis,
)
from eval.reports.rows import Row, Section
from eval.tasks.shotfinder.errors import STAGES
from eval.tasks.shotfinder.measures import agreement, by_rule, stage
from eval.tasks.shotfinder.slices import (
    named,
    of_task,
    swept,
    tasks_of,
)
from eval.tasks.shotfinder.systems import METADATA, OURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_shots(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written; what does not apply is not drawn."""
    rows = named(section)
    made = []
    if rows:
        # Beside its table: without known times what is right is what table 1 counts.
        timed = any(query.has_window for query in section.queries)
        name = "right.png" if timed else "table1_results.png"
        _results(section, rows, folder / name)
        made.append(name)
    if swept(section):
        _sweeps(section, folder / "figure4_sweeps.png")
        made.append("figure4_sweeps.png")
    ours = next((row for row in rows if row.system == OURS), None)
    if ours is not None and agreement(ours.samples, "strict").n:
        _agreement(ours, folder / "figure6_agreement.png")
        made.append("figure6_agreement.png")
    searching = [row for row in rows if row.system != METADATA]
    if any(stage(scored) for row in searching for scored in row.samples):
        _failures(section, searching, folder / "failures.png")
        made.append("failures.png")
    return made


def _results(section: Section, rows: list[Row], path: Path) -> None:
    tasks = tasks_of(section)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        series = {row.label: [estimate(correct, of_task(row, task)) for task in tasks] for row in rows}
        grouped_bars(axes, tasks, series)
        axes.set_title("Right shots by constraint, intervals by family of films")
        percent_axis(axes, "right (%)")
        legend_below(figure, axes)

    draw(path, (9, 4.0), paint)


def _sweeps(section: Section, path: Path) -> None:
    """All tasks together with intervals; by task there are too few queries for a line of its own."""
    points = swept(section)
    axes_named = list(dict.fromkeys(axis for axis, _, _ in points))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(axes_named), squeeze=False, sharey=True)[0]
        for axis, axes in zip(axes_named, panels, strict=True):
            sizes = [(size, row) for one, size, row in points if one == axis]
            series = {
                name: [estimate(measure, row.samples) for _, row in sizes]
                for name, measure in (("right", correct), ("strict", by_rule("strict")))
            }
            lines_apart(axes, [size for size, _ in sizes], series)
            axes.set_xlabel(axis)
        figure.suptitle("Sweeps of shotfinder, all tasks, intervals by family of films")
        legend_below(figure, panels[0])

    draw(path, (10, 3.8), paint)


def _agreement(row: Row, path: Path) -> None:
    rules = (("strict", "model verifier"), ("by_clip", "CLIP at 0.7"))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(rules), squeeze=False)[0]
        for (rule, name), axes in zip(rules, panels, strict=True):
            found = agreement(row.samples, rule)
            cells = [[found.both, found.only_rule], [found.only_truth, found.neither]]
            axes.imshow(cells, cmap="Blues", vmin=0, vmax=max(1, found.n))
            for y, line in enumerate(cells):
                for x, count in enumerate(line):
                    ink = "white" if count > 0.6 * found.n else "black"
                    axes.text(x, y, str(count), ha="center", va="center", color=ink)
            axes.set_xticks((0, 1), ("true", "false"))
            axes.set_yticks((0, 1), ("says yes", "says no"))
            axes.set_title(f"{name}, n={found.n}", fontsize=9)
        figure.suptitle(f"{row.label}: against the truth, frames of all candidates")

    draw(path, (7, 3.2), paint)


def _failures(section: Section, rows: list[Row], path: Path) -> None:
    tasks = tasks_of(section)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(rows), squeeze=False, sharey=True)[0]
        for row, axes in zip(rows, panels, strict=True):
            below = [0.0] * len(tasks)
            for number, name in enumerate(STAGES):
                parts = []
                for task in tasks:
                    samples = of_task(row, task)
                    count = sum(stage(each) == name for each in samples)
                    parts.append(100 * count / max(1, len(samples)))
                axes.bar(
                    range(len(tasks)),
                    parts,
                    0.7,
                    bottom=below,
                    label=name,
                    color=COLOURS[number % len(COLOURS)],
                )
                below = [one + other for one, other in zip(below, parts, strict=True)]
            axes.set_xticks(
                range(len(tasks)), [f"{task}, {n_text([len(of_task(row, task))])}" for task in tasks]
            )
            axes.set_title(f"{row.label}, {n_text([len(row.samples)])}", fontsize=9)
            axes.tick_params(axis="x", rotation=90)
            percent_axis(axes, "of all queries (%)")
        legend_below(figure, panels[0])

    draw(path, (2.6 * len(rows) + 1.4, 4.2), paint)
