"""What every figure of a report keeps: a legend beside the bars, n for each group, lines that do not hide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.figure import Figure

from eval.metrics.intervals import Estimate
from eval.reports.drawing import grouped_bars, legend_below, lines_apart, n_text

ONE, OTHER = Estimate(1.0, 18, 2, 0.2, 1.0), Estimate(1.0, 10, 2, 0.2, 1.0)


def plotted(paint: Callable[[Any], None]) -> tuple[Figure, Any]:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    paint(axes)
    legend_below(figure, axes)
    figure.draw_without_rendering()
    return figure, axes


def test_the_legend_is_below_the_axes() -> None:
    figure, axes = plotted(lambda axes: grouped_bars(axes, ["G"], {f"system {at}": [ONE] for at in range(8)}))
    (legend,) = figure.legends
    assert legend.get_window_extent().y1 <= axes.get_window_extent().y0
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_each_group_says_its_n() -> None:
    _, axes = plotted(lambda axes: grouped_bars(axes, ["G", "K"], {"one": [ONE, None], "two": [OTHER, None]}))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["G\nn=10-18", "K\nn=0"]
    assert n_text([5, 5]) == "n=5"


def test_lines_of_the_same_values_are_beside_each_other_with_their_intervals() -> None:
    _, axes = plotted(lambda axes: lines_apart(axes, ["1x1", "1x2"], {"a": [ONE, ONE], "b": [OTHER, None]}))
    first, second = (container[0].get_xdata() for container in axes.containers)
    assert first[0] < 0 < second[0]
    assert [container.get_label() for container in axes.containers] == ["a, n=18", "b, n=10"]
    assert all(container.has_yerr for container in axes.containers)
