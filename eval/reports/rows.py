"""From run folders to the rows of a report: one a system, its seeds pooled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from eval.metrics.scored import Scored
from eval.runs.folder import Run, read_run_folder
from eval.runs.records import Query
from eval.runs.results import check_retrieval, score_run
from rag.errors import UsageError

BASELINE = "no-localization"
OURS = "localized"

ORDER = ("graphrag", "videorag-jeong", BASELINE, OURS)
CONTROLS = ("blind", "passages-only", "random", "oracle-clip", "oracle-window")


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    """The system's name; settings behind it where another row has the same name."""
    system: str
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]
    samples: tuple[Scored, ...]
    """Of all seeds: n counts each, intervals draw videos and are none the narrower for it."""
    folders: tuple[Path, ...]
    commits: tuple[str, ...]
    """Of every session that made it; empty outside a checkout."""


@dataclass(frozen=True, slots=True)
class Section:
    """All runs on one set of queries."""

    benchmark: str
    dataset: Mapping[str, str]
    queries: tuple[Query, ...]
    rows: tuple[Row, ...]
    unlike: tuple[str, ...] = ()
    """Names of the runs' `encoders`, such as "reasoner", that were not the same in all of them."""

    @property
    def baseline(self) -> Row | None:
        return next((row for row in self.rows if row.system == BASELINE), None)


def named_systems(section: Section) -> Section:
    """Without the widths tried one after another (`localized@10`), unless there is nothing else.

    They are for the comparison over window sizes; elsewhere they would hide the systems.
    """
    named = tuple(row for row in section.rows if "@" not in row.system)
    return replace(section, rows=named or section.rows)


def ordered_rows(section: Section, order: Sequence[str], *, sweeps: bool = False) -> list[Row]:
    """The systems of `order` in that order, then others by label, without points of sweeps (`axis@value`).

    `sweeps`: with them.
    """
    places = {name: place for place, name in enumerate(order)}
    rows = [row for row in section.rows if sweeps or "@" not in row.system]
    return sorted(rows, key=lambda row: (places.get(row.system, len(places)), row.label))


def sweep_points(section: Section, axes: Sequence[str]) -> list[tuple[str, str, Row]]:
    """Axis, value and row of each point of a sweep (`axis@value`), by axis and by size: 9 before 16, 1x3
    before 2x1."""
    points = [(*row.system.partition("@")[::2], row) for row in section.rows if "@" in row.system]
    known = [point for point in points if point[0] in axes]
    return sorted(known, key=lambda point: (axes.index(point[0]), _size(point[1])))


def _size(value: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in value.split("x"))


def gather(folders: Sequence[Path]) -> list[Section]:
    """Raises `UsageError` for an unfinished run, the same run twice, or runs that do not belong together."""
    runs = [read_run_folder(folder) for folder in folders]
    for run in runs:
        if not run.complete:
            done, due = len(run.samples), len(run.queries)
            raise UsageError(
                f"{run.folder}: {done} of {due} queries are answered; 'rag eval run' goes on there"
            )
        check_retrieval(run)
    sections: dict[str, list[Run]] = {}
    for run in runs:
        first = sections.setdefault(run.identity["benchmark"], [run])[0]
        if first is not run:
            _require_same_queries(first, run)
            sections[run.identity["benchmark"]].append(run)
    return [_section(sections[name]) for name in sorted(sections)]


def _require_same_queries(first: Run, second: Run) -> None:
    for name in ("dataset", "queries"):
        if first.identity[name] != second.identity[name]:
            raise UsageError(
                f"{second.folder}: its {name} differ from those of {first.folder}; report them separately"
            )


def _section(runs: Sequence[Run]) -> Section:
    pooled: dict[str, list[Run]] = {}
    for run in runs:
        key = {name: run.identity[name] for name in ("system", "settings", "encoders")}
        pooled.setdefault(json.dumps(key, sort_keys=True), []).append(run)
    systems = [group[0].identity["system"] for group in pooled.values()]
    rows = [_row(group, systems.count(group[0].identity["system"]) > 1) for group in pooled.values()]
    identity = runs[0].identity
    rows.sort(key=lambda row: (_rank(row.system), row.label))
    names = sorted({name for run in runs for name in run.identity["encoders"]})
    unlike = tuple(name for name in names if len({run.identity["encoders"].get(name) for run in runs}) > 1)
    return Section(identity["benchmark"], identity["dataset"], runs[0].queries, tuple(rows), unlike)


def _row(runs: Sequence[Run], ambiguous: bool) -> Row:
    ordered = sorted(runs, key=lambda run: int(run.identity["seed"]))
    seeds = [int(run.identity["seed"]) for run in ordered]
    for earlier, later in pairwise(ordered):
        if earlier.identity["seed"] == later.identity["seed"]:
            raise UsageError(f"{later.folder}: the same run as {earlier.folder}; name it once")
    system, settings = ordered[0].identity["system"], ordered[0].identity["settings"]
    told = ", ".join(f"{key} {value}" for key, value in settings.items())
    commits = {session["commit"] for run in ordered for session in run.manifest["sessions"]} - {None}
    return Row(
        label=f"{system} ({told})" if ambiguous else system,
        system=system,
        seeds=tuple(seeds),
        settings=settings,
        samples=tuple(scored for run in ordered for scored in score_run(run)),
        folders=tuple(run.folder for run in ordered),
        commits=tuple(sorted(commits)),
    )


def _rank(system: str) -> int:
    """The paper's methods first, then other systems by name, then the controls."""
    if system in ORDER:
        return ORDER.index(system)
    return len(ORDER) + (CONTROLS.index(system) + 1 if system in CONTROLS else 0)


def shown(section: Section) -> tuple[Row, ...]:
    """The rows that are drawn: with and without localization where both are there, else the first two."""
    pair = tuple(row for row in section.rows if row.system in (BASELINE, OURS))
    return pair or section.rows[:2]
