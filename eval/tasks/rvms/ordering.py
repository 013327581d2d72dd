"""The rows of a report on queries by memory, in the order in which the systems are listed."""

from __future__ import annotations

from collections.abc import Callable

from eval.reports.rows import Row, Section
from eval.tasks.rvms.systems import SYSTEMS

OURS = "raclo"


def ordered(section: Section, sweeps: bool = False) -> list[Row]:
    """The rows in the order in which the systems are listed; `sweeps`: those of figure 4 alone."""
    known = list(SYSTEMS)
    order: Callable[[Row], tuple[int, str]] = lambda row: (  # noqa: E731 (a key)
        known.index(row.system) if row.system in known else len(known),
        row.label,
    )
    return sorted((row for row in section.rows if ("@" in row.system) == sweeps), key=order)


def points(section: Section) -> list[tuple[str, str, Row]]:
    """Axis, value and run of each point of figure 4."""
    found = []
    for row in ordered(section, sweeps=True):
        axis, _, value = row.system.partition("@")
        found.append((axis, value, row))
    return found
