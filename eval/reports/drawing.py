"""Figures whose bytes depend on nothing but their data: one style, no date, no version, no settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.outputs import PROGRAM, atomic_file
from eval.metrics.calibration import reliability
from eval.metrics.intervals import Estimate
from eval.reports.spec import Row, Section, sweep_points
from eval.reports.tables import Column
from rag.errors import ExtraMissing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOURS = ("#7a869a", "#d9730d", "#2f7ed8", "#3c9d6b", "#8e5bb5", "#c2475a")
"""Distinct in grey too; without localization grey, with it orange."""
MARKERS = ("o", "s", "^", "D", "v", "P")
WIDE = 11
"""Characters of a legend that an inch of a figure takes; a handle is as wide as six."""


def draw(path: Path, size: tuple[float, float], paint: Callable[[Figure], None]) -> list[str]:
    """Paint a figure of `size` inches and write it as PNG, whole or not at all; gives the file's name.

    The user's matplotlibrc is left out of it. Raises `ExtraMissing` without
    matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as NewFigure
    except ImportError as error:
        raise ExtraMissing(
            "matplotlib not installed; install it with: pip install -e '.[eval]' (in the checkout)"
        ) from error
    with mpl.rc_context(mpl.rcParamsDefault):
        mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
        figure = NewFigure(figsize=size, dpi=120, layout="constrained")
        paint(figure)
        with atomic_file(path) as draft:
            figure.savefig(draft, format="png", metadata={"Software": PROGRAM})
    return [path.name]


def legend_below(figure: Figure, axes: Axes) -> None:
    """One for all panels, under them, where no bar can hide it; in as many lines as it needs."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        room = int(figure.get_size_inches()[0] * WIDE)
        across = min(len(labels), max(1, room // (max(map(len, labels)) + 6)))
        figure.legend(handles, labels, loc="outside lower center", ncols=across, frameon=False, fontsize=8)


def group_names(groups: Sequence[str], series: Iterable[Sequence[Estimate | None]]) -> list[str]:
    """Each group's name with its n below, or from which to which where the series differ."""
    counts = [[each.n for each in column if each is not None] for column in zip(*series, strict=True)]
    return [f"{group}\n{n_text(own)}" for group, own in zip(groups, counts, strict=True)]


def n_text(counts: Sequence[int]) -> str:
    """`n=48`, `n=10-48`, or `n=0`."""
    if not counts:
        return "n=0"
    low, high = min(counts), max(counts)
    return f"n={low}" if low == high else f"n={low}-{high}"


def lines_apart(axes: Axes, places: Sequence[str], series: Mapping[str, Sequence[Estimate | None]]) -> None:
    """A line with intervals for each series over the same places, a little beside each other.

    So that one that has the values of another does not hide it. The label says n.
    """
    for number, (label, found) in enumerate(series.items()):
        shift = 0.36 * (number - (len(series) - 1) / 2) / max(1, len(series))
        held = [(place, each) for place, each in enumerate(found) if each is not None]
        whiskers: Any = [[_reach(each)[side] for _, each in held] for side in (0, 1)]
        axes.errorbar(
            [place + shift for place, _ in held],
            [100 * each.value for _, each in held],
            yerr=whiskers if held else None,
            label=f"{label}, {n_text([each.n for _, each in held])}",
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=2,
        )
    axes.set_xticks(range(len(places)), places)
    percent_axis(axes)


Panels = Mapping[str, Mapping[str, Sequence["Estimate | None"]]]
"""By the title of a panel, its series: one estimate a group."""


def draw_bars(
    path: Path,
    title: str,
    lines: Sequence[tuple[Sequence[str], Panels]],
    *,
    label: str = "%",
    size: tuple[float, float] = (10, 4.2),
) -> list[str]:
    """Grouped bars with intervals, in lines of as many panels each; gives the file's name.

    `lines`: the names of the groups, and the panels.
    """

    def paint(figure: Figure) -> None:
        every = figure.subplots(len(lines), len(lines[0][1]), squeeze=False, sharey=True)
        for (groups, panels), line in zip(lines, every, strict=True):
            for axes, (name, series) in zip(line, panels.items(), strict=True):
                grouped_bars(axes, groups, series)
                axes.set_title(name)
                percent_axis(axes, label)
        figure.suptitle(title)
        legend_below(figure, every[0][0])

    return draw(path, size, paint)


def draw_costs(
    path: Path, title: str, rows: Sequence[Row], right: tuple[str, Column], cost: tuple[str, Column]
) -> list[str]:
    """A share of each system with its interval over what it costs, on a logarithmic scale.

    Gives the file's name; nothing where no system has both.
    """
    found = [(row, cost[1].of(row.samples), right[1].of(row.samples)) for row in rows]
    points = [(row, spent, share) for row, spent, share in found if spent and share]
    if not points:
        return []

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.set_xscale("log")
        for at, (row, spent, share) in enumerate(points):
            axes.errorbar(
                [max(spent.value, 1.0)],
                [100 * share.value],
                yerr=[[one] for one in _reach(share)],
                label=f"{row.label}, n={share.n}",
                color=COLOURS[at % len(COLOURS)],
                marker=MARKERS[at // len(COLOURS) % len(MARKERS)],
                linestyle="none",
                elinewidth=0.8,
            )
        axes.set_xlabel(f"{cost[0]} a question")
        axes.set_title(title)
        percent_axis(axes, f"{right[0]} (%)")
        legend_below(figure, axes)

    return draw(path, (8.0, 4.6), paint)


def draw_sweeps(
    path: Path,
    title: str,
    section: Section,
    axes_shown: Sequence[str],
    measures: Mapping[str, Column],
    base: str = "",
) -> list[str]:
    """A panel for each axis with a line for each measure; gives the file's name, nothing without points.

    `base`: as in `sweep_points`.
    """
    points = sweep_points(section, axes_shown, base)
    if not points:
        return []
    names = list(dict.fromkeys(axis for axis, _, _ in points))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(names), squeeze=False, sharey=True)[0]
        for axes, name in zip(panels, names, strict=True):
            own = [(value, row.samples) for axis, value, row in points if axis == name]
            series = {
                label: [measure.of(samples) for _, samples in own] for label, measure in measures.items()
            }
            lines_apart(axes, [value for value, _ in own], series)
            axes.set_xlabel(name)
        figure.suptitle(title)
        legend_below(figure, panels[0])

    return draw(path, (10.5, 4.0), paint)


def draw_counts(path: Path, title: str, panels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How many queries are of each kind: a panel for each property, a bar for each value, with its share."""

    def paint(figure: Figure) -> None:
        every = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, counts) in zip(every, panels.items(), strict=True):
            total = max(1, sum(counts.values()))
            ordered = sorted(counts.items(), key=lambda each: (each[1], each[0]))
            bars = axes.barh([plain(value) or "unknown" for value, _ in ordered], [n for _, n in ordered])
            axes.bar_label(bars, [f"{n} ({100 * n / total:.0f} %)" for _, n in ordered], fontsize=7)
            axes.set_title(f"{name}, {n_text([total])}", fontsize=9)
            axes.margins(x=0.25)
        figure.suptitle(title)

    return draw(path, (4.2 * len(panels), 1.2 + 0.28 * max(map(len, panels.values()))), paint)


def draw_reliability(rows: Sequence[Row], folder: Path) -> list[str]:
    """The reliability diagram of each row, side by side; gives its name."""

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(rows), squeeze=False, sharey=True)
        for number, (row, axes) in enumerate(zip(rows, panels[0], strict=True)):
            bins = reliability(row.samples)
            axes.plot([0, 100], [0, 100], color="#999999", linewidth=0.8, linestyle="--")
            axes.bar(
                [50 * (each.low + each.high) for each in bins],
                [100 * each.accuracy.value for each in bins],
                [95 * (each.high - each.low) for each in bins],
                color=COLOURS[number % len(COLOURS)],
                alpha=0.6,
            )
            axes.plot(
                [100 * each.confidence for each in bins],
                [100 * each.accuracy.value for each in bins],
                marker="o",
                linestyle="none",
                color="#222222",
                markersize=3,
            )
            for each in bins:
                axes.annotate(str(each.accuracy.n), (50 * (each.low + each.high), 2), ha="center", fontsize=7)
            axes.set_xlim(0, 100)
            axes.set_xlabel("confidence (%)")
            axes.set_title(row.label)
            percent_axis(axes, "right (%)")

    return draw(folder / "reliability.png", (1.0 + 4.0 * len(rows), 4), paint)


def percent_axis(axes: Axes, label: str = "%") -> None:
    """An axis from 0 to 100 with a grid every 20."""
    axes.set_ylim(0, 103)  # a line or a cap at 100 is not cut
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel(label)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def grouped_bars(axes: Axes, groups: Sequence[str], series: Mapping[str, Sequence[Estimate | None]]) -> None:
    """Bars of each series side by side at each group, in percent, with their intervals, n below the group."""
    width = 0.8 / max(1, len(series))
    for number, (label, estimates) in enumerate(series.items()):
        at, heights, errors = [], [], []
        for place, found in enumerate(estimates):
            if found is not None:
                at.append(place + (number - (len(series) - 1) / 2) * width)
                heights.append(100 * found.value)
                errors.append(_reach(found))
        whiskers: Any = [[low for low, _ in errors], [high for _, high in errors]]
        axes.bar(
            at,
            heights,
            width * 0.92,
            label=label,
            color=COLOURS[number % len(COLOURS)],
            yerr=whiskers if at else None,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
    axes.set_xticks(range(len(groups)), group_names(groups, list(series.values())))
    percent_axis(axes)


def _reach(estimate: Estimate) -> tuple[float, float]:
    """How far the interval goes down and up from the value, in percent."""
    if estimate.low is None or estimate.high is None:
        return 0.0, 0.0
    return (100 * max(0.0, estimate.value - estimate.low), 100 * max(0.0, estimate.high - estimate.value))


def plain(text: str) -> str:
    """Characters that steer neither a terminal nor matplotlib's formulas."""
    from corpora.escaping import visible

    return visible(text).replace("$", r"\$")
