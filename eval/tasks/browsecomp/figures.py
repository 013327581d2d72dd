"""Figures of a browsing report: the genre heatmap, accuracy against tokens, and test-time scaling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.accuracy import correct
from eval.reports.drawing import COLOURS, draw, percent_axis
from eval.reports.rows import Row, Section
from eval.tasks.browsecomp.measures import mean_of, tokens, told
from eval.tasks.browsecomp.tables import TABLE_1, genres, ordered
from rag.agents.video_browser.settings import SCALING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {"videos": "videos (K)", "loops": "search loops (T)", "frames": "sparse frames"}


def draw_browsing(section: Section, folder: Path) -> list[str]:
    """Names of the PNG files written; what does not apply is not drawn."""
    made = []
    rows = ordered(section, TABLE_1)
    if rows and genres(section):
        _heatmap(section, rows, folder / "table1_results.png")
        made.append("table1_results.png")
    if rows:
        _against_tokens(rows, folder / "table2_paradigms.png")
        made.append("table2_paradigms.png")
    if any("@" in row.system and row.system.partition("@")[0] in SCALING for row in section.rows):
        _scaling(section, folder / "figure3_scaling.png")
        made.append("figure3_scaling.png")
    return made


def _heatmap(section: Section, rows: list[Row], path: Path) -> None:
    """Accuracy of each system in each genre (appendix A.5, figure 8)."""
    found = genres(section)
    shares = []
    for row in rows:
        parts = [
            mean_of(correct, [scored for scored in row.samples if told(scored, "genre") == genre])
            for genre in found
        ]
        shares.append([100 * part.value if part else float("nan") for part in parts])

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
        axes.set_xticks(range(len(found)), found, rotation=30, ha="right")
        axes.set_yticks(range(len(rows)), [row.label for row in rows])
        for y, line in enumerate(shares):
            for x, value in enumerate(line):
                if value == value:
                    ink = "white" if value > 55 else "black"
                    axes.text(x, y, f"{value:.0f}", ha="center", va="center", color=ink, fontsize=8)
        axes.set_title("Accuracy by genre (%)")
        figure.colorbar(shown, ax=axes, shrink=0.8)

    draw(path, (8, 1.6 + 0.4 * len(rows)), paint)


def _against_tokens(rows: list[Row], path: Path) -> None:
    """Up and to the left is better (appendix A.5, figure 9)."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for number, row in enumerate(rows):
            spent, right = mean_of(tokens, row.samples), mean_of(correct, row.samples)
            if spent is None or right is None:
                continue
            x, y = max(spent.value, 1.0), 100 * right.value
            low, high = (right.value if bound is None else bound for bound in (right.low, right.high))
            colour = COLOURS[number % len(COLOURS)]
            axes.vlines(x, 100 * low, 100 * high, color=colour, linewidth=0.8)
            axes.plot([x], [y], marker="o", linestyle="none", color=colour, label=f"{row.label}, n={right.n}")
        axes.set_xscale("log")
        axes.set_xlabel("tokens a question")
        axes.set_title("Accuracy against tokens, intervals by video")
        percent_axis(axes, "accuracy (%)")
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

    draw(path, (8, 4.2), paint)


def _scaling(section: Section, path: Path) -> None:
    def paint(figure: Figure) -> None:
        present = {row.system.partition("@")[0] for row in section.rows if "@" in row.system}
        axes_drawn = [axis for axis in SCALING if axis in present]
        panels = figure.subplots(1, len(axes_drawn), squeeze=False, sharey=True)[0]
        for axis, axes in zip(axes_drawn, panels, strict=True):
            points = []
            for row in section.rows:
                name, at, value = row.system.partition("@")
                right = mean_of(correct, row.samples)
                if at and name == axis and right is not None:
                    points.append((int(value), right))
            points.sort(key=lambda point: point[0])
            values = [100 * right.value for _, right in points]
            axes.plot([value for value, _ in points], values, marker="o", color=COLOURS[1])
            bounded = [(value, right) for value, right in points if right.low is not None]
            axes.vlines(
                [value for value, _ in bounded],
                [100 * (right.low or 0.0) for _, right in bounded],
                [100 * (right.high or 0.0) for _, right in bounded],
                color=COLOURS[1],
                linewidth=0.8,
            )
            if axis == "frames":
                axes.set_xscale("log", base=2)
            axes.set_xlabel(AXES[axis])
            percent_axis(axes, "accuracy (%)")
        figure.suptitle(f"Test-time scaling, n={len(section.queries)} questions a point, intervals by video")

    draw(path, (10, 3.6), paint)
