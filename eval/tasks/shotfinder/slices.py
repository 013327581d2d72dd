"""Parts of a report's section: systems in order, tasks, points of a sweep, and means."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.scored import Scored
from eval.reports.rows import Row, Section
from eval.tasks.shotfinder.records import TASKS
from eval.tasks.shotfinder.systems import SYSTEMS


def named(section: Section) -> list[Row]:
    """The systems of a name of their own, in the order in which they are listed."""
    order = {name: at for at, name in enumerate(SYSTEMS)}
    rows = [row for row in section.rows if "@" not in row.system]
    return sorted(rows, key=lambda row: (order.get(row.system, len(order)), row.label))


def swept(section: Section) -> list[tuple[str, str, Row]]:
    """Axis, value and row of every point of figure 4, by axis and size."""
    points = [(*row.system.partition("@")[::2], row) for row in section.rows if "@" in row.system]
    return sorted(points, key=lambda point: (point[0], _size(point[1])))


def tasks_of(section: Section) -> list[str]:
    present = {query.family for query in section.queries}
    return [task for task in TASKS if task in present]


def of_task(row: Row, task: str) -> list[Scored]:
    return [scored for scored in row.samples if scored.query.family == task]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def tokens_of(scored: Scored) -> float:
    """All tokens of the query."""
    return float(sum(scored.sample.tokens.values()))


def mean_tokens(row: Row) -> float:
    return mean([tokens_of(each) for each in row.samples])


def _size(text: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in text.split("x"))
