"""How a task is reported: what its things are called, its tables and figures, and its paper's figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.accuracy import correct
from eval.metrics.scored import Measure

if TYPE_CHECKING:
    from eval.reports.layout import Table
    from eval.reports.rows import Section

CHOSEN = "the option that was chosen is the right one."


@dataclass(frozen=True, slots=True)
class Labels:
    """What things are called in a task's reports."""

    right: str = CHOSEN
    """What a right answer is, as the end of a sentence that begins with "Right:"."""
    clusters: str = "videos"
    """What `Query.cluster` is, in the plural."""
    window: str = "event"
    """What `Query.window` bounds."""
    seen: str = "object shows"
    """What `Query.seen` bounds."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure on the page of all tasks, and what the task's paper printed of that same measure."""

    label: str
    measure: Measure
    about: str = ""
    """What is counted, in a sentence; empty for `RIGHT`, which `Labels.right` describes."""
    printed: Callable[[str], str] | None = None
    """From the name of a solver of ours: `33.6 (EgoFact, table 3)`; empty where the paper has nothing."""


RIGHT = Compared("right", correct)


def printed_figure(value: float | None, place: str) -> str:
    """`33.6 (EgoFact, table 3)`; empty for None."""
    return "" if value is None else f"{value:.1f} ({place})"


@dataclass(frozen=True, slots=True)
class ReportSpec:
    """The report of one task."""

    tables: Callable[[Section], list[Table]]
    """Tables without a row are left out; those with records are written as CSV too."""
    draw: Callable[[Section, Path], list[str]]
    """Writes PNG files into a folder and gives their names; one named as a table is shown below it."""
    note: str
    """What holds for all tables, in one paragraph."""
    labels: Labels = Labels()
    compared: tuple[Compared, ...] = (RIGHT,)
    paper_note: str = ""
    """What the paper measured with: why its figures are not to be compared."""
    order: tuple[str, ...] = ()
    """Systems that come first, in this order."""
    controls: tuple[str, ...] = ()
    """Systems that come last, in this order."""
    shown: tuple[str, ...] = ()
    """Systems that figures of few systems show."""
